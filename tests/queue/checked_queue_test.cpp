// Distributed queues in the model checker: a few operations of two or three ranks, in every order.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "nearfar/checker/checker.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/queue/queue_plans.hpp"

namespace nearfar::checker::testing {
namespace {

/// Queues with locks have too many executions to search them all.
template <typename Queue>
inline constexpr bool has_many_orders = std::same_as<Queue, locked> || std::same_as<Queue, central>;

/// Checks in every mode of delivery: with operations that MPI leaves undefined as faults, and with their
/// consequences.
template <typename Queue>
void expect_sound(const plan& what) {
  for (const delivery_mode mode : all_modes)
    for (const conflicts conflict : {conflicts::reported, conflicts::enacted}) {
      options how = by(mode);
      how.conflict = conflict;
      if constexpr (has_many_orders<Queue>) {
        how.by = search::random;
        how.most_executions = 300;
      }
      expect_nothing_found(program_of<Queue>(what), how);
    }
}

template <typename Queue>
class checked_queue : public ::testing::Test {};
// Sanitizers run some of these shorter. tests/CMakeLists.txt names those by their place in this list.
using queues = ::testing::Types<lockfree, ticketed, locked, central, ticketed_at_home>;
TYPED_TEST_SUITE(checked_queue, queues);

TYPED_TEST(checked_queue, keeps_the_order_of_two_producers) {
  expect_sound<TypeParam>({.of_ranks = {{1}, {2}}});
  expect_sound<TypeParam>({.of_ranks = {{1, 2}, {3}}});
}
TYPED_TEST(checked_queue, gives_each_element_to_one) {
  expect_sound<TypeParam>({.before = {1}, .of_ranks = {{pop}, {pop}}});
  expect_sound<TypeParam>({.before = {1, 2}, .of_ranks = {{pop}, {pop}}});
}
TYPED_TEST(checked_queue, says_empty_only_when_it_is) {
  expect_sound<TypeParam>({.of_ranks = {{pop}, {1}}});
  expect_sound<TypeParam>({.of_ranks = {{1}, {pop}}});
  expect_sound<TypeParam>({.before = {1}, .of_ranks = {{pop, pop}, {2, pop}}});
}
/// A pool of two, and a ring of four.
TYPED_TEST(checked_queue, uses_room_again) {
  const std::vector<step_of> lap{1, pop, 2, pop, 3, pop, 4, pop};
  const auto after = [&](std::vector<step_of> more) {
    more.insert(more.begin(), lap.begin(), lap.end());
    return more;
  };
  for (const std::vector<step_of>& other : {std::vector<step_of>{pop}, {6}}) {
    plan what{.before = lap, .of_ranks = {{7, pop}, other}, .capacity = 2, .announce_every = 2, .ring = 8};
    expect_sound<TypeParam>(for_queue<TypeParam>(what));
    std::swap(what.of_ranks[0], what.of_ranks[1]);
    expect_sound<TypeParam>(for_queue<TypeParam>(what));
    what = {
        .before = after({5}), .of_ranks = {{pop, 7}, other}, .capacity = 2, .announce_every = 2, .ring = 8};
    expect_sound<TypeParam>(for_queue<TypeParam>(what));
  }
}

/// Rank 0 pushes and closes; the others pop until they learn that, with and without waiting.
TYPED_TEST(checked_queue, gives_all_before_it_says_closed) {
  for (const int ranks : {2, 3})
    for (const bool waits : {true, false})
      for (const delivery_mode mode : all_modes) {
        const auto body = [waits](world& w, monitor&) {
          TypeParam queue(w, parameters_of<TypeParam>({.capacity = 3}));
          std::int64_t sum = 0;
          if (w.rank() == 0) {
            if (queue.push(1) != queue_status::success || queue.try_push(2) != queue_status::success)
              throw nearfar::error("there is room");
            queue.close();
            queue.close();
            if (queue.try_push(3) != queue_status::closed || queue.push(4) != queue_status::closed)
              throw nearfar::error("it is closed");
          } else if (waits) {
            for (auto value = queue.pop();; value = queue.pop()) {
              if (value.status() == queue_status::closed) break;
              sum += static_cast<std::int64_t>(*value);
            }
          } else if (const auto value = queue.try_pop()) {
            sum += static_cast<std::int64_t>(*value);
          }
          w.barrier();
          std::int64_t all = 0;
          for (const std::int64_t of_rank : w.gather_to_all(sum)) all += of_rank;
          while (!waits && w.rank() == 0) {
            const auto left = queue.pop();
            if (!left) break;
            all += static_cast<std::int64_t>(*left);
          }
          if (w.rank() == 0 && all != 3) throw nearfar::error("lost or doubled: " + std::to_string(all));
          w.barrier();
        };
        options how = by(mode);
        if (ranks == 3 || has_many_orders<TypeParam>) {
          how.by = search::random;
          how.most_executions = 1000;
        }
        expect_nothing_found({.where = topology_spec::parse("node:2").place(ranks), .body = body}, how);
      }
}
/// A push waits for room. A deadline ends a wait for room or for an element.
TYPED_TEST(checked_queue, waits_for_room_and_for_elements) {
  for (const bool is_timed : {false, true})
    for (const delivery_mode mode : all_modes) {
      const auto body = [is_timed](world& w, monitor&) {
        TypeParam queue(w,
                        parameters_of<TypeParam>(for_queue<TypeParam>({.capacity = 2, .announce_every = 2})));
        const std::chrono::nanoseconds soon = w.now() + std::chrono::nanoseconds(1);
        const auto most = static_cast<word>(queue.capacity()) + 1;
        word pushed = 0;
        word popped = 0;
        if (w.rank() == 0) {
          for (word i = 1; i <= most; ++i) {
            const queue_status status = is_timed ? queue.push_until(i, soon) : queue.push(i);
            if (status == queue_status::success)
              pushed += i;
            else if (!is_timed || status != queue_status::timed_out)
              throw nearfar::error("nobody closes");
          }
        } else {
          for (word i = 1; i <= most; ++i) {
            const auto value = is_timed ? queue.pop_until(soon) : queue.pop();
            if (value)
              popped += *value;
            else if (!is_timed || value.status() != queue_status::timed_out)
              throw nearfar::error("nobody closes");
          }
        }
        w.barrier();
        if (w.rank() == 0)
          for (auto value = queue.try_pop(); value; value = queue.try_pop()) popped += *value;
        std::int64_t left = 0;
        for (const std::int64_t of_rank : w.gather_to_all(static_cast<std::int64_t>(pushed - popped)))
          left += of_rank;
        if (left != 0) throw nearfar::error("lost or doubled");
        w.barrier();
      };
      options how = by(mode);
      how.by = search::random;
      how.most_executions = 500;
      expect_nothing_found({.where = topology_spec::parse("node:2").place(2), .body = body}, how);
    }
}
/// Each value arrives once, and the values of a rank in their order.
TYPED_TEST(checked_queue, moves_several_values_at_once) {
  for (const bool waits : {false, true})
    for (const int ranks : {2, 3})
      for (const delivery_mode mode : all_modes) {
        const auto body = [waits](world& w, monitor&) {
          TypeParam queue(
              w, parameters_of<TypeParam>(for_queue<TypeParam>({.capacity = 2, .announce_every = 2})));
          std::vector<word> got;
          const auto pop = [&](std::size_t most, bool until_one) {
            std::vector<word> into(most);
            const queue_range_result result = until_one ? queue.pop_range(into) : queue.try_pop_range(into);
            if (result.count == 0 && result.status != queue_status::empty)
              throw nearfar::error("nobody closes");
            got.insert(got.end(), into.begin(), into.begin() + static_cast<std::ptrdiff_t>(result.count));
          };
          word first = 0;  // of this rank
          word pushed = 0;
          if (w.rank() != 1) {
            first = static_cast<word>(w.rank()) * 10 + 1;
            const std::array<word, 3> values{first, first + 1, first + 2};
            const queue_range_result result = queue.try_push_range(values);
            pushed = result.count;
            if ((result.status == queue_status::success) != (pushed == values.size()))
              throw nearfar::error("success is all, and all is success");
          } else {
            pop(2, waits);
            pop(3, false);
          }
          w.barrier();
          if (w.rank() == 1)
            for (auto value = queue.try_pop(); value; value = queue.try_pop()) got.push_back(*value);
          for (int rank = 0; rank < w.size(); ++rank) {
            const word of_rank = static_cast<word>(rank) * 10 + 1;
            std::vector<word> its;
            for (const word value : got)
              if (value >= of_rank && value < of_rank + 3) its.push_back(value);
            const auto count = static_cast<std::size_t>(
                w.gather_to_all(static_cast<std::int64_t>(pushed))[static_cast<std::size_t>(rank)]);
            bool is_right = w.rank() != 1 || its.size() == count;
            for (std::size_t i = 0; i < its.size(); ++i) is_right = is_right && its[i] == of_rank + i;
            if (!is_right) throw nearfar::error("lost, doubled or out of order");
          }
          w.barrier();
        };
        options how = by(mode);
        how.by = search::random;
        how.most_executions = 1000;
        expect_nothing_found({.where = topology_spec::parse("node:2").place(ranks), .body = body}, how);
      }
}
TYPED_TEST(checked_queue, is_right_for_three_ranks_in_many_orders) {
  const std::string topology = "node:2 core:2";
  for (const std::vector<std::vector<step_of>>& of_ranks :
       {std::vector<std::vector<step_of>>{{1, 2}, {3, 4}, {pop, pop}},
        {{1, 2}, {pop, pop}, {pop, pop}},
        {{pop, 1, pop}, {2, pop, 3}, {pop, 4, pop}},
        {{1, 2}, {3, 4}, {pop, pop}, {pop, pop}}})
    for (const int announce_every : announces<TypeParam> ? std::vector{1, 2} : std::vector{1})
      for (const delivery_mode mode : all_modes)
        for (const conflicts conflict : {conflicts::reported, conflicts::enacted}) {
          options how = by(mode);
          how.by = search::random;
          how.conflict = conflict;
          how.most_executions = 300;
          expect_nothing_found(
              program_of<TypeParam>(for_queue<TypeParam>({.before = {5, pop, 6, pop, 7, pop, 8, pop},
                                                          .of_ranks = of_ranks,
                                                          .capacity = 3,
                                                          .topology = topology,
                                                          .announce_every = announce_every,
                                                          .ring = 16})),
              how);
        }
}

/// This holds unless the owner of the memory has to carry out what others do to it.
TEST(checked_lockfree_queue, lets_no_rank_wait_for_another) {
  for (const plan& what :
       {plan{.of_ranks = {{1}, {2, pop}}}, plan{.before = {1}, .of_ranks = {{pop, 2}, {pop}}},
        plan{.before = {1, pop, 2}, .of_ranks = {{3}, {pop, pop}}, .capacity = 2}})
    for (const delivery_mode mode : {delivery_mode::eager, delivery_mode::lazy}) {
      program nonblocking = program_of<lockfree>(what);
      nonblocking.is_nonblocking = true;
      nonblocking.most_steps_between_returns = 200;
      options how = by(mode);
      how.crashes = 1;
      expect_nothing_found(nonblocking, how);
    }
}

/// The second node's ranks go together to the counts. The combining needs no more of near cells than C++
/// promises.
TEST(checked_ticket_queue, combines_in_a_node) {
  for (const plan& what :
       {plan{.of_ranks = {{pop}, {4}, {1, pop}, {2, pop}}, .topology = "node:2 core:2"},
        plan{.before = {1}, .of_ranks = {{}, {}, {pop, 2}, {3, pop}}, .topology = "node:2 core:2"},
        plan{.before = {1, pop, 2, pop, 3, pop, 4, pop},
        .of_ranks = {{}, {5}, {pop, 6, pop}, {7, pop, 8}},
        .capacity = 1,
        .topology = "node:2 core:2",
        .ring = 8}})
    for (const delivery_mode mode : all_modes)
      for (const near_model near : {near_model::sequential, near_model::release_acquire}) {
        options how = by(mode);
        how.near = near;
        how.by = search::random;
        how.most_executions = 1500;
        expect_nothing_found(program_of<ticketed>(what), how);
      }
}
/// Only sums race on its counts.
TEST(checked_ticket_queue, needs_no_more_of_atomics_than_mpi_promises) {
  for (const plan& what :
       {plan{.of_ranks = {{1, pop}, {2, pop}}}, plan{.before = {1}, .of_ranks = {{pop, pop}, {2}}},
        plan{.before = {1, pop, 2, pop, 3, pop, 4, pop, 5},
        .of_ranks = {{pop, 7}, {pop}},
        .capacity = 1,
        .ring = 4}})
    for (const delivery_mode mode : all_modes) {
      options how = by(mode);
      how.promised.mixed_accumulates = false;
      expect_nothing_found(program_of<ticketed>(what), how);
    }
}
/// Links and states are compared and swapped by many, and set by their owner.
TEST(checked_lockfree_queue, needs_accumulates_of_different_operations_to_be_atomic) {
  options how = by(delivery_mode::lazy);
  how.promised.mixed_accumulates = false;
  const report result = check(
      program_of<lockfree>({.before = {1, pop, 2}, .of_ranks = {{pop, 3, 4}, {pop, pop}}, .capacity = 2}),
      how);
  ASSERT_TRUE(result.found);
  EXPECT_EQ(result.found->what, fault::conflict);
}
/// One of several waiting ranks gets the element, and the others go on waiting.
TYPED_TEST(checked_queue, lets_several_wait_for_elements) {
  for (const delivery_mode mode : all_modes) {
    options how = by(mode);
    how.by = search::random;
    how.most_executions = 2000;
    expect_nothing_found(
        program_of<TypeParam>({.of_ranks = {{1, 2}, {pop}, {pop}}, .topology = "node:3", .waits = true}),
        how);
  }
}

// ---- faulty variants --------------------------------------------------------------------------------------

/// The faults that are found in any mode, from a few schedules of each.
template <typename Queue>
std::vector<fault> found_in(const plan& what) {
  std::vector<fault> result;
  for (const delivery_mode mode : all_modes)
    for (const search by_what : {search::exhaustive, search::random}) {
      options how = by(mode);
      how.by = by_what;
      how.most_executions = 20'000;
      how.most_steps = 2000;
      const report found = check(program_of<Queue>(what), how);
      if (found.found) result.push_back(found.found->what);
    }
  return result;
}
/// The fault is found in every mode, by every search.
void expect_all(const std::vector<fault>& found, fault what) {
  EXPECT_EQ(found, std::vector<fault>(2 * all_modes.size(), what));
}
template <nearfar::detail::linked_queue_faults Faults>
std::vector<fault> found_in_lockfree(const plan& what) {
  EXPECT_TRUE(found_in<lockfree>(what).empty());
  return found_in<linked_queue<world, word, lock_free, Faults>>(what);
}
template <nearfar::detail::ticket_queue_faults Faults>
std::vector<fault> found_in_ticketed(const plan& what) {
  EXPECT_TRUE(found_in<ticketed>(what).empty());
  return found_in<ticket_queue<world, word, Faults>>(what);
}

TEST(broken_queue, takes_an_element_for_its_successor_without_tags) {
  const std::vector<fault> found = found_in_lockfree<nearfar::detail::linked_queue_faults{.no_tags = true}>(
      {.before = {1, pop, 2}, .of_ranks = {{pop, 3, 4}, {pop, pop}}, .capacity = 2, .announce_every = 0});
  expect_all(found, fault::history);
}
TEST(broken_queue, says_empty_too_early_without_a_second_look) {
  const std::vector<fault> found =
      found_in_lockfree<nearfar::detail::linked_queue_faults{.no_second_look = true}>(
          {.before = {1}, .of_ranks = {{pop}, {2, pop}}});
  expect_all(found, fault::history);
}
TEST(broken_queue, loses_what_is_linked_to_an_element_that_is_announced_before) {
  const std::vector<fault> found =
      found_in_lockfree<nearfar::detail::linked_queue_faults{.announces_before = true}>(
          {.of_ranks = {{1, pop}, {2, pop}}});
  expect_all(found, fault::history);
}
TEST(broken_queue, loses_elements_when_it_reclaims_too_early) {
  const std::vector<fault> found =
      found_in_lockfree<nearfar::detail::linked_queue_faults{.reclaims_too_early = true}>(
          {.before = {1, pop, 2, pop}, .of_ranks = {{3}, {pop}}, .capacity = 2, .announce_every = 0});
  expect_all(found, fault::livelock);
}
TEST(broken_queue, loses_what_is_pushed_with_a_void_ticket) {
  const std::vector<fault> found =
      found_in_ticketed<nearfar::detail::ticket_queue_faults{.uses_void_tickets = true}>(
          {.before = {1}, .of_ranks = {{pop, 2}, {pop, pop}}});
  expect_all(found, fault::history);
}
TEST(broken_queue, pops_what_is_not_there_without_stamps) {
  const std::vector<fault> found =
      found_in_ticketed<nearfar::detail::ticket_queue_faults{.no_stamps = true}>({.of_ranks = {{1}, {pop}}});
  expect_all(found, fault::history);
}
TEST(broken_queue, overwrites_what_is_not_yet_read_when_it_does_not_wait) {
  const std::vector<fault> found =
      found_in_ticketed<nearfar::detail::ticket_queue_faults{.never_waits_for_done = true}>(
          {.before = {1}, .of_ranks = {{2, pop, 3, pop, 4, pop, 5, pop}, {pop}}, .capacity = 1, .ring = 4});
  expect_all(found, fault::deadlock);
}

}  // namespace
}  // namespace nearfar::checker::testing
