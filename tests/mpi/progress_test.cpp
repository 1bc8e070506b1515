// Ranks that wait in ways that the library cannot see: in loops of their own, and in MPI itself.
#include <gtest/gtest.h>
#include <mpi.h>

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

// A failed attempt at a cohort lock touches only memory of the node; between nodes the home must enter MPI
// for the one who holds the node's lock and asks for the global one.
TEST(tries_in_a_loop, come_to_an_end) {
  world& w = common_world();
  for (const int home : {0, w.size() - 1}) {
    expect_progress_of_tries<default_cohort_lock<world>>(w, home);
    expect_progress_of_tries<dash_lock<world>>(w, home);
    expect_progress_of_tries<tas_lock<world>>(w, home);
  }
}

// MPI makes progress in all its calls that wait, not in the library's only.
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

}  // namespace
}  // namespace nearfar::testing
