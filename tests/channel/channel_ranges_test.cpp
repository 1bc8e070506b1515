// Several messages at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <memory>
#include <random>
#include <ranges>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "nearfar/channel/channel.hpp"
#include "tests/channel/channel_cases.hpp"
#include "tests/channel/channel_strategies.hpp"

namespace nearfar::testing {
namespace {

class channel_with_ranges : public ::testing::TestWithParam<channel_strategy> {};
INSTANTIATE_TEST_SUITE_P(every, channel_with_ranges, ::testing::ValuesIn(channel_strategies()),
                         name_of_strategy);

TEST_P(channel_with_ranges, sends_and_receives_several_at_once) {
  const auto c = GetParam().make<owned>(4);
  const std::size_t room = std::min<std::size_t>(c->capacity(), 4);
  const std::vector<owned> messages{owned(1), owned(2), owned(3), owned(4)};
  std::vector<owned> got;
  EXPECT_EQ(c->try_receive_range(got, 4).status, queue_status::empty);
  EXPECT_EQ(c->try_receive_range(got, 0).status, queue_status::success);
  EXPECT_EQ(c->receive_range(got, 0).status, queue_status::success);
  EXPECT_EQ(c->try_send_range(std::vector<owned>()).status, queue_status::success);
  for (int lap = 0; lap < 5; ++lap) {
    const auto sent = c->try_send_range(messages);
    EXPECT_EQ(sent.count, room);
    EXPECT_EQ(sent.status, room == 4 ? queue_status::success : queue_status::full);
    EXPECT_EQ(c->peek(), room);
    got.clear();
    const auto first = c->receive_range(got, 1);
    EXPECT_EQ(first.count, 1U);
    const auto rest = c->try_receive_range(got, 9);
    EXPECT_EQ(rest.count, room - 1);
    EXPECT_EQ(rest.status, room == 1 ? queue_status::empty : queue_status::success);
    EXPECT_EQ(got, std::vector(messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(room)));
  }
  ASSERT_EQ(c->send_range(std::vector{messages[0]}).status, queue_status::success);
  c->close();
  const auto none = c->send_range(messages);
  EXPECT_EQ(none.count, 0U);
  EXPECT_EQ(none.status, queue_status::closed);
  EXPECT_EQ(c->receive_range(got, 2).count, 1U);
  EXPECT_EQ(c->receive_range(got, 2).status, queue_status::closed);
  EXPECT_EQ(c->try_receive_range(got, 2).status, queue_status::closed);
}

TEST_P(channel_with_ranges, moves_from_what_it_sends_of_a_range_and_leaves_the_rest) {
  const auto c = GetParam().make<owned>(2);
  const std::size_t room = std::min<std::size_t>(c->capacity(), 3);
  std::vector<owned> messages;
  for (std::uint64_t i = 0; i < 3; ++i) messages.emplace_back(i);
  const auto sent = c->try_send_range(std::move(messages));
  EXPECT_EQ(sent.count, room);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(!messages[i], i < room);  // NOLINT(bugprone-use-after-move): the test is about it
  std::vector<owned> got;
  EXPECT_EQ(c->receive_range(got, 3).count, room);
  for (std::size_t i = 0; i < room; ++i) EXPECT_EQ(*got[i], i);
  c->close();
  messages.clear();
  messages.emplace_back(7);
  EXPECT_EQ(c->send_range(std::move(messages)).status, queue_status::closed);
  EXPECT_EQ(*messages[0], 7U);  // NOLINT(bugprone-use-after-move)
}

bool has_room_for_ranges(const channel_strategy& one) { return one.make<std::uint64_t>(4)->capacity() >= 4; }

class channel_with_room_for_ranges : public ::testing::TestWithParam<channel_strategy> {};
INSTANTIATE_TEST_SUITE_P(every, channel_with_room_for_ranges,
                         ::testing::ValuesIn(channel_strategies_where(&has_room_for_ranges)),
                         name_of_strategy);

TEST_P(channel_with_room_for_ranges, goes_on_when_one_of_several_throws) {
  const int before = thrower::living;
  {
    const auto made = GetParam().make<thrower>(4);
    auto& c = *made;
    ASSERT_GE(c.capacity(), 4U);
    for (int lap = 0; lap < 5; ++lap) {
      std::vector<thrower> messages;
      messages.reserve(3);
      for (std::uint64_t i = 0; i < 3; ++i) messages.emplace_back(i);
      thrower::throws_in = 3;
      EXPECT_THROW(static_cast<void>(c.try_send_range(std::move(messages))), thrown);
      EXPECT_EQ(**c.receive(), 0U);
      EXPECT_EQ(**c.receive(), 1U);
      EXPECT_EQ(c.try_receive().status(), queue_status::empty);
      // NOLINTNEXTLINE(bugprone-use-after-move): unsent messages are still in it
      messages.erase(messages.begin(), messages.begin() + 2);
      ASSERT_EQ(c.send_range(std::move(messages)).count, 1U);
      ASSERT_EQ(c.try_send(thrower(3)), queue_status::success);
      std::vector<thrower> got;
      got.reserve(4);
      thrower::throws_in = 1;
      EXPECT_THROW(static_cast<void>(c.try_receive_range(got, 4)), thrown);
      EXPECT_EQ(**c.receive(), 3U);
      EXPECT_EQ(c.try_receive().status(), queue_status::empty);
    }
    std::vector<thrower> left;
    left.emplace_back(1);
    ASSERT_EQ(c.send_range(std::move(left)).count, 1U);
  }
  EXPECT_EQ(thrower::living, before);
}

TEST_P(channel_with_ranges, is_as_its_model) {
  std::mt19937 random(13);
  for (int round = 0; round < 100; ++round) {
    const auto made = GetParam().make<owned>(1 + random() % 7);
    auto& c = *made;
    std::deque<std::uint64_t> model;
    bool is_closed = false;
    std::uint64_t next = 0;
    for (int i = 0; i < 200; ++i) {
      const std::size_t many = random() % 6;
      switch (random() % 8) {
        case 0:
          is_closed = random() % 4 == 0;
          if (is_closed)
            c.close();
          else
            c.reopen();
          break;
        case 1:
        case 2:
        case 3: {
          std::vector<owned> messages;
          for (std::size_t one = 0; one < many; ++one) messages.emplace_back(next + one);
          const std::size_t wanted = is_closed ? 0 : std::min(many, c.capacity() - model.size());
          const bool may_wait = is_closed || wanted == many;
          const auto sent = may_wait && random() % 2 == 0 ? c.send_range(std::move(messages))
                                                          : c.try_send_range(std::move(messages));
          EXPECT_EQ(sent.count, wanted);
          EXPECT_EQ(sent.status, wanted == many ? queue_status::success
                                 : is_closed    ? queue_status::closed
                                                : queue_status::full);
          for (std::size_t one = 0; one < wanted; ++one) model.push_back(next++);
          break;
        }
        case 4: {
          const auto status = c.try_send(owned(next));
          if (status == queue_status::success) model.push_back(next++);
          break;
        }
        case 5: {
          const auto got = c.try_receive();
          ASSERT_EQ(got.has_value(), !model.empty());
          if (got) {
            EXPECT_EQ(**got, model.front());
            model.pop_front();
          }
          break;
        }
        default: {
          std::vector<owned> got;
          const bool may_wait = is_closed || !model.empty();
          const auto result =
              may_wait && random() % 2 == 0 ? c.receive_range(got, many) : c.try_receive_range(got, many);
          EXPECT_EQ(result.count, std::min(many, model.size()));
          ASSERT_EQ(got.size(), result.count);
          EXPECT_EQ(result.status, result.count != 0 || many == 0 ? queue_status::success
                                   : is_closed                    ? queue_status::closed
                                                                  : queue_status::empty);
          for (const auto& one : got) {
            EXPECT_EQ(*one, model.front());
            model.pop_front();
          }
        }
      }
      EXPECT_EQ(c.peek(), model.size());
    }
  }
}

TEST_P(channel_with_ranges, loses_nothing_of_what_is_sent_in_ranges) {
  for (const std::size_t capacity : {1U, 3U, 64U}) {
    constexpr std::uint64_t count = 2000;
    const std::uint64_t senders = GetParam().has_one_sender ? 1 : 3;
    const auto c = GetParam().make<std::uint64_t>(capacity);
    std::vector<traffic> all(GetParam().has_one_receiver ? 1 : 3);
    {
      std::vector<std::jthread> receiving;
      for (traffic& mine : all)
        receiving.emplace_back([&] {
          for (std::size_t most = 1;; most = most % 10 + 1) {
            std::vector<std::uint64_t> got;
            const auto result = c->receive_range(got, most);
            if (result.status == queue_status::closed) return;
            EXPECT_TRUE(result.count == got.size() && result.count >= 1 && result.count <= most);
            for (const std::uint64_t message : got) mine.note(message);
          }
        });
      std::vector<std::jthread> sending;
      for (std::uint64_t sender = 0; sender < senders; ++sender)
        sending.emplace_back([&c, sender] {
          std::vector<std::uint64_t> messages;
          for (std::uint64_t i = 0; i < count; ++i) {
            messages.push_back(sender << 32U | i);
            if (messages.size() < i % 9 && i + 1 < count) continue;
            const auto sent = c->send_range(messages);
            EXPECT_EQ(sent.count, messages.size());
            messages.clear();
          }
        });
      sending.clear();
      c->close();
    }
    traffic sums;
    for (const traffic& mine : all) sums += mine;
    EXPECT_EQ(sums.got, count * senders);
    EXPECT_EQ(sums.sum, count * (count - 1) / 2 * senders);
    EXPECT_EQ(sums.wrong, 0U);
  }
}

/// Uses the real futex; checked_channel.wakes_all_for_whom_there_is_something_in_a_range is the same for the
/// model. Waiting threads mostly sleep when the range comes. The test never ends if one of them is not woken.
TEST(channel, wakes_all_for_whom_there_is_something_in_a_range) {
  constexpr int rounds = 300;
  constexpr int yields = 300;
  channel<int> c(8);
  std::atomic<int> got = 0;
  std::vector<std::jthread> waiting;
  for (int i = 0; i < 3; ++i)
    waiting.emplace_back([&] {
      // A thread that comes too early for the next round waits until all have got a message.
      for (int round = 0; round < rounds; ++round) {
        while (got < 3 * round) std::this_thread::yield();
        EXPECT_TRUE(c.receive());
        ++got;
      }
    });
  for (int round = 0; round < rounds; ++round) {
    while (got < 3 * round) std::this_thread::yield();
    for (int i = 0; i < yields; ++i) std::this_thread::yield();
    EXPECT_EQ(c.send_range(std::array{1, 2, 3}).count, 3U);
  }
}

/// The same for a thread that makes room for several.
TEST(channel, wakes_all_for_whom_a_range_has_made_room) {
  constexpr int rounds = 300;
  constexpr int yields = 300;
  channel<int> c(3);
  std::atomic<int> sent = 0;
  std::vector<std::jthread> waiting;
  for (int i = 0; i < 3; ++i)
    waiting.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) {
        while (sent < 3 * round) std::this_thread::yield();
        EXPECT_EQ(c.send(round), queue_status::success);
        ++sent;
      }
    });
  std::vector<int> got;
  for (int round = 0; round < rounds; ++round) {
    while (sent < 3 * round) std::this_thread::yield();
    // First the senders have room, and then none.
    while (c.peek() < 3) std::this_thread::yield();
    for (int i = 0; i < yields; ++i) std::this_thread::yield();
    while (got.size() < 3 * (static_cast<std::size_t>(round) + 1))
      EXPECT_TRUE(c.receive_range(std::back_inserter(got), 3).count > 0);
  }
}

