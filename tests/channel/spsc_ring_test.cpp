// The ring from one sender to one receiver.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "nearfar/channel/channel.hpp"
#include "nearfar/channel/strategies.hpp"

namespace nearfar::testing {
namespace {

/// With this capacity either side gives the other a moment.
TEST(channel, from_one_to_one_tells_full_and_empty_exactly_after_a_moment) {
  constexpr std::uint64_t capacity = 512;
  channel<std::uint64_t, spsc_ring> c(capacity);
  std::uint64_t sent = 0;
  std::uint64_t got = 0;
  const auto send_until_full = [&] {
    const std::uint64_t before = sent;
    while (sent - before <= capacity && c.try_send(sent) == queue_status::success) ++sent;
    return sent - before;
  };
  const auto receive = [&](std::uint64_t most) {
    for (; most != 0; --most, ++got) {
      const auto message = c.try_receive();
      if (!message) return message.status();
      EXPECT_EQ(*message, got);
    }
    return queue_status::success;
  };
  EXPECT_EQ(send_until_full(), capacity);
  for (const std::uint64_t room : {1U, 7U, 8U, 62U, 63U, 64U, 65U, 511U, 512U}) {
    EXPECT_EQ(receive(room), queue_status::success);
    EXPECT_EQ(send_until_full(), room);
    EXPECT_EQ(c.try_send(0), queue_status::full);
  }
  EXPECT_EQ(receive(capacity + 1), queue_status::empty);
  EXPECT_EQ(got, sent);
  for (const std::uint64_t there : {1U, 7U, 8U, 9U, 512U}) {
    for (std::uint64_t i = 0; i < there; ++i) EXPECT_EQ(c.try_send(sent++), queue_status::success);
    EXPECT_EQ(receive(there + 1), queue_status::empty);
    EXPECT_EQ(receive(1), queue_status::empty);
    EXPECT_EQ(got, sent);
  }
  c.close();
  EXPECT_EQ(receive(1), queue_status::closed);
}

/// As many messages as fit share a line with its stamp.
template <typename T, typename Make>
void expect_rounds_of_any_length(const Make& make) {
  for (std::size_t capacity = 1; capacity <= 70; ++capacity) {
    channel<T, spsc_ring> c(capacity);
    std::uint64_t sent = 0;
    std::uint64_t got = 0;
    for (std::size_t at_once = 1; at_once <= capacity; ++at_once) {
      for (std::size_t i = 0; i < at_once; ++i) ASSERT_EQ(c.try_send(make(sent++)), queue_status::success);
      if (at_once == capacity) {
        ASSERT_EQ(c.try_send(make(sent)), queue_status::full);
      }
      ASSERT_EQ(c.peek(), at_once);
      if (at_once % 2 == 0) {
        for (std::size_t i = 0; i < at_once; ++i) ASSERT_EQ(*c.try_receive(), make(got++));
      } else {
        std::vector<T> several;
        while (several.size() < at_once) {
          ASSERT_NE(c.try_receive_range(std::back_inserter(several), 5).count, 0U);
        }
        ASSERT_EQ(several.size(), at_once);
        for (const T& one : several) ASSERT_EQ(one, make(got++));
      }
      ASSERT_EQ(c.try_receive().status(), queue_status::empty);
    }
    // The channel's destructor destroys the messages left in it.
    ASSERT_EQ(c.try_send(make(sent)), queue_status::success);
  }
}

TEST(channel, from_one_to_one_holds_messages_of_any_size_in_lines) {
  expect_rounds_of_any_length<std::uint8_t>([](std::uint64_t i) { return static_cast<std::uint8_t>(i); });
  expect_rounds_of_any_length<std::uint64_t>([](std::uint64_t i) { return i; });
  expect_rounds_of_any_length<std::array<char, 5>>([](std::uint64_t i) {
    return std::array{static_cast<char>(i % 100), '1', '2', '3', '4'};
  });
  expect_rounds_of_any_length<std::array<std::uint64_t, 7>>(
      [](std::uint64_t i) { return std::array<std::uint64_t, 7>{i, 1, 2, 3, 4, 5, i}; });
  expect_rounds_of_any_length<std::array<std::uint64_t, 9>>(
      [](std::uint64_t i) { return std::array<std::uint64_t, 9>{i, 1, 2, 3, 4, 5, 6, 7, i}; });
  expect_rounds_of_any_length<std::string>(
      [](std::uint64_t i) { return std::to_string(i) + " is long enough"; });
  struct alignas(16) wide {
    std::uint64_t number;
    bool operator==(const wide&) const = default;
  };
  expect_rounds_of_any_length<wide>([](std::uint64_t i) { return wide{i}; });
  struct alignas(128) apart {
    std::uint64_t number;
    bool operator==(const apart&) const = default;
  };
  expect_rounds_of_any_length<apart>([](std::uint64_t i) { return apart{i}; });
}

TEST(channel, from_one_to_one_loses_nothing_of_a_stream_that_is_closed_and_opened) {
  constexpr std::uint64_t messages = 300'000;
  channel<std::uint64_t, spsc_ring> c(512);
  std::atomic<bool> is_over = false;
  std::jthread closer([&] {
    while (!is_over.load()) {
      c.close();
      c.reopen();
      std::this_thread::yield();
    }
  });
  std::jthread sender([&] {
    for (std::uint64_t i = 0; i < messages;)
      if (c.try_send(i) == queue_status::success)
        ++i;
      else
        std::this_thread::yield();
  });
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < messages;) {
    const auto message = c.try_receive();
    if (message)
      wrong += *message == i++ ? 0U : 1U;
    else
      std::this_thread::yield();
  }
  is_over = true;
  EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace nearfar::testing
