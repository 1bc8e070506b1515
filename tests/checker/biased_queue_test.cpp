// The queue of nodes that leaves the lock with the node that used it last, as the global lock of a cohort.
#include "nearfar/lock/biased_queue.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "nearfar/checker/lock_program.hpp"
#include "nearfar/engine/world.hpp"
#include "nearfar/lock/cohort_lock.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/checker/expectations.hpp"

namespace nearfar::checker::testing {
namespace {

using engine::world;
template <biased_policy Policy>
using cohort_of = cohort_lock<biased_queue<world, Policy>, mcs_lock<world>>;
using biased_cohort = cohort_of<biased_policy{}>;

locality on(int nodes, int ranks) {
  return topology_spec::parse("node:" + std::to_string(nodes)).place(ranks);
}

program with(int ranks, int nodes, int acquisitions) {
  return lock_program(
      on(nodes, ranks), acquisitions, [](world& w) { return std::make_unique<biased_cohort>(w, 0, 1); },
      bypass_bound::local_passes, 1);
}

/// The deeds of a rank, a letter for each:
///
/// - w: acquires by waiting, and releases; t: acquires by an attempt, and releases if that succeeds;
/// - T, F: like t, with an attempt that has to succeed, to fail;
/// - l, L, u: acquires by waiting, by an attempt that has to succeed; releases;
/// - |: meets all others.
using script = std::string;

template <biased_policy Policy>
class acquisitions {
 public:
  acquisitions(world& w, monitor& watch) : world_(&w), watch_(&watch), lock_(w, 0, 1) {}

  void take(char what) {
    switch (what) {
      case 'w':
        acquire();
        return release();
      case 't':
      case 'T':
      case 'F':
      case 'L':
        if (tries()) {
          if (what == 'F') throw std::logic_error("an attempt has come by a lock that is held");
          watch_->enter();
          if (what != 'L') release();
        } else if (what == 'T' || what == 'L') {
          throw std::logic_error("an attempt has failed at a lock that is idle");
        }
        return;
      case 'l':
        return acquire();
      case 'u':
        return release();
      default:
        world_->barrier();
    }
  }

 private:
  [[nodiscard]] bool tries() {
    watch_->ask();
    const bool came = lock_.try_lock();
    watch_->expect_complete("try_lock()");
    return came;
  }
  void acquire() {
    watch_->ask();
    lock_.lock();
    watch_->expect_complete("lock()");
    watch_->enter();
  }
  void release() {
    watch_->leave();
    lock_.unlock();
    watch_->expect_complete("unlock()");
  }

