// Byte channels of threads, and of a team's ranks on one node: at their limits, against a model, and under
// contention.
#include "nearfar/channel/byte_channel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "nearfar/channel/strategies.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/memory/threads/world.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/channel/byte_channel_cases.hpp"
#include "tests/channel/byte_channel_strategies.hpp"

namespace nearfar::testing {
namespace {

using namespace std::chrono_literals;

class byte_channel_of : public ::testing::TestWithParam<byte_channel_strategy> {};
INSTANTIATE_TEST_SUITE_P(every, byte_channel_of, ::testing::ValuesIn(byte_channel_strategies()),
                         [](const auto& of) { return std::string(of.param.name); });

[[nodiscard]] std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}
[[nodiscard]] std::string text_of(std::span<const std::byte> bytes) {
  std::string result(bytes.size(), ' ');
  std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

TEST_P(byte_channel_of, gives_what_was_sent_in_order_and_says_full_and_empty) {
  for (const std::size_t item_size : {1U, 63U, 64U, 65U, 4096U})
    for (const std::size_t capacity : {1U, 2U, 7U}) {
      const auto made = GetParam().make(item_size, capacity);
      any_byte_channel& c = *made;
      EXPECT_EQ(c.item_size(), item_size);
      EXPECT_EQ(c.capacity(), GetParam().capacity(capacity));
      for (int lap = 0; lap < 3; ++lap) {
        for (std::size_t i = 0; i < c.capacity(); ++i) {
          ASSERT_EQ(
              c.try_send(bytes_of(std::string(item_size - i % 2 * (item_size / 2), static_cast<char>(i)))),
              queue_status::success);
          EXPECT_EQ(c.peek(), i + 1);
        }
        EXPECT_EQ(c.try_send(bytes_of("x")), queue_status::full);
        EXPECT_EQ(c.try_reserve().status(), queue_status::full);
        for (std::size_t i = 0; i < c.capacity(); ++i) {
          const auto got = c.receive();
          ASSERT_TRUE(got);
          EXPECT_EQ(text_of(got->bytes()),
                    std::string(item_size - i % 2 * (item_size / 2), static_cast<char>(i)));
        }
        EXPECT_EQ(c.try_receive().status(), queue_status::empty);
      }
      ASSERT_EQ(c.try_send({}), queue_status::success);
      EXPECT_TRUE(c.receive()->bytes().empty());
    }
}

TEST_P(byte_channel_of, lends_frames_until_they_go_back) {
  const auto made = GetParam().make(100, 2);
  any_byte_channel& c = *made;
  const std::size_t all = c.capacity();
  {
    auto first = c.try_reserve();
    ASSERT_TRUE(first);
    EXPECT_EQ(first->bytes().size(), 100U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first->bytes().data()) % cache_line, 0U);
    if (all > 1) {
      auto second = c.reserve();
      EXPECT_GE(std::max(first->bytes().data(), second->bytes().data()) -
                    std::min(first->bytes().data(), second->bytes().data()),
                128);
      EXPECT_EQ(c.reserve_for(1ms).status(), queue_status::timed_out);
    }
  }
  for (std::size_t i = 0; i < 3 * all; ++i) EXPECT_TRUE(c.try_reserve());
  // A received item occupies its frame until the receiver gives it back.
  for (std::size_t i = 0; i < all; ++i) ASSERT_EQ(c.send(bytes_of("held")), queue_status::success);
  auto held = c.receive();
  EXPECT_EQ(c.try_reserve().status(), queue_status::full);
  held->give_back();
  held->give_back();
  auto frame = c.try_reserve();
  ASSERT_TRUE(frame);
  const auto moved = std::move(*frame);
  EXPECT_EQ(c.try_reserve().status(), queue_status::full);
  EXPECT_THROW(static_cast<void>(std::move(*frame).commit(1)), misuse);
}

TEST_P(byte_channel_of, shows_no_bytes_of_a_frame_that_is_given_away) {
  const auto made = GetParam().make(8, 2);
  any_byte_channel& c = *made;
  auto sent = c.reserve();
  EXPECT_EQ(std::move(*sent).commit(), queue_status::success);
  EXPECT_THROW(static_cast<void>(sent->bytes()), misuse);
  auto item = c.receive();
  item->give_back();
  EXPECT_THROW(static_cast<void>(item->bytes()), misuse);
  auto frame = c.reserve();
  const auto other = std::move(*frame);
  EXPECT_EQ(other.bytes().size(), 8U);
  EXPECT_THROW(static_cast<void>(frame->bytes()), misuse);
}
TEST_P(byte_channel_of, commits_in_place) {
  const auto made = GetParam().make(8, 3);
  any_byte_channel& c = *made;
  auto frame = c.reserve();
  std::ranges::fill(frame->bytes(), std::byte{7});
  EXPECT_EQ(c.try_receive().status(), queue_status::empty);
  EXPECT_THROW(static_cast<void>(std::move(*frame).commit(9)), misuse);
  const std::byte* at = frame->bytes().data();
  ASSERT_EQ(std::move(*frame).commit(), queue_status::success);
  {
    const auto got = c.receive();
    ASSERT_TRUE(got);
    EXPECT_EQ(got->bytes().data(), at);
    EXPECT_EQ(text_of(got->bytes()), std::string(8, 7));
  }
  // The items arrive in the order of their commits.
  if (c.capacity() > 1) {
    auto first = c.reserve();
    auto second = c.reserve();
    first->bytes()[0] = std::byte{1};
    second->bytes()[0] = std::byte{2};
    ASSERT_EQ(std::move(*second).commit(1), queue_status::success);
    ASSERT_EQ(std::move(*first).commit(1), queue_status::success);
    EXPECT_EQ(text_of(c.receive()->bytes()), "\2");
    EXPECT_EQ(text_of(c.receive()->bytes()), "\1");
  }
}

TEST_P(byte_channel_of, closes_gives_the_rest_and_opens_again) {
  const auto made = GetParam().make(8, 2);
  any_byte_channel& c = *made;
  ASSERT_EQ(c.send(bytes_of("sent")), queue_status::success);
  auto frame = c.try_reserve();
  c.close();
  EXPECT_TRUE(c.is_closed());
  EXPECT_EQ(c.reserve().status(), queue_status::closed);
  EXPECT_EQ(c.send(bytes_of("no")), queue_status::closed);
  if (frame) {
    EXPECT_EQ(std::move(*frame).commit(1), queue_status::closed);
  }
  EXPECT_EQ(text_of(c.receive()->bytes()), "sent");
  EXPECT_EQ(c.receive_for(1h).status(), queue_status::closed);
  c.reopen();
  EXPECT_FALSE(c.is_closed());
  for (std::size_t i = 0; i < c.capacity(); ++i)
    ASSERT_EQ(c.try_send(bytes_of("again")), queue_status::success);
  EXPECT_EQ(text_of(c.receive()->bytes()), "again");
}

TEST_P(byte_channel_of, refuses_what_is_too_large) {
  const auto made = GetParam().make(4, 2);
  any_byte_channel& c = *made;
  try {
    static_cast<void>(c.try_send(bytes_of("twelve bytes")));
    ADD_FAILURE() << "sent";
  } catch (const misuse& why) {
    EXPECT_NE(std::string(why.what()).find("12 bytes"), std::string::npos) << why.what();
    EXPECT_NE(std::string(why.what()).find("up to 4"), std::string::npos) << why.what();
  }
  ASSERT_EQ(c.send(bytes_of("four")), queue_status::success);
  std::array<std::byte, 4> large{};
  EXPECT_THROW(static_cast<void>(c.try_receive_into(std::span(large).first(3))), misuse);
  EXPECT_THROW(static_cast<void>(c.receive_into({})), misuse);
  const auto got = c.receive_into(large);
  ASSERT_TRUE(got);
  EXPECT_EQ(text_of(std::span(large).first(*got)), "four");
  EXPECT_EQ(c.try_receive_into(large).status(), queue_status::empty);
  c.close();
  EXPECT_EQ(c.receive_into(large).status(), queue_status::closed);
}

TEST(byte_channels, refuse_what_they_cannot_be) {
  EXPECT_THROW(byte_channel({.item_size = 0, .capacity = 1}), misuse);
  EXPECT_THROW(byte_channel({.item_size = 1, .capacity = 0}), misuse);
  EXPECT_THROW(byte_channel({.item_size = 1, .capacity = std::size_t{1} << 32U}), misuse);
  EXPECT_THROW(byte_channel({.item_size = std::numeric_limits<std::size_t>::max(), .capacity = 1}), misuse);
  EXPECT_THROW(byte_channel({.item_size = std::size_t{1} << 60U, .capacity = 16}), misuse);
  EXPECT_THROW(byte_channel<mailbox>({.item_size = 1, .capacity = 2}), misuse);
  threads::options two_nodes;
  two_nodes.topology = topology_spec::parse("node:2");
  const auto make = [](threads::world& w, std::size_t item_size) {
    node_byte_channel<threads::world>(w, {.item_size = item_size, .capacity = 1});
  };
  threads::run(
      2, [&](threads::world& w) { EXPECT_THROW(make(w, 1), misuse); }, two_nodes);
  threads::run(2, [&](threads::world& w) {
    EXPECT_THROW(make(w, 0), misuse);
    EXPECT_THROW(make(w, 60 + static_cast<std::size_t>(w.rank())), collective_mismatch);
    EXPECT_THROW(make(w, std::size_t{1} << 40U), out_of_memory);
  });
}

TEST(byte_channels, wait_until_a_deadline_or_are_woken) {
  byte_channel c({.item_size = 8, .capacity = 1});
  EXPECT_EQ(c.receive_for(1ms).status(), queue_status::timed_out);
  EXPECT_EQ(c.receive_until(0ns).status(), queue_status::timed_out);
  ASSERT_EQ(c.send_for(bytes_of("one"), 1h), queue_status::success);
  EXPECT_EQ(c.send_for(bytes_of("two"), 1ms), queue_status::timed_out);
  EXPECT_EQ(c.send_until(bytes_of("two"), 0ns), queue_status::timed_out);
  EXPECT_EQ(c.reserve_until(0ns).status(), queue_status::timed_out);
  {
    auto held = c.receive();
    std::jthread later([&] { EXPECT_EQ(c.send_for(bytes_of("three"), 1h), queue_status::success); });
    std::this_thread::sleep_for(5ms);
    held->give_back();
    EXPECT_EQ(text_of(c.receive_for(1h)->bytes()), "three");
  }
  // A thread that waits for a frame wakes when one goes back uncommitted, and when the channel is closed.
  auto reserved = c.reserve();
  std::jthread first([&] { EXPECT_TRUE(c.reserve()); });
  std::this_thread::sleep_for(5ms);
  reserved->give_back();
  first.join();
  reserved = c.reserve();
  std::jthread second([&] { EXPECT_EQ(c.reserve().status(), queue_status::closed); });
  std::jthread third([&] { EXPECT_EQ(c.receive().status(), queue_status::closed); });
  std::this_thread::sleep_for(5ms);
  c.close();
}

/// One thread, and deques that tell the right result of each call.
TEST_P(byte_channel_of, is_as_its_model) {
  std::mt19937 random(11);
  for (int round = 0; round < 60; ++round) {
    const std::size_t item_size = 1 + random() % 200;
    const auto made = GetParam().make(item_size, 1 + random() % 5);
    any_byte_channel& c = *made;
    std::deque<std::string> sent;
    std::vector<any_byte_channel::frame> reserved;
    std::vector<std::pair<any_byte_channel::item, std::string>> held;
    bool is_closed = false;
    for (int i = 0; i < 300; ++i) {
      const bool waits = random() % 2 == 0;
      const std::string text(random() % (item_size + 1), static_cast<char>(i));
      const bool has_room = sent.size() + reserved.size() + held.size() < c.capacity();
      const queue_status of_room = is_closed  ? queue_status::closed
                                   : has_room ? queue_status::success
                                   : waits    ? queue_status::timed_out
                                              : queue_status::full;
      switch (random() % 10) {
        case 0:
          is_closed = random() % 2 == 0;
          if (is_closed)
            c.close();
          else
            c.reopen();
          break;
        case 1:
        case 2: {
          auto frame = waits ? c.reserve_until(0ns) : c.try_reserve();
          EXPECT_EQ(frame.status(), of_room);
          if (frame) reserved.push_back(*std::move(frame));
          break;
        }
        case 3:
        case 4:
          if (!reserved.empty()) {
            std::memcpy(reserved.back().bytes().data(), text.data(), text.size());
            EXPECT_EQ(std::move(reserved.back()).commit(text.size()),
                      is_closed ? queue_status::closed : queue_status::success);
            reserved.pop_back();
            if (!is_closed) sent.push_back(text);
          }
          break;
        case 5:
          if (!reserved.empty()) reserved.erase(reserved.begin());
          break;
        case 6: {
          const auto status = waits ? c.send_until(bytes_of(text), 0ns) : c.try_send(bytes_of(text));
          EXPECT_EQ(status, of_room);
          if (status == queue_status::success) sent.push_back(text);
          break;
        }
        case 7:
        case 8: {
          auto got = waits ? c.receive_until(0ns) : c.try_receive();
          if (!sent.empty()) {
            ASSERT_TRUE(got);
            held.emplace_back(*std::move(got), sent.front());
            sent.pop_front();
          } else {
            EXPECT_EQ(got.status(), is_closed ? queue_status::closed
                                    : waits   ? queue_status::timed_out
                                              : queue_status::empty);
          }
          break;
        }
        default:
          if (!held.empty()) held.erase(held.begin() + static_cast<std::ptrdiff_t>(random() % held.size()));
      }
      for (const auto& [item, wanted] : held) EXPECT_EQ(text_of(item.bytes()), wanted);
      EXPECT_EQ(c.peek(), sent.size());
      EXPECT_EQ(c.is_closed(), is_closed);
    }
  }
}

/// Several threads send items of all sizes up to the largest, and give some up. Each item arrives whole, once
/// and in order.
TEST_P(byte_channel_of, loses_nothing_and_tears_nothing) {
  constexpr std::uint64_t count = 1000;
  for (const std::size_t item_size : {1U, 16U, 100U, 4096U})
    for (const std::size_t capacity : {1U, 3U, 32U}) {
      const auto made = GetParam().make(item_size, capacity);
      any_byte_channel& c = *made;
      const int senders = GetParam().has_one_sender ? 1 : 3;
      const int receivers = GetParam().has_one_receiver ? 1 : 2;
      std::vector<byte_traffic> all(static_cast<std::size_t>(receivers));
      {
        std::vector<std::jthread> receiving;
        for (byte_traffic& mine : all)
          receiving.emplace_back([&] {
            for (const auto& item : c) mine.note(item.bytes());
          });
        {
          std::vector<std::jthread> sending;
          for (int sender = 0; sender < senders; ++sender)
            sending.emplace_back([&c, sender] { send_items(c, sender, count); });
        }
        c.close();
      }
      byte_traffic sums;
      for (const byte_traffic& mine : all) sums += mine;
      EXPECT_EQ(sums.got, count * static_cast<std::uint64_t>(senders));
      EXPECT_EQ(sums.sum, sum_of_items(item_size, senders, count));
      EXPECT_EQ(sums.wrong, 0U);
      EXPECT_EQ(c.peek(), 0U);
      // All frames are free again.
      c.reopen();
      std::vector<any_byte_channel::frame> frames;
      for (std::size_t i = 0; i < c.capacity(); ++i) {
        auto frame = c.try_reserve();
        ASSERT_TRUE(frame);
        frames.push_back(*std::move(frame));
      }
      EXPECT_EQ(c.try_reserve().status(), queue_status::full);
    }
}

/// The channel is closed and opened again while others send and receive. Every committed item is received in
/// the end.
TEST_P(byte_channel_of, loses_nothing_when_it_is_closed_in_the_middle) {
  const auto made = GetParam().make(64, 4);
  any_byte_channel& c = *made;
  std::atomic<int> sent = 0;
  std::atomic<int> got = 0;
  std::atomic<bool> is_over = false;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < (GetParam().has_one_sender ? 1 : 2); ++i)
      threads.emplace_back([&] {
        while (!is_over) {
          auto frame = c.reserve_for(1ms);
          if (!frame) {
            std::this_thread::yield();
            continue;
          }
          std::ranges::fill(frame->bytes(), std::byte{1});
          sent += std::move(*frame).commit() == queue_status::success ? 1 : 0;
        }
      });
    for (int i = 0; i < (GetParam().has_one_receiver ? 1 : 2); ++i)
      threads.emplace_back([&] {
        while (!is_over) {
          const auto item = c.receive_for(1ms);
          if (!item) continue;
          EXPECT_EQ(std::ranges::count(item->bytes(), std::byte{1}), 64);
          ++got;
        }
      });
    for (int i = 0; i < 50; ++i) {
      c.close();
      while (c.peek() != 0) std::this_thread::yield();
      c.reopen();
      const int before = sent;
      while (sent == before) std::this_thread::yield();
    }
    is_over = true;
  }
  while (c.try_receive()) ++got;
  EXPECT_EQ(got, sent);
}

TEST(node_byte_channels, lose_nothing_between_ranks) {
  for (const int ranks : {1, 2, 4})
    for (const std::size_t item_size : {16U, 1000U})
      threads::run(ranks, [&](threads::world& w) {
        expect_items_arrive(w, {.item_size = item_size, .capacity = 3}, w.size() - 1, 1000);
      });
}

}  // namespace
}  // namespace nearfar::testing
