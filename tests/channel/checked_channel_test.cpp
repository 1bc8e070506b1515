// Channels of every strategy in the model checker: in every order where these are few enough.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "nearfar/core/error.hpp"
#include "tests/channel/channel_programs.hpp"
#include "tests/checker/expectations.hpp"

namespace nearfar::checker::testing {
namespace {

class checked_channel : public ::testing::TestWithParam<strategy> {};
INSTANTIATE_TEST_SUITE_P(every, checked_channel, ::testing::ValuesIn(strategies()),
                         [](const auto& of) { return std::string(of.param.name); });

/// Random schedules of sleeping ranks. In a third of the executions some ranks wake without a reason.
void expect_sound_sleep(const program& what, near_model near, std::uint64_t executions) {
  const std::uint64_t third = std::max<std::uint64_t>(executions / part / 3, 1);
  expect_nothing_found(what, at_random(near, 2 * third));
  expect_nothing_found(what, waking_early(at_random(near, third)));
}

/// The given capacities; room for all where the strategy does not tell full exactly.
[[nodiscard]] std::vector<std::size_t> capacities(const strategy& of,
                                                  std::initializer_list<std::size_t> wanted) {
  constexpr std::size_t room = 8;
  if (of.places != 0) return {of.places};
  return of.tells_full ? std::vector(wanted) : std::vector{room};
}

TEST_P(checked_channel, is_linearizable) {
  const strategy& of = GetParam();
  for (const near_model near : near_models) {
    for (const std::size_t capacity : capacities(of, {1, 2}))
      for (const plan& of_ranks : small_plans)
        if (may_do(of, of_ranks)) {
          options how = by(near);
          how.most_executions = 100'000 / part;
          const program what = attempts(of, capacity, of_ranks);
          const report in_order = check(what, how);
          expect_nothing_found_in(in_order, what, how);
          if (!in_order.complete) expect_nothing_found(what, at_random(near, 1500 / part));
        }
    for (const std::size_t capacity : capacities(of, {1, 2, 3}))
      for (const plan& of_ranks : large_plans)
        if (may_do(of, of_ranks))
          expect_nothing_found(attempts(of, capacity, of_ranks), at_random(near, 500 / part));
  }
}
TEST_P(checked_channel, is_linearizable_when_several_close_and_open_it) {
  const strategy& of = GetParam();
  for (const near_model near : near_models)
    for (const std::size_t capacity : capacities(of, {1, 2}))
      for (const plan& of_ranks : closing_plans)
        if (may_do(of, of_ranks)) {
          // The exhaustive search comes first: random schedules seldom find a withdrawal that an opening
          // follows.
          options how = by(near);
          how.most_executions = 1000 / part;
          const program what = closings(of, capacity, of_ranks);
          EXPECT_FALSE(check(what, how).found);
          expect_nothing_found(what, at_random(near, 250 / part));
        }
}
TEST_P(checked_channel, wakes_whoever_waits) {
  const strategy& of = GetParam();
  const int most_senders = of.has_one_sender ? 1 : 2;
  const int most_receivers = of.has_one_receiver ? 1 : 2;
  for (const near_model near : near_models)
    for (const std::size_t capacity : {1U, 2U})
      for (int senders = 1; senders <= most_senders; ++senders)
        for (int receivers = 1; receivers <= most_receivers; ++receivers)
          for (const bool closes : {false, true})
            if (!closes || senders == 1)
              expect_sound_sleep(streams(of, capacity, senders, receivers, 3, closes), near, 500);
}
void expect_success(queue_status found) {
  if (found != queue_status::success) throw nearfar::error("nobody closes, and there is room");
}
/// Three ranks send one message each, and no rank receives. There is room for all messages, but not for a
/// segment that each sender links.
program all_find_room(const strategy& of, std::size_t capacity, int gone_before) {
  return on_a_node(3, [=](world& w, monitor&) {
    const auto made = of.make(w, capacity);
    any_channel& channel = *made;
    if (w.rank() == 0)
      for (int i = 0; i < gone_before; ++i) {
        expect_success(channel.try_send(0));
        expect_success(channel.try_receive().status());
      }
    w.barrier();
    expect_success(channel.send(static_cast<word>(w.rank())));
    w.barrier();
  });
}
TEST(checked_segments, let_all_send_for_whom_there_is_room) {
  for (const near_model near : near_models) {
    expect_nothing_found(all_find_room(strategy_named("segments_of_3_mpmc"), 3, 2),
                         at_random(near, 3000 / part));
    expect_nothing_found(all_find_room(strategy_named("segments_of_3_mpsc"), 3, 2),
                         at_random(near, 3000 / part));
  }
}

/// A rank that sleeps between two closings may miss that the channel was open. Random schedules seldom find
/// that.
void expect_message_between_two_closings(const strategy& of, std::uint64_t in_order, std::uint64_t randomly) {
  for (const near_model near : near_models) {
    options how = by(near);
    how.most_executions = in_order / part;
    const program tried = closings(of, capacities(of, {1}).front(), {{1}, {get}, {shut, open, shut}});
    for (const program& what : {tried, closing_twice(of)}) {
      const report found = check(what, how);
      expect_nothing_found_in(found, what, how);
      if (!found.complete) expect_nothing_found(what, at_random(near, randomly / part));
    }
  }
}
TEST_P(checked_channel, gives_a_message_that_comes_between_two_closings) {
  expect_message_between_two_closings(GetParam(), 3000, 200);
}
/// A receiver of this mailbox also waits for a sender that is between two steps.
TEST(checked_mailbox, gives_a_message_that_comes_between_two_closings) {
  expect_message_between_two_closings(strategy_named("two_flag_mailbox"), 100'000, 3000);
}
TEST_P(checked_channel, loses_nothing_when_it_is_closed) {
  for (const near_model near : near_models) expect_sound_sleep(closing(GetParam()), near, 1000);
}
TEST_P(checked_channel, wakes_all_for_whom_there_is_something_in_a_range) {
  const strategy& of = GetParam();
  const int most_senders = of.has_one_sender ? 1 : 2;
  const int most_receivers = of.has_one_receiver ? 1 : 2;
  for (const near_model near : near_models)
    for (const std::size_t capacity : {1U, 2U, 3U})
      for (int senders = 1; senders <= most_senders; ++senders)
        for (int receivers = 1; receivers <= most_receivers; ++receivers)
          expect_sound_sleep(range_streams(of, capacity, senders, receivers, 3), near, 300);
}
TEST_P(checked_channel, loses_nothing_of_a_range_when_it_is_closed) {
  for (const near_model near : near_models)
    for (const std::size_t capacity : {1U, 2U})
      expect_sound_sleep(range_closing(GetParam(), capacity), near, 300);
}
TEST_P(checked_channel, lends_a_frame_to_one_at_a_time) {
  const strategy& of = GetParam();
  const int most_senders = of.has_one_sender ? 1 : 2;
  const int most_receivers = of.has_one_receiver ? 1 : 2;
  for (const near_model near : near_models) {
    for (const std::size_t capacity : {1U, 2U}) {
      if (of.places != 0 && capacity > of.places) continue;
      for (int senders = 1; senders <= most_senders; ++senders)
        for (int receivers = 1; receivers <= most_receivers; ++receivers)
          for (const bool closes : {false, true})
            if (!closes || senders == 1)
              expect_sound_sleep(of.frame_streams(capacity, senders, receivers, 2, closes), near, 300);
      expect_sound_sleep(of.frame_closing(capacity), near, 300);
    }
  }
}

TEST(checked_channel_locks, of_the_world_do) {
  const strategy& of = strategy_named("ring_of_mcs_mpmc");
  for (const near_model near : near_models) {
    expect_nothing_found(attempts(of, 1, {{1, 2}, {get}, {3, get}}), at_random(near, 500 / part));
    expect_sound_sleep(streams(of, 1, 1, 2, 3, true), near, 300);
  }
}
/// flagged_ring.hpp explains how.
TEST(checked_channel_flags, as_published_let_the_later_in_first) {
  const strategy& of = strategy_named("flagged_by_binary_mpmc");
  const report result = check(attempts(of, 1, {{1, 2}, {3, 4}, {get, get}, {get, get}}),
                              at_random(near_model::sequential, 100'000));
  ASSERT_TRUE(result.found);
  EXPECT_EQ(result.found->what, fault::history) << result.found->text;
}

}  // namespace
}  // namespace nearfar::checker::testing
