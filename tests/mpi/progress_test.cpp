// Ranks that wait in ways that the library cannot see: in their own loops, and in MPI itself.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>

#include "nearfar/lock/cohort_lock.hpp"
#include "nearfar/lock/dash_lock.hpp"
#include "nearfar/lock/tas_lock.hpp"
#include "nearfar/memory/mpi/world.hpp"
#include "tests/lock/guarded.hpp"
#include "tests/mpi/environment.hpp"

namespace nearfar::testing {
namespace {

using mpi::world;

/// Acquires by trying again and again, all ranks at once.
template <typename Lock>
void expect_progress_of_tries(world& w, int home) {
  Lock lock(w, home);
  guarded<world> inside(w);
  jitter timing(1, w.rank());
  for (int round = 0; round < 5; ++round) {
    while (!lock.try_lock()) {
    }
    inside.visit(timing);
    lock.unlock();
  }
  EXPECT_EQ(inside.violations(), "");
}

// A failed attempt at a cohort lock touches only memory of the node. Between nodes the home must enter MPI
// for the rank that holds the node's lock and asks for the global one.
TEST(tries_in_a_loop, come_to_an_end) {
  world& w = common_world();
  for (const int home : {0, w.size() - 1}) {
    expect_progress_of_tries<default_cohort_lock<world>>(w, home);
    expect_progress_of_tries<dash_lock<world>>(w, home);
    expect_progress_of_tries<tas_lock<world>>(w, home);
  }
}

// MPI makes progress in all its waiting calls, not only in those of the library.
TEST(home, that_waits_in_a_receive_of_its_own_serves_others) {
  world& w = common_world();
  if (w.size() == 1) return;
  default_cohort_lock<world> lock(w);
  guarded<world> inside(w);
  jitter timing(2, w.rank());
  constexpr int tag = 5;
  if (w.rank() == 0) {
    for (int from = 1; from < w.size(); ++from)
      MPI_Recv(nullptr, 0, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    for (int round = 0; round < often(w); ++round) {
      lock.lock();
      inside.visit(timing);
      lock.unlock();
    }
    MPI_Send(nullptr, 0, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
  }
  EXPECT_EQ(inside.violations(), "");
}

struct alignas(slot_bytes) counted {
  far<std::uint64_t> ranks;
};

/// Rank 0 takes a lock by `take` again and again, and calls MPI in no other way, until all other ranks have
/// used its memory in a window of their own. That needs rank 0's progress on one node, too.
template <typename Take>
void expect_progress_of_takes(world& w, Take take) {
  default_cohort_lock<world> lock(w);
  world::far_segment<counted> done(w);
  // MPICH's puts miss their place in a window with another alignment.
  alignas(slot_bytes) std::uint64_t own = 0;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_create(&own, sizeof own, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  const auto others = static_cast<std::uint64_t>(w.size() - 1);
  const std::uint64_t one = 1;
  std::uint64_t before = 0;
  if (w.rank() == 0) {
    while (done.read_direct(0, &counted::ranks) != others) {
      take(lock);
      lock.unlock();
    }
  } else {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Accumulate(&one, 1, MPI_UINT64_T, 0, 0, 1, MPI_UINT64_T, MPI_SUM, window);
    MPI_Win_unlock(0, window);
    done.fetch_add(0, &counted::ranks, one, before);
    done.flush(0);
  }
  MPI_Win_free(&window);
  EXPECT_EQ(own, w.rank() == 0 ? others : 0);
}

TEST(home, that_takes_a_lock_again_and_again_serves_others) {
  using lock = default_cohort_lock<world>;
  expect_progress_of_takes(common_world(), [](lock& taken) { taken.lock(); });
  expect_progress_of_takes(common_world(), [](lock& taken) { ASSERT_TRUE(taken.try_lock()); });
}

}  // namespace
}  // namespace nearfar::testing
