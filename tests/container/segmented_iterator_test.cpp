#include "nearfar/container/segmented_iterator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <numeric>
#include <random>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "nearfar/container/segmented_array.hpp"
#include "tests/container/segmented_cases.hpp"

namespace {

using nearfar::contiguous_element_iterator;
using nearfar::element_iterator;
using nearfar::padded_layout;
using nearfar::segment_iterator;
using nearfar::segmented_array;
using nearfar::segmented_iterator_traits;
using nearfar::testing::for_each_case;
using nearfar::testing::make_array;
using nearfar::testing::segmented_case;

static_assert(std::random_access_iterator<element_iterator<double>>);
static_assert(std::random_access_iterator<element_iterator<const double>>);
static_assert(!std::contiguous_iterator<element_iterator<double>>);
static_assert(std::sized_sentinel_for<element_iterator<double>, element_iterator<double>>);
static_assert(std::output_iterator<element_iterator<double>, double>);
static_assert(!std::output_iterator<element_iterator<const double>, double>);
static_assert(std::is_same_v<std::iterator_traits<element_iterator<double>>::iterator_category,
                             std::random_access_iterator_tag>);
static_assert(std::is_same_v<std::iterator_traits<element_iterator<double>>::reference, double&>);
static_assert(std::is_same_v<std::iterator_traits<element_iterator<const double>>::reference, const double&>);
static_assert(std::is_same_v<std::iter_value_t<element_iterator<const double>>, double>);
static_assert(std::is_convertible_v<element_iterator<double>, element_iterator<const double>>);
static_assert(!std::is_convertible_v<element_iterator<const double>, element_iterator<double>>);
static_assert(std::totally_ordered_with<element_iterator<double>, element_iterator<const double>>);
static_assert(std::is_trivially_copyable_v<element_iterator<double>>);

static_assert(std::contiguous_iterator<contiguous_element_iterator<double>>);
static_assert(std::contiguous_iterator<contiguous_element_iterator<const double>>);
static_assert(
    std::sized_sentinel_for<contiguous_element_iterator<double>, contiguous_element_iterator<double>>);
static_assert(std::output_iterator<contiguous_element_iterator<double>, double>);
static_assert(!std::output_iterator<contiguous_element_iterator<const double>, double>);
static_assert(std::is_same_v<std::iterator_traits<contiguous_element_iterator<double>>::iterator_category,
                             std::random_access_iterator_tag>);
static_assert(
    std::is_same_v<std::iter_reference_t<contiguous_element_iterator<const double>>, const double&>);
static_assert(std::is_same_v<std::iter_value_t<contiguous_element_iterator<const double>>, double>);
static_assert(
    std::is_convertible_v<contiguous_element_iterator<double>, contiguous_element_iterator<const double>>);
static_assert(
    !std::is_convertible_v<contiguous_element_iterator<const double>, contiguous_element_iterator<double>>);
static_assert(std::totally_ordered_with<contiguous_element_iterator<double>,
                                        contiguous_element_iterator<const double>>);
static_assert(std::is_trivially_copyable_v<contiguous_element_iterator<double>>);

static_assert(std::random_access_iterator<segment_iterator<double>>);
static_assert(std::random_access_iterator<segment_iterator<const double>>);
static_assert(std::is_convertible_v<segment_iterator<double>, segment_iterator<const double>>);
static_assert(!std::is_convertible_v<segment_iterator<const double>, segment_iterator<double>>);

static_assert(std::ranges::contiguous_range<segmented_array<double>>);
static_assert(std::ranges::contiguous_range<const segmented_array<double>>);
static_assert(std::ranges::random_access_range<segmented_array<double, padded_layout>>);
static_assert(std::ranges::random_access_range<const segmented_array<double, padded_layout>>);
static_assert(!std::ranges::contiguous_range<segmented_array<double, padded_layout>>);
static_assert(std::ranges::sized_range<segmented_array<double>>);
static_assert(std::ranges::sized_range<segmented_array<double, padded_layout>>);
static_assert(std::ranges::common_range<segmented_array<double>>);
static_assert(std::ranges::common_range<segmented_array<double, padded_layout>>);
static_assert(std::is_convertible_v<segmented_array<double>&, std::span<double>>);
static_assert(std::is_convertible_v<const segmented_array<double>&, std::span<const double>>);

static_assert(nearfar::segmented_iterator<element_iterator<double>>);
static_assert(nearfar::segmented_iterator<element_iterator<const double>>);
static_assert(nearfar::segmented_iterator<contiguous_element_iterator<double>>);
static_assert(nearfar::segmented_iterator<contiguous_element_iterator<const double>>);
static_assert(nearfar::segmented_range<segmented_array<double>>);
static_assert(nearfar::segmented_range<segmented_array<double, padded_layout>>);
static_assert(!nearfar::segmented_iterator<double*>);
static_assert(!nearfar::segmented_range<std::vector<double>>);
static_assert(!segmented_iterator_traits<std::vector<double>::iterator>::is_segmented);
static_assert(nearfar::segmented_range<nearfar::testing::lists<double>>);

template <typename Layout>
segmented_array<int, Layout> numbered(const segmented_case<Layout>& shape) {
  auto array = make_array<int>(shape);
  int next = 0;
  for (std::size_t i = 0; i < array.segments(); ++i)
    for (int& element : array.segment(i)) element = next++;
  return array;
}

TEST(element_iterator, goes_over_all_elements_in_both_directions) {
  for_each_case([](const auto& shape) {
    auto array = numbered(shape);
    const int size = static_cast<int>(shape.size);
    int next = 0;
    for (const int element : array) ASSERT_EQ(element, next++);
    ASSERT_EQ(next, size);
    auto it = array.end();
    while (next > 0) ASSERT_EQ(*--it, --next);
    ASSERT_EQ(it, array.begin());
    for (auto after = array.begin(); next < size; ++next) ASSERT_EQ(*after++, next);
    for (auto before = array.end(); next > 1; --next) {
      ASSERT_EQ(*std::prev(before), next - 1);
      before--;
    }
  });
}

TEST(element_iterator, jumps_from_anywhere_to_anywhere) {
  std::mt19937 random(5);  // NOLINT(cert-msc32-c,cert-msc51-cpp) the same jumps each time
  for_each_case([&](const auto& shape) {
    auto array = numbered(shape);
    const auto size = static_cast<std::ptrdiff_t>(shape.size);
    std::uniform_int_distribution<std::ptrdiff_t> anywhere(0, size);
    for (int i = 0; i < 100; ++i) {
      const std::ptrdiff_t from = anywhere(random);
      const std::ptrdiff_t to = anywhere(random);
      auto there = array.begin() + from;
      const auto here = there;
      ASSERT_EQ(there - array.begin(), from);
      there += to - from;
      ASSERT_EQ(there - array.begin(), to);
      ASSERT_EQ(there, array.begin() + to);
      ASSERT_EQ(array.end() - there, size - to);
      ASSERT_EQ(there - here, to - from);
      ASSERT_EQ(here <=> there, from <=> to);
      ASSERT_EQ(here == there, from == to);
      ASSERT_EQ(there - (to - from), here);
      ASSERT_EQ((to - from) + here, there);
      if (to == size) continue;
      ASSERT_EQ(*there, to);
      ASSERT_EQ(here[to - from], to);
      ASSERT_EQ(array[static_cast<std::size_t>(to)], to);
      ASSERT_EQ(there.index(), static_cast<std::size_t>(to));
      ASSERT_EQ(there.operator->(), &array[static_cast<std::size_t>(to)]);
    }
  });
}

TEST(element_iterator, serves_the_algorithms_of_the_standard) {
  for_each_case([](const auto& shape) {
    auto array = nearfar::testing::random_array<int>(shape, 6);
    std::vector<int> copied(array.begin(), array.end());
    std::sort(array.begin(), array.end());
    std::sort(copied.begin(), copied.end());
    ASSERT_TRUE(std::ranges::equal(array, copied));
    ASSERT_EQ(std::lower_bound(array.begin(), array.end(), 500) - array.begin(),
              std::lower_bound(copied.begin(), copied.end(), 500) - copied.begin());
    std::reverse(array.begin(), array.end());
    ASSERT_TRUE(std::equal(copied.rbegin(), copied.rend(), array.begin()));
  });
}

TEST(element_iterator, made_by_default_equals_its_kind) {
  EXPECT_EQ(element_iterator<int>{}, element_iterator<int>{});
  EXPECT_EQ(element_iterator<int>{} - element_iterator<int>{}, 0);
  EXPECT_EQ(contiguous_element_iterator<int>{}, contiguous_element_iterator<int>{});
  EXPECT_EQ(contiguous_element_iterator<int>{} - contiguous_element_iterator<int>{}, 0);
  EXPECT_EQ(contiguous_element_iterator<int>{}.index(), 0U);
  EXPECT_EQ(segment_iterator<int>{}, segment_iterator<int>{});
}

TEST(contiguous_element_iterator, is_the_address_of_its_element) {
  for_each_case([](const auto& shape) {
    if constexpr (std::ranges::contiguous_range<decltype(make_array<int>(shape))>) {
      auto array = numbered(shape);
      ASSERT_EQ(std::ranges::data(array), array.data());
      ASSERT_EQ(std::ranges::size(array), shape.size);
      ASSERT_EQ(std::to_address(array.end()), array.data() + shape.size);
      const std::span<const int> all = std::as_const(array);
      for (std::size_t i = 0; i < shape.size; ++i) ASSERT_EQ(all[i], static_cast<int>(i));
    }
  });
}

TEST(segment_iterator, goes_over_the_segments) {
  segmented_array<int> array(7, 100);
  std::size_t next = 0;
  for (auto it = array.segment_begin(); it != array.segment_end(); ++it, ++next) {
    EXPECT_EQ((*it).data(), array.segment(next).data());
    EXPECT_EQ((*it).size(), array.segment(next).size());
    EXPECT_EQ(it.index(), next);
  }
  EXPECT_EQ(next, 7U);
  EXPECT_EQ(array.segment_end() - array.segment_begin(), 7);
  EXPECT_EQ(array.segment_begin()[3].data(), array.segment(3).data());
  EXPECT_EQ((*--array.segment_end()).data(), array.segment(6).data());
}

TEST(segmented_iterator_traits, take_iterators_apart_and_put_them_together) {
  for_each_case([](const auto& shape) {
    auto array = numbered(shape);
    using traits = segmented_iterator_traits<decltype(array.begin())>;
    for (auto it = array.begin();; ++it) {
      const auto segment = traits::segment(it);
      ASSERT_EQ(traits::compose(segment, traits::local(it)), it);
      ASSERT_LE(traits::begin(segment), traits::local(it));
      ASSERT_LE(traits::local(it), traits::end(segment));
      ASSERT_EQ(traits::position(segment).index, segment.index());
      ASSERT_EQ(traits::position(segment).segments, shape.segments);
      if (it == array.end()) break;
    }
    // The end of a segment is the beginning of the next one.
    for (auto segment = array.segment_begin(); segment != array.segment_end(); ++segment) {
      auto it = traits::compose(segment, traits::end(segment));
      ASSERT_EQ(it - array.begin(),
                static_cast<std::ptrdiff_t>(
                    std::min(shape.size, traits::begin(segment) == traits::end(segment)
                                             ? shape.size
                                             : static_cast<std::size_t>(*(traits::end(segment) - 1)) + 1)));
    }
  });
}

}  // namespace
