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

// What each rank contributes to far memory: a struct of far words, a multiple of 64 bytes long.
struct alignas(nearfar::slot_bytes) shared_words {
  nearfar::far<std::uint64_t> count;
};

/// Returns whether the counter is right in the end.
bool count_together(MPI_Comm comm) {
  constexpr int rounds = 100;
  constexpr int keeper = 0;

  // [lock]
  // Made by all ranks, in the same order, and destroyed before MPI_Finalize.
  nearfar::mpi::world world(comm);                                // has a communicator of its own
  nearfar::default_cohort_lock<nearfar::mpi::world> lock(world);  // rank 0 is its home
  // [end]
  nearfar::mpi::world::far_segment<shared_words> memory(world);

  for (int i = 0; i < rounds; ++i) {
    // [guard]
    const std::lock_guard guard(lock);  // one rank at a time, of all ranks
    // [end]
    std::uint64_t count = 0;
    memory.get(keeper, &shared_words::count, count);
    memory.flush(keeper);  // nothing is there before its flush
    ++count;
    memory.put(keeper, &shared_words::count, count);
    memory.flush(keeper);  // complete before the lock is given up
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