  world* world_;
  monitor* watch_;
  cohort_of<Policy> lock_;
};

/// A program with a script for each rank. It has no bound of overtaking, since an attempt asks but does not
/// wait.
template <biased_policy Policy = biased_policy{}>
program that_does(int nodes, const std::vector<script>& scripts) {
  return {.where = on(nodes, static_cast<int>(scripts.size())), .body = [scripts](world& w, monitor& watch) {
            acquisitions<Policy> all(w, watch);
            for (const char what : scripts[static_cast<std::size_t>(w.rank())]) all.take(what);
          }};
}

constexpr delivery_mode modes[] = {delivery_mode::lazy, delivery_mode::eager, delivery_mode::progress};

TEST(biased_queues, are_right_in_all_orders) {
  for (const delivery_mode mode : modes) {
    expect_nothing_found(with(2, 2, 2), {.mode = mode});
    expect_nothing_found(with(3, 2, 1), {.mode = mode});
    expect_nothing_found(with(3, 3, 1), {.mode = mode});
  }
}

TEST(biased_queues, are_right_in_many_orders) {
  for (const delivery_mode mode : modes) {
    options how{.mode = mode, .by = search::random, .most_executions = 1000};
    expect_nothing_found(with(2, 2, 6), how);
    expect_nothing_found(with(3, 2, 3), how);
    expect_nothing_found(with(3, 3, 3), how);
    expect_nothing_found(with(5, 2, 2), how);
  }
}

TEST(biased_queues, that_are_idle_are_taken_by_attempts_wherever_they_are_kept) {
  for (const delivery_mode mode : modes) {
    const options how{.mode = mode};
    expect_nothing_found(that_does(2, {"T||T|", "|T||T"}), how);
    expect_nothing_found(that_does(2, {"w||T|", "|T||T"}), how);
    // The attempt comes from another rank of the keeping node, also after a failed attempt there.
    expect_nothing_found(that_does(2, {"T||", "|T|", "||T"}), how);
    expect_nothing_found(that_does(2, {"t|||T", "t|T||", "||T|"}), how);
    expect_nothing_found(that_does(3, {"T|||T", "|T||", "||T|"}), how);
  }
}

TEST(biased_queues, that_are_held_make_attempts_fail_without_waiting) {
  for (const delivery_mode mode : modes) {
    const options how{.mode = mode};
    expect_nothing_found(that_does(2, {"l||u|", "|F||T"}), how);
    // The holder has taken the lock from another node, by waiting or by an attempt.
    expect_nothing_found(that_does(2, {"w||F||T", "|l||u|"}), how);
    expect_nothing_found(that_does(2, {"w||F||T", "|L||u|"}), how);
    expect_nothing_found(that_does(3, {"w|||", "|l||u", "||F|"}), how);
  }
}

TEST(biased_queues, are_right_in_all_orders_of_attempts) {
  for (const delivery_mode mode : modes) {
    const options how{.mode = mode};
    expect_nothing_found(that_does(2, {"w|tw", "|t"}), how);
    expect_nothing_found(that_does(2, {"tt", "tt"}), how);
    expect_nothing_found(that_does(3, {"w|", "|t", "|t"}), how);
    expect_nothing_found(that_does(3, {"w|", "|t", "|w"}), how);
    expect_nothing_found(that_does(2, {"w|", "|t", "|w"}), how);
  }
}

TEST(biased_queues, are_not_taken_by_what_was_so_before) {
  const options how = by(delivery_mode::lazy);
  // The waiting rank reads that the keeper is busy. The attempt reads that no rank has registered, and then
  // that the keeper is idle.
  expect_nothing_found(that_does(3, {"w|w", "|t", "|w"}), how);
  // The keeper makes a claim fail, and another takes its place before its author goes on.
  expect_nothing_found(that_does(3, {"w|ww", "|t", "|t"}), how);
  // The attempt finds the claim to the place after the one that it has read of.
  expect_nothing_found(that_does(3, {"w|ww", "|wt", "|t"}), how);
}

TEST(biased_queues, have_places_whose_numbers_come_again) {
  constexpr biased_policy few{.number_bits = 2};
  for (const delivery_mode mode : modes) {
    const options how{.mode = mode};
    // All numbers with an old claim that has succeeded, and an attempt at one of them.
    expect_nothing_found(that_does<few>(2, {"w||w||w||w||ww||wT|", "|T||w||w||w||w||T"}), how);
    expect_nothing_found(that_does<few>(2, {"w||w||w||w||w||w||Tw|", "|w||w||w||w||w||T||T"}), how);
    expect_nothing_found(that_does<few>(2, {"w|w|w|w|w|w", "w|w|w|w|w|w"}),
                         {.mode = mode, .by = search::random, .most_executions = 1000});
  }
}

TEST(biased_queues, are_right_in_many_orders_of_attempts) {
  for (const delivery_mode mode : modes) {
    options how{.mode = mode, .by = search::random, .most_executions = 1000};
    expect_nothing_found(that_does(2, {"wtwtwt", "twtwtw"}), how);
    expect_nothing_found(that_does(2, {"wttt", "twtw", "ttwt"}), how);
    expect_nothing_found(that_does(3, {"w|w", "|tt", "|wt"}), how);
    expect_nothing_found(that_does(3, {"wtt", "ttt", "twt"}), how);
    expect_nothing_found(that_does(4, {"w|tw", "|ttt", "|twt", "|w"}), how);
    // Claims of places that ranks have left, and places that several ranks have used since.
    expect_nothing_found(that_does(3, {"w|wwww", "|wwww", "|tttt"}), how);
    expect_nothing_found(that_does(3, {"wtwt", "twtw", "tttt", "wwww", "twwt"}), how);
  }
}

}  // namespace
}  // namespace nearfar::checker::testing
