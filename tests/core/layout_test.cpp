#include "nearfar/core/layout.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "nearfar/core/maybe_torn.hpp"

namespace {

using nearfar::element;
using nearfar::far;
using nearfar::far_byte;
using nearfar::far_element;
using nearfar::far_layout;
using nearfar::far_object;
using nearfar::far_object_value;
using nearfar::far_value;
using nearfar::maybe_torn;
using nearfar::near_element;
using nearfar::near_layout;
using nearfar::nobody;
using nearfar::offset_of;
using nearfar::plain_value;
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

TEST(layout, rank_alone_means_its_first_element) {
  const element first = 3;
  EXPECT_EQ(first, (element{3, 0}));
  EXPECT_FALSE(first == (element{3, 1}));
  EXPECT_FALSE(first == (element{2, 0}));
}

TEST(layout, copy_that_may_be_torn_gives_what_was_written_to_it) {
  maybe_torn<std::array<int, 3>> copy;
  EXPECT_EQ(copy.unconfirmed(), (std::array{0, 0, 0}));
  copy.buffer() = {1, 2, 3};
  EXPECT_EQ(copy.unconfirmed(), (std::array{1, 2, 3}));
  EXPECT_EQ(copy.confirmed(), (std::array{1, 2, 3}));
}

// RMA-safe layouts only: MPI moves a word of such a layout as one, aligned as MPICH needs it.
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
// The engine's byte is a whole word.
static_assert(sizeof(far_byte) == 8 && alignof(far_byte) == 8 && offsetof(far_byte, byte) == 0);

// Objects are whole words, so that operations cannot reach neighbouring words.
template <std::size_t Bytes>
using bytes = std::array<std::uint8_t, Bytes>;
static_assert(sizeof(far_object<bytes<1>>) == 8 && sizeof(far_object<bytes<8>>) == 8);
static_assert(sizeof(far_object<bytes<12>>) == 16 && sizeof(far_object<bytes<4096>>) == 4096);
static_assert(alignof(far_object<bytes<1>>) == 8);
struct alignas(16) aligned_too_far {
  std::uint64_t words[2];
};
static_assert(far_object_value<bytes<12>> && far_object_value<int*> && far_object_value<double>);
static_assert(!far_object_value<std::unique_ptr<int>> && !far_object_value<const int> &&
              !far_object_value<int&> && !far_object_value<aligned_too_far>);

// Elements of an array may share slots; those of a segment have slots of their own.
struct words_of_two_structs : half_a_slot {
  far<std::uint64_t> other;
};
struct word_and_object {
  far<std::uint64_t> word;
  far_object<bytes<12>> object;
};
struct word_and_byte {
  far<std::uint64_t> word;
  far_byte byte;
};
static_assert(far_element<word_and_byte> && sizeof(word_and_byte) == 16);
struct half_a_word {
  std::uint32_t half;
};
static_assert(far_element<half_a_slot> && far_element<word_and_object> && far_element<words>);
static_assert(!far_element<words_of_two_structs> && !far_element<with_virtual> && !far_element<half_a_word>);
struct with_destructor {
  ~with_destructor();
};
struct alignas(2 * nearfar::cache_line) two_lines_apart {};
struct alignas(2 * slot_bytes) two_slots_apart {
  far<std::uint64_t> word;
};
static_assert(!far_element<two_slots_apart>);
struct with_throwing_constructor {
  with_throwing_constructor() noexcept(false);
};
static_assert(near_element<half_a_slot> && near_element<half_a_word>);
static_assert(!near_element<with_destructor> && !near_element<two_lines_apart> &&
              !near_element<with_throwing_constructor>);
static_assert(plain_value<half_a_word> && plain_value<aligned_too_far>);
static_assert(!plain_value<std::unique_ptr<int>> && !plain_value<const int> && !plain_value<two_lines_apart>);

}  // namespace