TEST(channel, tells_who_waits_of_what_was_sent_before_a_range_threw) {
  constexpr int rounds = 300;
  channel<thrower> c(4);
  std::atomic<int> got = 0;
  std::jthread waiting([&] {
    for (; got < rounds; ++got) EXPECT_TRUE(c.receive());
  });
  for (int round = 0; round < rounds; ++round) {
    while (got < round) std::this_thread::yield();
    for (int i = 0; i < 100; ++i) std::this_thread::yield();
    std::vector<thrower> messages;
    messages.reserve(2);
    messages.emplace_back(1);
    messages.emplace_back(2);
    thrower::throws_in = 2;
    EXPECT_THROW(static_cast<void>(c.send_range(std::move(messages))), thrown);
  }
}

TEST(channel, brings_a_range_to_whatever_takes_it) {
  channel<std::string> c(4);
  const std::array<std::string, 2> messages{"copied", "twice"};
  std::array<std::string, 3> got;
  for (int lap = 0; lap < 2; ++lap) {
    EXPECT_EQ(c.send_range(messages).count, 2U);
    EXPECT_EQ(c.receive_range(got.begin(), got.size()).count, 2U);
    EXPECT_TRUE(std::equal(messages.begin(), messages.end(), got.begin()));
  }
}

template <typename C, typename R>
concept sends_range = requires(C& c, R&& range) { c.try_send_range(std::forward<R>(range)); };

// A range that is converted on the way would be lost in an attempt that finds no room. A pointer is no owner,
// and a number no container.
TEST(channel, refuses_ranges_whose_elements_would_be_lost) {
  using text = std::variant<int, std::string>;
  EXPECT_TRUE((sends_range<channel<text>, std::vector<std::string>&>));
  EXPECT_FALSE((sends_range<channel<text>, std::vector<std::string>>));
  EXPECT_TRUE((sends_range<channel<text>, std::vector<text>>));
  using owner = std::unique_ptr<int>;
  EXPECT_TRUE((sends_range<channel<owner>, std::vector<owner>>));
  EXPECT_FALSE((sends_range<channel<owner>, std::vector<owner>&>));
  EXPECT_FALSE((sends_range<channel<owner>, std::vector<int*>&>));
  EXPECT_FALSE((sends_range<channel<std::vector<int>>, std::vector<int>&>));
  EXPECT_TRUE((sends_range<channel<long>, std::vector<int>&>));
  EXPECT_TRUE((sends_range<channel<int>, std::ranges::iota_view<int, int>>));
}

}  // namespace
}  // namespace nearfar::testing
