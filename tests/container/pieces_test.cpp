#include "nearfar/container/pieces.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <list>
#include <numeric>
#include <random>
#include <ranges>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "nearfar/container/segmented_array.hpp"
#include "nearfar/core/error.hpp"
#include "tests/container/segmented_cases.hpp"

namespace {

using nearfar::padded_layout;
using nearfar::pieces;
using nearfar::segmented_array;
using nearfar::testing::for_each_case;
using nearfar::testing::lists;
using nearfar::testing::random_array;
using nearfar::testing::segmented_case;

using padded_pieces = decltype(pieces(std::declval<segmented_array<int, padded_layout>&>(),
                                      std::declval<const std::vector<double>&>()));
static_assert(std::ranges::view<padded_pieces>);
static_assert(std::ranges::forward_range<padded_pieces>);
static_assert(std::ranges::borrowed_range<padded_pieces>);
static_assert(std::is_same_v<std::ranges::range_value_t<padded_pieces>,
                             std::tuple<std::span<int>, std::span<const double>>>);
template <typename Range>
concept has_pieces = requires(Range&& range) { pieces(range); };
static_assert(has_pieces<const segmented_array<int>&> && has_pieces<lists<int>&>);
static_assert(!has_pieces<std::list<int>&>);

template <typename... Ranges>
std::size_t count_pieces(Ranges&... ranges) {
  return static_cast<std::size_t>(std::ranges::distance(pieces(ranges...)));
}

TEST(pieces, are_all_elements_once_whichever_way_ranges_are_cut) {
  for_each_case([](const auto& shape) {
    auto a = random_array<int>(shape, 1);
    const auto b = random_array<long>(
        segmented_case<padded_layout>{
            shape.size, shape.segments + 2, {.padding = 64, .page_aligned = false}, shape.threads},
        2);
    std::vector<double> c(shape.size);
    std::iota(c.begin(), c.end(), 0.5);
    const std::vector<int> before(a.begin(), a.end());
    std::size_t next = 0;
    for (const auto& [x, y, z] : pieces(a, b, std::as_const(c))) {
      ASSERT_FALSE(x.empty());
      ASSERT_EQ(x.size(), y.size());
      ASSERT_EQ(x.size(), z.size());
      for (std::size_t i = 0; i < x.size(); ++i, ++next) {
        ASSERT_EQ(&x[i], &a[next]);
        ASSERT_EQ(&y[i], &b[next]);
        ASSERT_EQ(&z[i], &c[next]);
        x[i] += static_cast<int>(y[i]);
      }
    }
    ASSERT_EQ(next, shape.size);
    for (std::size_t i = 0; i < shape.size; ++i) ASSERT_EQ(a[i], before[i] + b[i]);
  });
}

TEST(pieces, are_as_large_as_possible) {
  const segmented_array<int, padded_layout> thirds(3, 12);
  const segmented_array<int, padded_layout> quarters(4, 12);
  const segmented_array<int> contiguous(4, 12);
  const std::vector<int> plain(12);
  std::vector<std::size_t> sizes;
  for (const auto& [a, b, c, d] : pieces(thirds, quarters, contiguous, plain)) sizes.push_back(a.size());
  EXPECT_EQ(sizes, (std::vector<std::size_t>{3, 1, 2, 2, 1, 3}));
  EXPECT_EQ(count_pieces(thirds), 3U);
  EXPECT_EQ(count_pieces(thirds, thirds), 3U);
  EXPECT_EQ(count_pieces(contiguous, plain), 1U);
}

TEST(pieces, of_nothing_are_none_and_of_an_element_one) {
  const segmented_array<int, padded_layout> no_segments;
  const segmented_array<int, padded_layout> no_elements(3, 0);
  const segmented_array<int> none;
  const std::vector<int> plain;
  EXPECT_EQ(count_pieces(no_segments), 0U);
  EXPECT_EQ(count_pieces(plain, no_segments, no_elements, none), 0U);
  segmented_array<int, padded_layout> one(5, 1);
  const std::array<int, 1> other{7};
  for (const auto& [a, b] : pieces(one, other)) a[0] = b[0];
  EXPECT_EQ(one[0], 7);
  EXPECT_EQ(count_pieces(one, other), 1U);
}

TEST(pieces, of_unequal_lengths_are_refused_by_number) {
  const segmented_array<int, padded_layout> ten(3, 10);
  const std::vector<int> nine(9);
  try {
    (void)pieces(ten, ten, nine);
    FAIL();
  } catch (const nearfar::misuse& error) {
    EXPECT_STREQ(error.what(), "pieces: range 3 has 9 elements, the first has 10");
  }
  EXPECT_THROW((void)pieces(nine, ten), nearfar::misuse);
  const segmented_array<int, padded_layout> none;
  EXPECT_THROW((void)pieces(none, nine), nearfar::misuse);
}

TEST(pieces, of_parts_begin_and_end_within_segments) {
  std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp) the same parts each time
  segmented_array<int, padded_layout> a(7, 1000, {.padding = 8, .page_aligned = false});
  segmented_array<int, padded_layout> b(5, 1000);
  std::iota(b.begin(), b.end(), 1);
  for (int round = 0; round < 200; ++round) {
    const auto first = static_cast<std::ptrdiff_t>(random() % 1001);
    const auto last = first + static_cast<std::ptrdiff_t>(random() % (1001 - static_cast<unsigned>(first)));
    std::fill(a.begin(), a.end(), 0);
    for (const auto& [to, from] : pieces(std::ranges::subrange(a.begin() + first, a.begin() + last),
                                         std::ranges::subrange(b.begin() + first, b.begin() + last)))
      std::copy(from.begin(), from.end(), to.begin());
    for (std::ptrdiff_t i = 0; i < 1000; ++i) ASSERT_EQ(a.begin()[i], i >= first && i < last ? i + 1 : 0);
  }
}

TEST(pieces, of_segmented_ranges_of_others_skip_empty_segments) {
  lists<int> list{{{}, {1, 2}, {}, {}, {3, 4, 5}, {}}};
  std::vector<std::vector<int>> found;
  std::vector<int> plain(5);
  for (const auto& [a, b] : pieces(list, plain)) {
    found.emplace_back(a.begin(), a.end());
    std::ranges::copy(a, b.begin());
  }
  EXPECT_EQ(found, (std::vector<std::vector<int>>{{1, 2}, {3, 4, 5}}));
  EXPECT_EQ(plain, (std::vector{1, 2, 3, 4, 5}));
}

TEST(pieces, can_be_gone_over_again) {
  const segmented_array<int, padded_layout> array(4, 100, 1);
  const auto all = pieces(array);
  auto it = all.begin();
  const auto second = std::next(it);
  const auto before = it++;
  EXPECT_EQ(it, second);
  EXPECT_NE(before, second);
  EXPECT_EQ(std::get<0>(*before).data(), array.segment(0).data());
  EXPECT_EQ(std::get<0>(*second).data(), array.segment(1).data());
  EXPECT_EQ(std::ranges::distance(all), 4);
  EXPECT_EQ(std::ranges::distance(all), 4);
}

}  // namespace
