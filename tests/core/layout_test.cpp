#include "nearfar/core/layout.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

namespace {

using nearfar::far;
using nearfar::far_layout;
using nearfar::far_value;
using nearfar::near_layout;
using nearfar::nobody;
using nearfar::offset_of;
using nearfar::slot_bytes;
using nearfar::to_rank;
using nearfar::to_word;

struct alignas(slot_bytes) words {
  far<std::uint64_t> first;
  far<std::int64_t> second;
  far<std::uint64_t> third;
  alignas(slot_bytes) far<std::uint64_t> next_slot;
};

TEST(layout, offset_is_that_of_the_member) {
  const words object{};
  EXPECT_EQ(offset_of(object, &words::first), offsetof(words, first));
  EXPECT_EQ(offset_of(object, &words::second), offsetof(words, second));
  EXPECT_EQ(offset_of(object, &words::third), 16);
  EXPECT_EQ(offset_of(object, &words::next_slot), static_cast<std::ptrdiff_t>(slot_bytes));
}

TEST(layout, zeroed_memory_says_nobody) {
  EXPECT_EQ(nobody, 0);
  EXPECT_EQ(far<std::uint64_t>{}.word, nobody);
  for (const int rank : {0, 1, 4095, 0x7fff'fffe}) {
    EXPECT_NE(to_word(rank), nobody);
    EXPECT_EQ(to_rank(to_word(rank)), rank);
  }
}

// RMA-safe layouts only: what these admit is what MPI moves as one word, aligned as MPICH needs it.
struct alignas(16) too_little_alignment {
  far<std::uint64_t> word[8];
};
struct half_a_slot {
  far<std::uint64_t> word[4];
};
struct with_virtual {
  virtual ~with_virtual() = default;
  far<std::uint64_t> word[7];
};

static_assert(far_layout<words>);
static_assert(!far_layout<too_little_alignment>);
static_assert(!far_layout<half_a_slot>);
static_assert(!far_layout<with_virtual>);
static_assert(far_value<std::uint64_t> && far_value<std::int64_t>);
static_assert(!far_value<std::uint8_t> && !far_value<std::uint32_t> && !far_value<double> &&
              !far_value<void*>);
static_assert(near_layout<words> && !near_layout<half_a_slot>);
static_assert(slot_bytes % 16 == 0, "MPICH 4.0.2 over UCX misplaces writes in windows of other sizes");
static_assert(sizeof(far<std::uint64_t>) == 8);

}  // namespace
