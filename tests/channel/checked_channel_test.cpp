// Channels of every strategy in the model checker: in every order where these are few enough.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "nearfar/channel/channel.hpp"
#include "nearfar/channel/strategies.hpp"
#include "nearfar/lock/mcs_lock.hpp"
#include "tests/channel/channel_programs.hpp"
#include "tests/checker/expectations.hpp"

namespace nearfar::checker::testing {
namespace {

/// Takes any world, as a policy asks.
template <typename W>
class near_mcs : public mcs_lock<W> {
 public:
  using mcs_lock<W>::mcs_lock;
};

/// What is said of a strategy: whether full is told exactly, and how many places a mailbox has.
template <template <typename, typename> typename Buffer, bool tells_full = true, std::size_t places = 0>
struct strategy {
  using channel = tested<Buffer>;
  using frames = tested_frames<Buffer>;
  static constexpr bool is_exact = tells_full;
  static constexpr std::size_t fixed_capacity = places;
};

using strategies = ::testing::Types<
    strategy<ring_buffer>, strategy<ring_of<channel_lock::spin>::mpmc>,
    strategy<ring_of<channel_lock::spin>::mpsc>, strategy<ring_of<channel_lock::ticket>::mpmc>,
    strategy<ring_of<channel_lock::partitioned_ticket>::mpmc>, strategy<ring_of<channel_lock::parking>::mpmc>,
    strategy<spsc_ring>, strategy<mailbox, true, 1>, strategy<ring_of<channel_lock::spin>::mailbox, true, 1>,
    strategy<flagged_by<flags::single>::mpmc>, strategy<flagged_by<flags::twofold>::mpmc>,
    strategy<flagged_by<flags::twofold>::mpsc>,
    strategy<list_of<channel_lock::ticket, list_nodes::fixed>::mpmc, false>,
    strategy<list_of<channel_lock::spin, list_nodes::fixed>::mpsc, false>,
    strategy<spsc_list_of<list_nodes::fixed>::spsc, false>,
    strategy<lock_free_list_of<list_nodes::fixed>::mpmc, false>,
    strategy<segments_of<list_nodes::fixed, 2>::mpmc, false>,
    strategy<segments_of<list_nodes::fixed, 2>::mpsc, false>>;

template <typename Strategy>
class checked_channel : public ::testing::Test {};
TYPED_TEST_SUITE(checked_channel, strategies);

/// A capacity of those, with room for all where full is not told exactly.
template <typename Strategy>
[[nodiscard]] std::vector<std::size_t> capacities(std::initializer_list<std::size_t> wanted) {
  constexpr std::size_t room = 8;
  if (Strategy::fixed_capacity != 0) return {Strategy::fixed_capacity};
  return Strategy::is_exact ? std::vector(wanted) : std::vector{room};
}

TYPED_TEST(checked_channel, is_linearizable) {
  using channel = typename TypeParam::channel;
  for (const near_model near : near_models) {
    for (const std::size_t capacity : capacities<TypeParam>({1, 2}))
      for (const plan& of_ranks : small_plans)
        if (may_do<channel>(of_ranks)) {
          options how = by(near);
          how.most_executions = 100'000 / part;
          const program what = attempts<channel>(capacity, of_ranks);
          if (check(what, how).complete)
            expect_nothing_found(what, how);
          else
            expect_nothing_found(what, at_random(near, 3000 / part));
        }
    for (const std::size_t capacity : capacities<TypeParam>({1, 2, 3}))
      for (const plan& of_ranks : large_plans)
        if (may_do<channel>(of_ranks))
          expect_nothing_found(attempts<channel>(capacity, of_ranks), at_random(near, 1000 / part));
  }
}
TYPED_TEST(checked_channel, is_linearizable_when_several_close_and_open_it) {
  using channel = typename TypeParam::channel;
  using buffer = typename channel::buffer;
  for (const near_model near : near_models)
    for (const std::size_t capacity : capacities<TypeParam>({1, 2}))
      for (const plan& of_ranks : closing_plans)
        if (may_do<channel>(of_ranks)) {
          // In order first: what is withdrawn and then opened is seldom found at random.
          options how = by(near);
          how.most_executions = 2000 / part;
          const program what = closings<buffer>(capacity, of_ranks);
          EXPECT_FALSE(check(what, how).found);
          expect_nothing_found(what, at_random(near, 500 / part));
        }
}
TYPED_TEST(checked_channel, wakes_whoever_waits) {
  using channel = typename TypeParam::channel;
  constexpr int most_senders = channel::has_one_sender ? 1 : 2;
  constexpr int most_receivers = channel::has_one_receiver ? 1 : 2;
  for (const near_model near : near_models)
    for (const std::size_t capacity : {1U, 2U})
      for (int senders = 1; senders <= most_senders; ++senders)
        for (int receivers = 1; receivers <= most_receivers; ++receivers)
          for (const bool closes : {false, true})
            if (!closes || senders == 1)
              expect_nothing_found(streams<channel>(capacity, senders, receivers, 3, closes),
                                   at_random(near, 1000 / part));
}
void expect_success(queue_status found) {
  if (found != queue_status::success) throw nearfar::error("nobody closes, and there is room");
}
/// Three that send one each, and nobody receives: there is room for all, but not segments for each to link.
template <typename Channel>
program all_find_room(std::size_t capacity, int gone_before) {
  return on_a_node(3, [=](world& w, monitor&) {
    Channel channel(w, capacity);
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
    expect_nothing_found(all_find_room<tested<segments_of<list_nodes::fixed, 3>::mpmc>>(3, 2),
                         at_random(near, 6000 / part));
    expect_nothing_found(all_find_room<tested<segments_of<list_nodes::fixed, 3>::mpsc>>(3, 2),
                         at_random(near, 6000 / part));
  }
}

TYPED_TEST(checked_channel, loses_nothing_when_it_is_closed) {
  for (const near_model near : near_models)
    expect_nothing_found(closing<typename TypeParam::channel>(), at_random(near, 2000 / part));
}
TYPED_TEST(checked_channel, wakes_all_for_whom_there_is_something_in_a_range) {
  using channel = typename TypeParam::channel;
  constexpr int most_senders = channel::has_one_sender ? 1 : 2;
  constexpr int most_receivers = channel::has_one_receiver ? 1 : 2;
  for (const near_model near : near_models)
    for (const std::size_t capacity : {1U, 2U, 3U})
      for (int senders = 1; senders <= most_senders; ++senders)
        for (int receivers = 1; receivers <= most_receivers; ++receivers)
          expect_nothing_found(range_streams<channel>(capacity, senders, receivers, 3),
                               at_random(near, 300 / part));
}
TYPED_TEST(checked_channel, loses_nothing_of_a_range_when_it_is_closed) {
  for (const near_model near : near_models)
    for (const std::size_t capacity : {1U, 2U})
      expect_nothing_found(range_closing<typename TypeParam::channel>(capacity), at_random(near, 300 / part));
}
TYPED_TEST(checked_channel, lends_a_frame_to_one_at_a_time) {
  using channel = typename TypeParam::frames;
  constexpr int most_senders = channel::has_one_sender ? 1 : 2;
  constexpr int most_receivers = channel::has_one_receiver ? 1 : 2;
  for (const near_model near : near_models) {
    for (const std::size_t capacity : {1U, 2U}) {
      if (TypeParam::fixed_capacity != 0 && capacity > TypeParam::fixed_capacity) continue;
      for (int senders = 1; senders <= most_senders; ++senders)
        for (int receivers = 1; receivers <= most_receivers; ++receivers)
          for (const bool closes : {false, true})
            if (!closes || senders == 1)
              expect_nothing_found(frame_streams<channel>(capacity, senders, receivers, 2, closes),
                                   at_random(near, 300 / part));
      expect_nothing_found(frame_closing<channel>(capacity), at_random(near, 300 / part));
    }
  }
}

TEST(checked_channel_locks, of_the_world_do) {
  using channel = tested<ring_of<channel_lock::of_world<near_mcs>::lock>::mpmc>;
  for (const near_model near : near_models) {
    expect_nothing_found(attempts<channel>(1, {{1, 2}, {get}, {3, get}}), at_random(near, 1000 / part));
    expect_nothing_found(streams<channel>(1, 1, 2, 3, true), at_random(near, 300 / part));
  }
}
/// flagged_ring.hpp says how.
TEST(checked_channel_flags, as_published_let_the_later_in_first) {
  using channel = tested<flagged_by<flags::binary>::mpmc>;
  const report result = check(attempts<channel>(1, {{1, 2}, {3, 4}, {get, get}, {get, get}}),
                              at_random(near_model::sequential, 100'000));
  ASSERT_TRUE(result.found);
  EXPECT_EQ(result.found->what, fault::history) << result.found->text;
}

}  // namespace
}  // namespace nearfar::checker::testing
