/// \file Programs for channels between ranks, and the checks of what arrives through any of them.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nearfar/channel/channel.hpp"
#include "nearfar/core/world.hpp"

namespace nearfar::testing {

/// A message names its sender and its number.
[[nodiscard]] inline std::uint64_t message_of(int sender, std::uint64_t number) {
  return static_cast<std::uint64_t>(sender) << 32U | number;
}

/// The messages that have come to one receiver.
struct traffic {
  std::uint64_t got = 0;
  std::uint64_t sum = 0;
  std::uint64_t wrong = 0;
  std::vector<std::uint64_t> least;

  void note(std::uint64_t message) {
    const std::uint64_t from = message >> 32U;
    const std::uint64_t number = message & 0xffffffffU;
    if (from >= least.size()) least.resize(from + 1);
    if (number < least[from]) ++wrong;
    least[from] = number + 1;
    ++got;
    sum += number;
  }
  traffic& operator+=(const traffic& other) {
    got += other.got;
    sum += other.sum;
    wrong += other.wrong;
    return *this;
  }
};

/// All ranks except the first send `count` messages, and the first receives them all. A single rank also
/// sends. Collective.
template <world W>
void expect_messages_arrive(W& w, std::size_t capacity, int home, std::uint64_t count) {
  node_channel<W, std::uint64_t> channel(w, capacity, home);
  traffic mine;
  if (w.size() == 1) {
    for (std::uint64_t i = 0; i < count; ++i) {
      ASSERT_EQ(channel.send(message_of(0, i)), queue_status::success);
      mine.note(*channel.receive());
    }
  } else if (w.rank() == 0) {
    const std::uint64_t all = count * static_cast<std::uint64_t>(w.size() - 1);
    for (std::uint64_t i = 0; i < all; ++i) mine.note(*channel.receive());
    EXPECT_EQ(mine.got, all);
    EXPECT_EQ(mine.sum, count * (count - 1) / 2 * static_cast<std::uint64_t>(w.size() - 1));
  } else {
    for (std::uint64_t i = 0; i < count; ++i)
      ASSERT_EQ(channel.send(message_of(w.rank(), i)), queue_status::success);
  }
  EXPECT_EQ(mine.wrong, 0U);
  w.barrier();
  EXPECT_EQ(channel.try_receive().status(), queue_status::empty);
  w.barrier();
  // All ranks except the first sleep until the channel closes.
  if (w.rank() == 0)
    channel.close();
  else
    EXPECT_EQ(channel.receive().status(), queue_status::closed);
  EXPECT_EQ(channel.send(1), queue_status::closed);
  w.barrier();
}

}  // namespace nearfar::testing
