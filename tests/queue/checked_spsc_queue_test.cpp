// The queue from one rank to one other in the model checker, in every order.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "nearfar/checker/checker.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/engine/world.hpp"
#include "nearfar/queue/spsc_queue.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/checker/expectations.hpp"
#include "tests/queue/spsc_streams.hpp"

namespace nearfar::checker::testing {
namespace {

TEST(checked_spsc_queue, gives_each_value_once_and_in_order) {
  // A rank that only tries never waits for room.
  for (const stream& what : {stream{.capacity = 1}, stream{.at_once = 2}, stream{.pops_wait = false},
                             stream{.capacity = 1, .closes = true}, stream{.at_once = 2, .closes = true}})
    for (const char* topology : {"node:2", "node:1"})
      for (const delivery_mode mode : all_modes) {
        stream there = what;
        there.topology = topology;
        options how = by(mode);
        expect_nothing_found(stream_program<spsc_faults{}>(there), how);
        // The consequences of conflicts have thousands of times more orders.
        how.conflict = conflicts::enacted;
        how.by = search::random;
        how.most_executions = 1000;
        expect_nothing_found(stream_program<spsc_faults{}>(there), how);
        there.count = 1;
        how.by = search::exhaustive;
        how.most_executions = options().most_executions;
        expect_nothing_found(stream_program<spsc_faults{}>(there), how);
      }
}
TEST(checked_spsc_queue, stands_near_cells_as_weak_as_those_of_cpp) {
  for (const delivery_mode mode : all_modes) {
    options how = by(mode);
    how.near = near_model::release_acquire;
    expect_nothing_found(stream_program<spsc_faults{}>({.closes = true, .topology = "node:1"}), how);
  }
}
TEST(checked_spsc_queue, goes_on_for_many_laps) {
  for (const delivery_mode mode : all_modes) {
    options how = by(mode);
    how.by = search::random;
    how.most_executions = 1000;
    expect_nothing_found(stream_program<spsc_faults{}>({.count = 11, .at_once = 3, .capacity = 3}), how);
    expect_nothing_found(
        stream_program<spsc_faults{}>({.count = 9, .at_once = 2, .capacity = 1, .closes = true}), how);
  }
}
TEST(checked_spsc_queue, waits_until_a_deadline) {
  for (const char* topology : {"node:2", "node:1"})
    for (const delivery_mode mode : all_modes) expect_nothing_found(timed_stream_program(topology), by(mode));
}
/// This holds whatever the other rank does, and if it stops.
TEST(checked_spsc_queue, lets_no_rank_wait_for_the_other) {
  const auto body = [](world& w, monitor& watch) {
    spsc_queue<world, word> queue(w, {.capacity = 1, .producer = 0, .consumer = 1});
    w.barrier();
    for (word i = 1; i <= 2; ++i) {
      if (w.rank() == 0)
        static_cast<void>(queue.try_push(i));
      else
        static_cast<void>(queue.try_pop());
      watch.expect_complete("an attempt");
    }
  };
  program nonblocking{.where = topology_spec::parse("node:2").place(2), .body = body};
  nonblocking.is_nonblocking = true;
  for (const delivery_mode mode : {delivery_mode::eager, delivery_mode::lazy}) {
    options how = by(mode);
    how.crashes = 1;
    expect_nothing_found(nonblocking, how);
  }
}

// ---- faulty variants --------------------------------------------------------------------------------------

template <spsc_faults Faults>
[[nodiscard]] bool is_found(const stream& what) {
  EXPECT_FALSE(check(stream_program<spsc_faults{}>(what), by(delivery_mode::lazy)).found);
  return check(stream_program<Faults>(what), by(delivery_mode::lazy)).found.has_value();
}
TEST(broken_spsc_queue, tears_a_value_of_which_it_sees_the_first_word_only) {
  EXPECT_TRUE(is_found<spsc_faults{.looks_at_first_word_only = true}>({.count = 1}));
}
TEST(broken_spsc_queue, loses_what_is_overwritten_before_it_is_copied) {
  EXPECT_TRUE(is_found<spsc_faults{.counts_before_copying = true}>({.count = 2, .capacity = 1}));
}
TEST(broken_spsc_queue, says_closed_too_early_when_the_last_put_is_not_complete) {
  EXPECT_TRUE(is_found<spsc_faults{.ends_before_last_put = true}>({.count = 1, .closes = true}));
}

}  // namespace
}  // namespace nearfar::checker::testing
