#include "nearfar/memory/slab.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace {

using nearfar::slab;
using nearfar::slot_bytes;

TEST(slab, gives_out_the_lowest_offset_that_fits) {
  slab memory(8 * slot_bytes);
  EXPECT_EQ(memory.allocate(1), 0 * slot_bytes);
  EXPECT_EQ(memory.allocate(slot_bytes), 1 * slot_bytes);
  EXPECT_EQ(memory.allocate(slot_bytes + 1), 2 * slot_bytes);
  EXPECT_EQ(memory.allocate(2 * slot_bytes), 4 * slot_bytes);
  memory.release(1 * slot_bytes, slot_bytes);
  memory.release(4 * slot_bytes, 2 * slot_bytes);
  EXPECT_EQ(memory.allocate(2 * slot_bytes), 4 * slot_bytes) << "the gap at slot 1 is too small";
  EXPECT_EQ(memory.allocate(1), 1 * slot_bytes);
}

TEST(slab, is_full_when_no_gap_is_large_enough) {
  slab memory(4 * slot_bytes);
  for (std::size_t slot = 0; slot < 4; ++slot) EXPECT_EQ(memory.allocate(1), slot * slot_bytes);
  EXPECT_EQ(memory.allocate(1), std::nullopt);
  memory.release(0, 1);
  memory.release(2 * slot_bytes, 1);
  EXPECT_EQ(memory.allocate(2 * slot_bytes), std::nullopt) << "two free slots, but apart";
  EXPECT_EQ(memory.allocate(slot_bytes), 0);
}

TEST(slab, does_not_give_out_a_slot_that_is_not_whole) {
  slab memory(2 * slot_bytes + slot_bytes / 2);
  EXPECT_EQ(memory.allocate(2 * slot_bytes), 0);
  EXPECT_EQ(memory.allocate(1), std::nullopt);
  EXPECT_EQ(slab(slot_bytes - 1).allocate(1), std::nullopt);
}

TEST(slab, joins_a_gap_with_both_neighbours) {
  std::vector<std::size_t> order{0, 1, 2};
  do {
    slab memory(3 * slot_bytes);
    for (std::size_t slot = 0; slot < 3; ++slot) ASSERT_EQ(memory.allocate(1), slot * slot_bytes);
    for (const std::size_t slot : order) memory.release(slot * slot_bytes, 1);
    EXPECT_EQ(memory.allocate(3 * slot_bytes), 0) << order[0] << order[1] << order[2];
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(slab, counts_what_is_used_in_whole_slots) {
  slab memory(8 * slot_bytes);
  EXPECT_EQ(memory.used(), 0);
  static_cast<void>(memory.allocate(1));
  static_cast<void>(memory.allocate(slot_bytes + 1));
  EXPECT_EQ(memory.used(), 3 * slot_bytes);
  EXPECT_EQ(memory.allocate(8 * slot_bytes), std::nullopt);
  EXPECT_EQ(memory.used(), 3 * slot_bytes) << "a failed allocation uses nothing";
  memory.release(0, 1);
  EXPECT_EQ(memory.used(), 2 * slot_bytes);
}

TEST(slab, has_its_granularity) {
  slab tags(5, 1);
  EXPECT_EQ(tags.allocate(1), 0);
  EXPECT_EQ(tags.allocate(1), 1);
  tags.release(0, 1);
  EXPECT_EQ(tags.allocate(1), 0);
  EXPECT_EQ(tags.allocate(3), 2);
  EXPECT_EQ(tags.allocate(1), std::nullopt);
}

// Ranks rely on this: they release in different orders between two allocations and still agree on every
// offset, and no two live allocations overlap.
TEST(slab, offsets_do_not_depend_on_the_order_of_releases) {
  std::mt19937 random(11);
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random()) % bound; };
  slab one(64 * slot_bytes);
  slab other(64 * slot_bytes);
  std::map<std::size_t, std::size_t> live;  // offset, bytes
  for (int step = 0; step < 2000; ++step) {
    const std::size_t bytes = 1 + below(5 * slot_bytes);
    const std::optional<std::size_t> offset = one.allocate(bytes);
    ASSERT_EQ(other.allocate(bytes), offset) << "step " << step;
    if (offset) {
      const auto after = live.lower_bound(*offset);
      ASSERT_EQ(*offset % slot_bytes, 0);
      ASSERT_TRUE(after == live.end() || *offset + bytes <= after->first);
      ASSERT_TRUE(after == live.begin() || std::prev(after)->first + std::prev(after)->second <= *offset);
      ASSERT_LE(*offset + bytes, 64 * slot_bytes);
      live.emplace(*offset, bytes);
    }
    std::vector<std::pair<std::size_t, std::size_t>> gone;
    for (const auto& allocation : live)
      if (below(4) == 0) gone.emplace_back(allocation);
    for (const auto& [at, size] : gone) one.release(at, size);
    std::shuffle(gone.begin(), gone.end(), random);
    for (const auto& [at, size] : gone) other.release(at, size);
    for (const auto& allocation : gone) live.erase(allocation.first);
    ASSERT_EQ(one.used(), other.used());
  }
  for (const auto& [at, size] : live) one.release(at, size);
  EXPECT_EQ(one.used(), 0);
  EXPECT_EQ(one.allocate(64 * slot_bytes), 0) << "all gaps must have become one";
}

}  // namespace
