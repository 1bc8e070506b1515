// Waits with deadlines and waits for several conditions in the world of threads.
#include <gtest/gtest.h>

#include <chrono>

#include "nearfar/memory/threads/world.hpp"
#include "tests/core/waiting_cases.hpp"

namespace nearfar::testing {
namespace {

using threads::world;

constexpr int ranks = 3;

TEST(threads_waiting, takes_what_is_there) {
  threads::run(1, [](world& w) { expect_what_is_there_to_be_taken(w); });
  threads::run(ranks, [](world& w) { expect_what_is_there_to_be_taken(w); });
}

TEST(threads_waiting, ends_in_time) {
  threads::run(1, [](world& w) { expect_nothing_in_time_and_all_later(w); });
  threads::run(ranks, [](world& w) { expect_nothing_in_time_and_all_later(w); });
}

TEST(threads_waiting, loses_no_signal) {
  threads::run(ranks, [](world& w) { expect_no_signal_is_lost(w, 20'000); });
}

TEST(threads_waiting, loses_no_value) {
  threads::run(ranks, [](world& w) { expect_no_value_is_lost(w, 5000); });
}

TEST(threads_waiting, swaps_nothing_after_its_time) {
  threads::run(ranks, [](world& w) { expect_no_swap_after_its_time(w, 5000); });
}

TEST(threads_waiting, stalls_before_a_late_deadline) {
  threads::options chosen;
  chosen.stall_limit = std::chrono::milliseconds{2};
  threads::run(
      1, [](world& w) { expect_stalls_before_the_deadline(w); }, chosen);
}

TEST(threads_waiting, for_several_gives_each_its_turn) {
  threads::run(ranks, [](world& w) { expect_every_condition_to_have_its_turn(w); });
}

TEST(threads_waiting, for_several_ends_by_either) {
  threads::run(ranks, [](world& w) { expect_either_condition_to_end_the_wait(w, 2000); });
}

}  // namespace
}  // namespace nearfar::testing
