// Waits with deadlines and waits for several conditions in the world of MPI.
#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>
#include <cstdint>

#include "nearfar/memory/mpi/world.hpp"
#include "tests/core/waiting_cases.hpp"
#include "tests/mpi/environment.hpp"

namespace nearfar::testing {
namespace {

using mpi::world;

std::uint64_t many() { return 10 * static_cast<std::uint64_t>(often(common_world())); }

TEST(deadlines, take_what_is_there) { expect_what_is_there_to_be_taken(common_world()); }

TEST(deadlines, end_in_time) { expect_nothing_in_time_and_all_later(common_world()); }

TEST(deadlines, lose_no_signal) { expect_no_signal_is_lost(common_world(), 3000); }

TEST(deadlines, lose_no_value) { expect_no_value_is_lost(common_world(), many()); }

TEST(deadlines, swap_nothing_after_their_time) { expect_no_swap_after_its_time(common_world(), many()); }

TEST(deadlines, that_are_late_do_not_put_off_a_stall) {
  mpi::options chosen;
  chosen.stall_limit = std::chrono::milliseconds{2};
  world w(MPI_COMM_SELF, chosen);
  expect_stalls_before_the_deadline(w);
}

TEST(conditions, each_have_their_turn) { expect_every_condition_to_have_its_turn(common_world()); }

TEST(conditions, end_a_wait_each) { expect_either_condition_to_end_the_wait(common_world(), many()); }

}  // namespace
}  // namespace nearfar::testing
