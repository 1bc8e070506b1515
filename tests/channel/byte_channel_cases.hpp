/// \file Items for byte channels, and the checks of what arrives through any of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "nearfar/channel/byte_channel.hpp"
#include "nearfar/core/world.hpp"

namespace nearfar::testing {

/// An item says its sender, its number and its length, if it has room for that. Its other bytes follow from
/// these.
struct item_head {
  std::uint32_t sender;
  std::uint32_t number;
  std::uint64_t length;
};

[[nodiscard]] inline std::size_t length_of(std::size_t item_size, int sender, std::uint64_t number) {
  if (item_size <= sizeof(item_head)) return item_size;
  const std::uint64_t spread = number * 2'654'435'761U + static_cast<std::uint64_t>(sender);
  return sizeof(item_head) + static_cast<std::size_t>(spread % (item_size - sizeof(item_head) + 1));
}
[[nodiscard]] inline std::byte filling_of(std::uint64_t number, std::size_t index) {
  return static_cast<std::byte>((number * 31 + index * 7) & 0xffU);
}
inline void write_item(std::span<std::byte> to, int sender, std::uint64_t number) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = filling_of(number, i);
  if (to.size() < sizeof(item_head)) return;
  const item_head head{.sender = static_cast<std::uint32_t>(sender),
                       .number = static_cast<std::uint32_t>(number),
                       .length = to.size()};
  std::memcpy(to.data(), &head, sizeof head);
}
[[nodiscard]] inline std::uint64_t sum_of(std::span<const std::byte> bytes) {
  std::uint64_t result = 0;
  for (const std::byte one : bytes) result += static_cast<std::uint64_t>(one);
  return result;
}
/// The sum of all items that `send_items` sends.
[[nodiscard]] inline std::uint64_t sum_of_items(std::size_t item_size, int senders, std::uint64_t count) {
  std::uint64_t result = 0;
  std::vector<std::byte> bytes(item_size);
  for (int sender = 0; sender < senders; ++sender)
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::span item(bytes.data(), length_of(item_size, sender, i));
      write_item(item, sender, i);
      result += sum_of(item);
    }
  return result;
}

/// Sends in place and by a copy, and now and then gives a reserved frame back.
template <typename Channel>
void send_items(Channel& channel, int sender, std::uint64_t count) {
  std::vector<std::byte> copied(channel.item_size());
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::size_t length = length_of(channel.item_size(), sender, i);
    if (i % 7 == 0) {
      const auto in_vain = channel.reserve();
      ASSERT_TRUE(in_vain);
      std::ranges::fill(in_vain->bytes(), std::byte{255});
    }
    if (i % 3 == 0) {
      const std::span item(copied.data(), length);
      write_item(item, sender, i);
      ASSERT_EQ(channel.send(item), queue_status::success);
    } else {
      auto frame = channel.reserve();
      ASSERT_TRUE(frame);
      write_item(frame->bytes().first(length), sender, i);
      ASSERT_EQ(std::move(*frame).commit(length), queue_status::success);
    }
  }
}

/// The items that have come to one receiver.
struct byte_traffic {
  std::uint64_t got = 0;
  std::uint64_t sum = 0;
  std::uint64_t wrong = 0;
  std::vector<std::uint64_t> least;

  void note(std::span<const std::byte> item) {
    ++got;
    sum += sum_of(item);
    if (item.size() < sizeof(item_head)) return;
    item_head head{};
    std::memcpy(&head, item.data(), sizeof head);
    if (head.sender >= least.size()) least.resize(head.sender + 1);
    bool is_whole = head.length == item.size() && head.number >= least[head.sender];
    for (std::size_t i = sizeof head; i < item.size(); ++i)
      is_whole = is_whole && item[i] == filling_of(head.number, i);
    least[head.sender] = head.number + 1;
    wrong += is_whole ? 0 : 1;
  }
  byte_traffic& operator+=(const byte_traffic& other) {
    got += other.got;
    sum += other.sum;
    wrong += other.wrong;
    return *this;
  }
};

/// All ranks except the first send, and the first receives. A single rank does both. Collective.
template <world W>
void expect_items_arrive(W& w, const byte_channel_size& size, int home, std::uint64_t count) {
  node_byte_channel<W> channel(w, size, home);
  byte_traffic mine;
  if (w.size() == 1) {
    std::vector<std::byte> bytes(size.item_size);
    for (std::uint64_t i = 0; i < count; ++i) {
      write_item(bytes, 0, i);
      ASSERT_EQ(channel.send(bytes), queue_status::success);
      mine.note(channel.receive()->bytes());
    }
    EXPECT_EQ(mine.got, count);
  } else if (w.rank() == 0) {
    const int senders = w.size() - 1;
    const std::uint64_t all = count * static_cast<std::uint64_t>(senders);
    for (std::uint64_t i = 0; i < all; ++i) mine.note(channel.receive()->bytes());
    EXPECT_EQ(mine.sum, sum_of_items(size.item_size, senders, count));
  } else {
    send_items(channel, w.rank() - 1, count);
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
  EXPECT_EQ(channel.try_reserve().status(), queue_status::closed);
  w.barrier();
}

}  // namespace nearfar::testing
