// A hash table in the memory of all ranks. Build it with nearfar::mpi; run it with any number of ranks.
// [headers]
#include "nearfar/map/distributed_map.hpp"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <vector>

#include "nearfar/memory/mpi/world.hpp"
// [end]

namespace {

// [position]
struct position {
  double x = 0;
  double y = 0;
};
// [end]

/// Returns the number of particles that are missing or wrong.
int move_particles(MPI_Comm comm) {
  constexpr std::uint64_t mine = 100;
  nearfar::mpi::world w(comm);
  // [map]
  // All ranks make the map. A hash chooses the rank of an entry, so each rank has twice the average room.
  nearfar::distributed_map<nearfar::mpi::world, std::uint64_t, position> particles(w, {.cells = 2 * mine});
  // [end]
  const auto first = mine * static_cast<std::uint64_t>(w.rank());
  const auto all = mine * static_cast<std::uint64_t>(w.size());

  // [insert]
  for (std::uint64_t number = first; number < first + mine; ++number)
    if (particles.insert(number, {.x = static_cast<double>(number)}) != nearfar::insert_result::inserted)
      std::printf("no room for particle %llu\n", static_cast<unsigned long long>(number));
  w.barrier();
  // [end]

  // [find]
  // Finds the particles of the next rank in one batch.
  std::vector<std::uint64_t> wanted;
  for (std::uint64_t number = 0; number < mine; ++number) wanted.push_back((first + mine + number) % all);
  std::vector<std::optional<position>> found(wanted.size());
  particles.find(wanted, found);
  // [end]
  int missing = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (!found[i] || found[i]->x != static_cast<double>(wanted[i])) ++missing;
  w.barrier();

  // [erase]
  // Erases every second particle of this rank. Later inserts use the free cells.
  for (std::uint64_t number = first; number < first + mine; number += 2)
    if (!particles.erase(number)) ++missing;
  // [end]
  // [count]
  const std::size_t left = particles.size();  // of all ranks; collective
  std::size_t here = 0;                       // in the memory of this rank
  particles.for_each([&](std::uint64_t, const position&) { ++here; });
  // [end]
  std::printf("rank %d keeps %zu of %zu particles\n", w.rank(), here, left);
  if (left != all / 2) ++missing;
  return missing;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int missing = 1;
  try {
    missing = move_particles(MPI_COMM_WORLD);
  } catch (const std::exception& problem) {
    // Other ranks may be waiting for this one.
    std::fprintf(stderr, "%s\n", problem.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return missing == 0 ? 0 : 1;
}
