#include "nearfar/container/streaming.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "nearfar/container/algorithm.hpp"

namespace {

using nearfar::plain_stores;
using nearfar::sse2_stores;
using nearfar::store_choice;
using nearfar::store_kind;

template <typename Stores>
class streaming : public testing::Test {};

using all_stores = testing::Types<plain_stores, nearfar::native_stores>;
TYPED_TEST_SUITE(streaming, all_stores);

// A build for x86-64 has these instructions.
#if defined(__x86_64__)
static_assert(std::is_same_v<nearfar::native_stores, sse2_stores>);
#else
static_assert(std::is_same_v<nearfar::native_stores, plain_stores>);
#endif

TYPED_TEST(streaming, copies_bytes_from_and_to_any_address_and_nothing_around_them) {
  std::vector<std::byte> source(400);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i * 7 + 1);
  for (std::size_t to = 0; to < 20; ++to)
    for (std::size_t from = 0; from < 20; ++from)
      for (const std::size_t bytes : {0U, 1U, 15U, 16U, 17U, 63U, 64U, 65U, 200U, 333U}) {
        std::vector<std::byte> target(400, std::byte{0xA5});
        std::vector<std::byte> expected = target;
        std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(from), bytes,
                    expected.begin() + static_cast<std::ptrdiff_t>(to));
        nearfar::stream_bytes<TypeParam>(target.data() + to, source.data() + from, bytes);
        TypeParam::fence();
        ASSERT_EQ(target, expected) << to << ' ' << from << ' ' << bytes;
      }
}

struct three_ints {
  std::array<int, 3> values{};
  friend bool operator==(const three_ints&, const three_ints&) = default;
};
struct alignas(64) line {
  long value = 0;
  friend bool operator==(const line&, const line&) = default;
};
struct page {
  std::array<long, 512> values{};
  friend bool operator==(const page&, const page&) = default;
};

template <typename Stores, typename T, typename Make>
void expect_blocks(Make&& make) {
  for (const std::size_t size : {0U, 1U, 2U, 7U, 100U, 1000U})
    for (const std::size_t offset : {0U, 1U, 3U}) {
      std::vector<T> target(size + offset + 1);
      std::vector<T> expected = target;
      for (std::size_t i = 0; i < size; ++i) expected[offset + i] = make(i);
      std::size_t next = 0;
      nearfar::stream_blocks<Stores>(target.data() + offset, size,
                                     [&](T* block, std::size_t first, std::size_t count) {
                                       ASSERT_EQ(first, next);
                                       ASSERT_GT(count, 0U);
                                       next += count;
                                       for (std::size_t i = 0; i < count; ++i)
                                         std::construct_at(block + i, make(first + i));
                                     });
      Stores::fence();
      ASSERT_EQ(next, size);
      ASSERT_EQ(target, expected);
    }
}

TYPED_TEST(streaming, writes_elements_of_any_size_in_blocks) {
  expect_blocks<TypeParam, char>([](std::size_t i) { return static_cast<char>(i); });
  expect_blocks<TypeParam, double>([](std::size_t i) { return static_cast<double>(i) / 3; });
  expect_blocks<TypeParam, three_ints>([](std::size_t i) {
    const int n = static_cast<int>(i);
    return three_ints{{n, n + 1, n + 2}};
  });
  expect_blocks<TypeParam, line>([](std::size_t i) { return line{static_cast<long>(i)}; });
  expect_blocks<TypeParam, page>([](std::size_t i) {
    page result;
    result.values.fill(static_cast<long>(i));
    return result;
  });
}

TYPED_TEST(streaming, writes_the_blocks_before_an_exception) {
  std::vector<double> target(2000, -1);
  EXPECT_THROW(nearfar::stream_blocks<TypeParam>(target.data(), target.size(),
                                                 [&](double* block, std::size_t first, std::size_t count) {
                                                   if (first + count > 1500)
                                                     throw std::runtime_error("no more");
                                                   std::uninitialized_fill_n(block, count, 1.0);
                                                 }),
               std::runtime_error);
  TypeParam::fence();
  const auto untouched = std::find(target.begin(), target.end(), -1.0);
  EXPECT_GT(untouched - target.begin(), 1000);
  EXPECT_LE(untouched - target.begin(), 1500);
  EXPECT_EQ(std::count(untouched, target.end(), -1.0), target.end() - untouched);
}

TEST(store_choice, streams_above_the_threshold_only_if_it_is_to_choose) {
  EXPECT_FALSE(store_choice{}.streams(std::size_t{1} << 60));
  EXPECT_FALSE(store_choice(store_kind::regular, 1).streams(1000));
  EXPECT_TRUE(store_choice(store_kind::streaming, 1000).streams(1));
  const store_choice choice(store_kind::automatic, 1000);
  EXPECT_FALSE(choice.streams(1000));
  EXPECT_TRUE(choice.streams(1001));
}

TEST(store_choice, has_the_last_level_cache_for_a_threshold) {
  const std::size_t cache = nearfar::this_machine().last_level_cache_bytes();
  EXPECT_FALSE(store_choice(store_kind::automatic).streams(cache));
  EXPECT_EQ(store_choice(store_kind::automatic).streams(cache + 1), cache != 0);
}

TEST(streaming_transform, writes_elements_that_bytes_cannot_express_as_usual) {
  const std::vector<int> numbers{1, 2, 3};
  std::vector<std::string> texts(3);
  nearfar::transform(
      numbers.begin(), numbers.end(), texts.begin(), [](int n) { return std::to_string(n); },
      store_kind::streaming);
  EXPECT_EQ(texts, (std::vector<std::string>{"1", "2", "3"}));
  std::vector<bool> bits(3);
  nearfar::transform(
      nearfar::team::serial(), numbers.begin(), numbers.end(), bits.begin(), [](int n) { return n == 2; },
      store_kind::streaming);
  EXPECT_EQ(bits, (std::vector<bool>{false, true, false}));
}

}  // namespace
