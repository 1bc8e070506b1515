// A counter in the memory of rank 0 that every rank increments, guarded by a lock.
//
//   mpirun -n 4 protected_counter
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <mutex>

// [headers]
#include "nearfar/lock/cohort_lock.hpp"
#include "nearfar/memory/mpi/world.hpp"
// [end]

namespace {

// [words]
// The far memory of each rank: a struct of far words, whose size is a multiple of 64 bytes.
struct alignas(nearfar::slot_bytes) shared_words {
  nearfar::far<std::uint64_t> count;
};
// [end]

/// Returns whether the final count is right.
bool count_together(MPI_Comm comm) {
  constexpr int rounds = 100;
  constexpr int keeper = 0;

  // [lock]
  // All ranks make the world and the lock in the same order, and destroy them before MPI_Finalize.
  nearfar::mpi::world world(comm);                                // duplicates the communicator
  nearfar::default_cohort_lock<nearfar::mpi::world> lock(world);  // rank 0 is the home rank
  // [end]
  // [memory]
  nearfar::mpi::world::far_segment<shared_words> memory(world);
  // [end]

  for (int i = 0; i < rounds; ++i) {
    // [guard]
    const std::lock_guard guard(lock);  // one rank at a time holds the lock
    // [end]
    // [update]
    std::uint64_t count = 0;
    memory.get(keeper, &shared_words::count, count);
    memory.flush(keeper);  // `count` is valid after the flush
    ++count;
    memory.put(keeper, &shared_words::count, count);
    memory.flush(keeper);  // completes the put before the lock is released
    // [end]
  }

  world.barrier();
  if (world.rank() != keeper) return true;
  const std::uint64_t found = memory.read_direct(keeper, &shared_words::count);
  const auto expected = std::uint64_t{rounds} * static_cast<std::uint64_t>(world.size());
  std::printf("%d ranks counted to %llu\n", world.size(), static_cast<unsigned long long>(found));
  return found == expected;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool good = false;
  try {
    good = count_together(MPI_COMM_WORLD);
  } catch (const std::exception& problem) {
    // Other ranks may be waiting for this one.
    std::fprintf(stderr, "%s\n", problem.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return good ? 0 : 1;
}
