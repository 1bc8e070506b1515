// Channels of threads at their limits, and against a model.
#include "nearfar/channel/channel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <random>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "nearfar/channel/list_nodes.hpp"
#include "nearfar/channel/segment_list.hpp"
#include "nearfar/channel/strategies.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/memory/threads/world.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/channel/channel_strategies.hpp"

namespace nearfar::testing {
namespace {

using namespace std::chrono_literals;

/// Called once by the nodes below.
std::function<void()> watched_obtain;
std::function<void()> watched_give_back;

class channel_of : public ::testing::TestWithParam<channel_strategy> {};
INSTANTIATE_TEST_SUITE_P(every, channel_of, ::testing::ValuesIn(channel_strategies()), name_of_strategy);

TEST_P(channel_of, gives_what_was_sent_in_order_and_says_full_and_empty) {
  constexpr std::size_t most = 20;  // where there is room for any number
  for (const std::size_t capacity : {1U, 2U, 3U, 7U, 8U}) {
    const auto c = GetParam().make<owned>(capacity);
    if (GetParam().takes_capacity) {
      EXPECT_EQ(c->capacity(), capacity);
    }
    const std::size_t room = std::min(c->capacity(), most);
    EXPECT_EQ(c->try_receive().status(), queue_status::empty);
    for (int lap = 0; lap < 5; ++lap) {
      for (std::size_t i = 0; i < room; ++i) {
        ASSERT_EQ(c->try_send(owned(i)), queue_status::success);
        EXPECT_EQ(c->peek(), i + 1);
      }
      if (c->capacity() != unbounded) {
        EXPECT_EQ(c->try_send(owned(most)), queue_status::full);
      }
      for (std::size_t i = 0; i < room; ++i) {
        const auto got = c->receive();
        ASSERT_TRUE(got);
        EXPECT_EQ(**got, i);
      }
      EXPECT_EQ(c->peek(), 0U);
      EXPECT_EQ(c->try_receive().status(), queue_status::empty);
    }
    ASSERT_EQ(c->try_send(owned(0)), queue_status::success);
  }
}

TEST_P(channel_of, leaves_what_it_does_not_send_with_its_owner) {
  const auto made = GetParam().make<owned>(1);
  auto& c = *made;
  EXPECT_EQ(c.try_send(owned(1)), queue_status::success);
  owned message(2);
  if (c.capacity() != unbounded) {
    EXPECT_EQ(c.try_send(std::move(message)), queue_status::full);
    ASSERT_TRUE(message);  // NOLINT(bugprone-use-after-move): the test is that it is not moved from
    EXPECT_EQ(c.send_for(std::move(message), 1ms), queue_status::timed_out);
    ASSERT_TRUE(message);  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(c.send_until(std::move(message), 0ns), queue_status::timed_out);
    ASSERT_TRUE(message);  // NOLINT(bugprone-use-after-move)
  }
  c.close();
  EXPECT_EQ(c.send(std::move(message)), queue_status::closed);
  ASSERT_TRUE(message);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(**c.receive(), 1U);
  EXPECT_EQ(c.receive().status(), queue_status::closed);
}

TEST_P(channel_of, closes_gives_the_rest_and_opens_again) {
  const auto made = GetParam().make<std::uint64_t>(2);
  auto& c = *made;
  ASSERT_EQ(c.send(1), queue_status::success);
  c.close();
  c.close();
  EXPECT_TRUE(c.is_closed());
  EXPECT_EQ(c.try_send(2), queue_status::closed);
  EXPECT_EQ(*c.receive(), 1U);
  EXPECT_EQ(c.receive_for(1h).status(), queue_status::closed);
  c.reopen();
  EXPECT_FALSE(c.is_closed());
  EXPECT_EQ(c.try_receive().status(), queue_status::empty);
  EXPECT_EQ(c.send(3), queue_status::success);
  EXPECT_EQ(*c.receive(), 3U);
}

TEST_P(channel_of, goes_on_when_a_message_throws) {
  const int before = thrower::living;
  {
    const auto made = GetParam().make<thrower>(2);
    auto& c = *made;
    for (int lap = 0; lap < 5; ++lap) {
      // A message that was not made may take up a place until it is passed over.
      const bool is_first = c.capacity() == 1;
      if (!is_first) {
        ASSERT_EQ(c.try_send(thrower(1)), queue_status::success);
      }
      thrower second(2);
      thrower::throws_in = 1;
      EXPECT_THROW(static_cast<void>(c.try_send(std::move(second))), thrown);
      if (is_first) {
        ASSERT_EQ(c.try_send(thrower(1)), queue_status::success);
      }
      EXPECT_EQ(**c.receive(), 1U);
      EXPECT_EQ(c.try_receive().status(), queue_status::empty);
      ASSERT_EQ(c.try_send(thrower(3)), queue_status::success);
      thrower::throws_in = 1;
      EXPECT_THROW(static_cast<void>(c.receive()), thrown);
      EXPECT_EQ(c.try_receive().status(), queue_status::empty);
    }
    ASSERT_EQ(c.try_send(thrower(4)), queue_status::success);
    thrower::throws_in = 1;  // unsent messages are not moved
  }
  thrower::throws_in = 0;
  EXPECT_EQ(thrower::living, before);
}

class channel_that_hands_back : public ::testing::TestWithParam<channel_strategy> {};
INSTANTIATE_TEST_SUITE_P(each, channel_that_hands_back,
                         ::testing::ValuesIn(channel_strategies_where(&channel_strategy::hands_back)),
                         name_of_strategy);

/// The channel closes after a send has found it open.
TEST_P(channel_that_hands_back, keeps_the_message_unless_its_way_back_throws) {
  const int before = thrower::living;
  {
    const auto made = GetParam().make<thrower>(2);
    auto& c = *made;
    for (const bool throws : {false, true, false, true}) {
      ASSERT_EQ(c.try_send(thrower(1)), queue_status::success);
      thrower second(2);
      thrower::closed_by_move = &c;
      if (throws) {
        thrower::throws_in = 2;
        EXPECT_THROW(static_cast<void>(c.try_send(std::move(second))), thrown);
      } else {
        EXPECT_EQ(c.try_send(std::move(second)), queue_status::closed);
        EXPECT_EQ(*second, 2U);  // NOLINT(bugprone-use-after-move): it has it again
      }
      EXPECT_EQ(thrower::closed_by_move, nullptr);
      EXPECT_TRUE(c.is_closed());
      EXPECT_EQ(**c.receive(), 1U);
      EXPECT_EQ(c.receive().status(), queue_status::closed);
      c.reopen();
      for (const std::uint64_t number : {3U, 4U}) {
        ASSERT_EQ(c.try_send(thrower(number)), queue_status::success);
      }
      for (const std::uint64_t number : {3U, 4U}) {
        ASSERT_EQ(**c.try_receive(), number);
      }
      EXPECT_EQ(c.try_receive().status(), queue_status::empty);
    }
  }
  EXPECT_EQ(thrower::living, before);
}

/// Nodes that call a function whenever a thread has obtained one, and before it gives one back.
template <typename Memory, typename Node>
struct watched_nodes : list_nodes::fixed<Memory, Node> {
  using base = list_nodes::fixed<Memory, Node>;
  using base::base;
  std::uint64_t obtain() {
    const std::uint64_t result = base::obtain();
    if (watched_obtain) std::exchange(watched_obtain, nullptr)();
    return result;
  }
  void give_back(std::uint64_t node) {
    if (watched_give_back) std::exchange(watched_give_back, nullptr)();
    base::give_back(node);
  }
};
template <typename Memory, typename T>
using watched_segments = segment_list<Memory, T, watched_nodes, 2, false>;

/// Two sends have taken the last segments while others fill the channel. Then there is room, but a third send
/// finds no segment, and would wait. So the second, which returns its segment, must not say full.
TEST(channel_of_segments, has_room_once_a_segment_that_was_not_needed_is_back) {
  channel<int, watched_segments> c(3);
  ASSERT_EQ(c.try_send(0), queue_status::success);
  queue_status second = queue_status::closed;
  watched_obtain = [&] {
    watched_obtain = [&] {
      EXPECT_EQ(c.try_send(1), queue_status::success);
      EXPECT_EQ(c.try_send(2), queue_status::success);
      watched_give_back = [&] {
        EXPECT_EQ(*c.try_receive(), 0);
        EXPECT_EQ(c.try_send(3), queue_status::full);
      };
    };
    second = c.try_send(4);
  };
  EXPECT_EQ(c.try_send(5), queue_status::full);
  EXPECT_EQ(second, queue_status::success);
  for (const int message : {1, 2, 4}) EXPECT_EQ(*c.try_receive(), message);
}

/// Gives a thread that has begun to wait the time to sleep.
void let_sleep() { std::this_thread::sleep_for(5ms); }

/// A message that throws leaves a place or a message for which other threads wait. Unless they are woken,
/// they sleep for ever.
TEST_P(channel_of, wakes_who_waits_when_a_message_throws) {
  for (int round = 0; round < 3; ++round) {
    const auto made = GetParam().make<thrower>(1);
    auto& c = *made;
    std::jthread receiver([&] { EXPECT_EQ(**c.receive(), 2U); });
    let_sleep();
    thrower first(1);
    thrower::throws_in = 1;
    EXPECT_THROW(static_cast<void>(c.try_send(std::move(first))), thrown);
    EXPECT_EQ(c.send(thrower(2)), queue_status::success);
    receiver.join();
    if (c.capacity() != 1) continue;
    ASSERT_EQ(c.send(thrower(3)), queue_status::success);
    std::jthread sender([&] { EXPECT_EQ(c.send(thrower(4)), queue_status::success); });
    let_sleep();
    thrower::throws_in = 1;
    EXPECT_THROW(static_cast<void>(c.receive()), thrown);
    sender.join();
    EXPECT_EQ(**c.receive(), 4U);
  }
}

/// One thread, and a deque that tells the right result of each call.
TEST_P(channel_of, is_as_its_model) {
  std::mt19937 random(7);
  for (int round = 0; round < 100; ++round) {
    const auto made = GetParam().make<owned>(1 + random() % 5);
    auto& c = *made;
    const std::size_t capacity = c.capacity();
    std::deque<std::uint64_t> model;
    bool is_closed = false;
    for (std::uint64_t i = 0; i < 200; ++i) {
      const bool waits = random() % 2 == 0;
      switch (random() % 8) {
        case 0:
          if (random() % 4 == 0) {
            c.close();
            is_closed = true;
          }
          break;
        case 1:
          c.reopen();
          is_closed = false;
          break;
        case 2:
        case 3:
        case 4: {
          owned message(i);
          const queue_status status =
              waits ? c.send_until(std::move(message), 0ns) : c.try_send(std::move(message));
          if (is_closed) {
            EXPECT_EQ(status, queue_status::closed);
          } else if (model.size() == capacity) {
            EXPECT_EQ(status, waits ? queue_status::timed_out : queue_status::full);
          } else {
            EXPECT_EQ(status, queue_status::success);
            model.push_back(i);
          }
          break;
        }
        default: {
          const auto got = waits ? c.receive_until(0ns) : c.try_receive();
          if (!model.empty()) {
            ASSERT_TRUE(got);
            EXPECT_EQ(**got, model.front());
            model.pop_front();
          } else if (is_closed) {
            EXPECT_EQ(got.status(), queue_status::closed);
          } else {
            EXPECT_EQ(got.status(), waits ? queue_status::timed_out : queue_status::empty);
          }
        }
      }
      EXPECT_EQ(c.peek(), model.size());
      EXPECT_EQ(c.is_closed(), is_closed);
    }
  }
}

TEST(channel, waits_until_a_deadline) {
  channel<int> c(2);
  EXPECT_EQ(c.receive_for(1ms).status(), queue_status::timed_out);
  EXPECT_EQ(c.receive_until(0ns).status(), queue_status::timed_out);
  EXPECT_EQ(c.receive_until(std::chrono::nanoseconds::min()).status(), queue_status::timed_out);
  const int copied = 1;
  ASSERT_EQ(c.send_for(copied, 1h), queue_status::success);
  EXPECT_EQ(*c.receive_until(0ns), 1);  // a message that is already there wins over a deadline in the past
  std::jthread later([&] { EXPECT_EQ(c.send_for(2, 1h), queue_status::success); });
  EXPECT_EQ(*c.receive_for(std::chrono::hours::max()), 2);
}

TEST(channel, wakes_all_that_wait_when_it_is_closed) {
  channel<int> full(1);
  channel<int> empty(1);
  ASSERT_EQ(full.send(1), queue_status::success);
  std::vector<std::jthread> waiting;
  std::atomic<int> told = 0;
  for (int i = 0; i < 3; ++i) {
    waiting.emplace_back([&] { told += full.send(2) == queue_status::closed ? 1 : 0; });
    waiting.emplace_back([&] { told += empty.receive().status() == queue_status::closed ? 1 : 0; });
  }
  full.close();
  empty.close();
  waiting.clear();
  EXPECT_EQ(told, 6);
}

TEST(channel, refuses_what_it_cannot_be) {
  EXPECT_THROW(channel<int>(0), misuse);
  EXPECT_THROW(channel<int>(std::size_t{1} << 32U), misuse);
  threads::options two_nodes;
  two_nodes.topology = topology_spec::parse("node:2");
  threads::run(
      2, [](threads::world& w) { EXPECT_THROW((node_channel<threads::world, int>(w, 1)), misuse); },
      two_nodes);
  threads::run(2, [](threads::world& w) {
    EXPECT_THROW((node_channel<threads::world, int>(w, 1, 2)), unreachable_rank);
  });
}

TEST(channel, has_no_messages_that_are_reasons_or_references) {
  const auto can_send = []<typename T>(std::type_identity<T>) { return sendable<T>; };
  EXPECT_TRUE(can_send(std::type_identity<int>()));
  EXPECT_FALSE(can_send(std::type_identity<const int>()));
  EXPECT_FALSE(can_send(std::type_identity<int&>()));
  EXPECT_FALSE(can_send(std::type_identity<void>()));
  EXPECT_FALSE(can_send(std::type_identity<queue_status>()));
}

/// Can be made and moved only; its move may throw.
struct only_moved {
  explicit only_moved(std::uint64_t of) : number(of) {}
  only_moved(only_moved&& from) : number(from.number) {}  // NOLINT(performance-noexcept-move-constructor)
  only_moved& operator=(only_moved&&) = delete;
  ~only_moved() = default;
  std::uint64_t number;
};

TEST(channel, needs_of_a_message_that_it_can_be_moved) {
  const auto expect_sent = [](auto& c) {
    EXPECT_EQ(c.try_send(only_moved(3)), queue_status::success);
    c.close();
    EXPECT_EQ(c.try_send(only_moved(4)), queue_status::closed);
    const auto message = c.try_receive();
    ASSERT_TRUE(message);
    EXPECT_EQ(message->number, 3U);
  };
  channel<only_moved> by_default(1);
  expect_sent(by_default);
  channel<only_moved, ring_buffer> ring(1);
  expect_sent(ring);
  channel<only_moved, segments_of<list_nodes::heap>::mpmc> segments;
  expect_sent(segments);
  channel<only_moved, list_of<channel_lock::spin, list_nodes::heap>::mpmc> list;
  expect_sent(list);
}

// That moves a message early and hands it back, which must not fail half-way.
TEST(channel, says_beforehand_that_a_strategy_cannot_hand_a_message_back) {
  const auto each_by_concept = []<typename T>(std::type_identity<T>) {
    return std::array{sendable_by<T, spsc_ring>, sendable_by<T, spsc_list_of<list_nodes::heap>::spsc>,
                      sendable_by<T, lock_free_list_of<list_nodes::recycled>::mpmc>};
  };
  EXPECT_EQ(each_by_concept(std::type_identity<only_moved>()), (std::array{false, false, false}));
  EXPECT_EQ(each_by_concept(std::type_identity<thrower>()), (std::array{true, true, true}));
  EXPECT_EQ(each_by_concept(std::type_identity<const int>()), (std::array{false, false, false}));
  struct moved_safely {
    moved_safely() = default;
    moved_safely(moved_safely&&) noexcept {}
    moved_safely& operator=(moved_safely&&) = delete;
    ~moved_safely() = default;
  };
  EXPECT_EQ(each_by_concept(std::type_identity<moved_safely>()), (std::array{true, true, true}));
}

TEST(channel, has_its_room_when_a_message_has_thrown) {
  channel<thrower> c(2);
  const auto throw_when_sent = [&] {
    thrower::throws_in = 1;
    EXPECT_THROW(static_cast<void>(c.try_send(thrower(1))), thrown);
  };
  for (int i = 0; i < 3; ++i) {
    throw_when_sent();
    EXPECT_EQ(c.peek(), 0U);
  }
  EXPECT_EQ(c.try_send(thrower(2)), queue_status::success);
  throw_when_sent();
  EXPECT_EQ(c.try_send(thrower(2)), queue_status::success);
  EXPECT_EQ(c.try_send(thrower(2)), queue_status::full);
}

TEST(channel, ends_an_iteration_that_has_thrown) {
  channel<thrower> c(3);
  for (const std::uint64_t number : {1U, 2U, 3U})
    ASSERT_EQ(c.try_send(thrower(number)), queue_status::success);
  auto at = c.begin();
  ASSERT_NE(at, c.end());
  thrower::throws_in = 1;
  EXPECT_THROW(++at, thrown);
  EXPECT_EQ(at, c.end());
}

TEST(channel, takes_no_number_for_a_time_that_is_over) {
  channel<int> c(1);
  EXPECT_EQ(c.receive_for(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN())).status(),
            queue_status::timed_out);
}

}  // namespace
}  // namespace nearfar::testing
