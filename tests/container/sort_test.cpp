// Sorts of elements that move cheaply, which have code of their own, and inputs that make quicksorts slow.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

#include "nearfar/container/algorithm.hpp"
#include "nearfar/container/team.hpp"
#include "tests/container/segmented_cases.hpp"

namespace {

using nearfar::team;
using nearfar::testing::together;

/// An element that is too large to move cheaply.
struct large {
  int value;
  std::array<int, 7> more;

  friend bool operator<(const large& a, const large& b) { return a.value < b.value; }
};

/// Orders of numbers that occur in practice.
std::vector<std::vector<int>> patterns(int size) {
  const auto made = [size](const auto& number) {
    std::vector<int> all(static_cast<std::size_t>(size));
    for (int i = 0; i < size; ++i) all[static_cast<std::size_t>(i)] = number(i);
    return all;
  };
  std::mt19937 random(static_cast<unsigned>(size));  // NOLINT(cert-msc32-c,cert-msc51-cpp)
  const auto draw = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
  return {
      made([&](int) { return draw(1 << 30); }),
      made([&](int) { return draw(2); }),
      made([&](int) { return draw(10); }),
      made([](int) { return 7; }),
      made([](int i) { return i; }),
      made([&](int i) { return size - i; }),
      made([&](int i) { return std::min(i, size - i); }),
      made([](int i) { return i % 100; }),
      made([](int i) { return -(i % 100); }),
      made([&](int i) { return draw(50) == 0 ? draw(size) : i; }),
      made([&](int i) { return draw(50) == 0 ? draw(size) : -i; }),
      made([&](int i) { return i < size - 10 ? i : draw(size); }),
      made([](int i) { return i % 2 == 0 ? i : -i; }),
      made([](int i) { return static_cast<int>(std::popcount(static_cast<unsigned>(i))); }),
  };
}

const std::vector<int> sizes{0, 1, 2, 16, 17, 18, 127, 128, 129, 130, 511, 1000, 2049, 30000};

TEST(sort, agrees_with_the_standard_on_patterns) {
  for (const int size : sizes)
    for (const auto& numbers : patterns(size)) {
      auto expected = numbers;
      std::ranges::sort(expected);
      for (const int threads : {1, 2, 3, 5, 8}) {
        const auto how = together(team(threads));
        auto sorted = numbers;
        nearfar::sort(how, sorted);
        ASSERT_EQ(sorted, expected);
        sorted = numbers;
        nearfar::sort(how, sorted, [](int a, int b) { return a > b; });
        ASSERT_TRUE(std::ranges::equal(sorted.rbegin(), sorted.rend(), expected.begin(), expected.end()));
        std::vector<large> others;
        for (const int number : numbers) others.push_back({.value = number, .more = {}});
        nearfar::sort(how, others);
        ASSERT_TRUE(std::ranges::equal(others, expected, {}, &large::value));
      }
    }
}

/// Decides each comparison as late as possible, so that pivots turn out to be bad (McIlroy, "A Killer
/// Adversary for Quicksort", 1999).
class adversary {
 public:
  explicit adversary(std::size_t size) : value_(size, undecided) {}

  bool less(std::size_t a, std::size_t b) {
    ++comparisons_;
    if (value_[a] == undecided && value_[b] == undecided) value_[a == candidate_ ? a : b] = next_++;
    if (value_[a] == undecided)
      candidate_ = a;
    else if (value_[b] == undecided)
      candidate_ = b;
    return value_[a] < value_[b];
  }
  [[nodiscard]] std::size_t comparisons() const { return comparisons_; }

 private:
  static constexpr std::size_t undecided = SIZE_MAX;

  std::vector<std::size_t> value_;
  std::size_t next_ = 0;
  std::size_t candidate_ = 0;
  std::size_t comparisons_ = 0;
};

TEST(sort, compares_n_log_n_times_whatever_the_order) {
  constexpr int size = 1 << 14;
  constexpr std::size_t n_log_n = std::size_t{14} * size;
  constexpr std::size_t limit = n_log_n * 7 / 4;
  for (const auto& numbers : patterns(size)) {
    std::size_t comparisons = 0;
    auto sorted = numbers;
    nearfar::sort(team::serial(), sorted, [&](int a, int b) { return ++comparisons, a < b; });
    EXPECT_LE(comparisons, limit);
    std::vector<large> others;
    for (const int number : numbers) others.push_back({.value = number, .more = {}});
    comparisons = 0;
    nearfar::sort(team::serial(), others,
                  [&](const large& a, const large& b) { return ++comparisons, a < b; });
    EXPECT_LE(comparisons, limit);
  }
  adversary of_few(size);
  std::vector<int> places(size);
  std::iota(places.begin(), places.end(), 0);
  nearfar::sort(team::serial(), places, [&](int a, int b) {
    return of_few.less(static_cast<std::size_t>(a), static_cast<std::size_t>(b));
  });
  EXPECT_LE(of_few.comparisons(), 3 * n_log_n);
  adversary of_large(size);
  std::vector<large> large_places(size);
  for (int i = 0; i < size; ++i) large_places[static_cast<std::size_t>(i)].value = i;
  nearfar::sort(team::serial(), large_places, [&](const large& a, const large& b) {
    return of_large.less(static_cast<std::size_t>(a.value), static_cast<std::size_t>(b.value));
  });
  EXPECT_LE(of_large.comparisons(), 3 * n_log_n);
}

TEST(sort, of_what_is_in_order_or_the_reverse_compares_about_n_times) {
  constexpr int size = 1 << 14;
  for (const bool in_order : {true, false}) {
    std::vector<int> numbers(size);
    for (int i = 0; i < size; ++i) numbers[static_cast<std::size_t>(i)] = in_order ? i : -i;
    std::size_t comparisons = 0;
    nearfar::sort(team::serial(), numbers, [&](int a, int b) { return ++comparisons, a < b; });
    EXPECT_TRUE(std::ranges::is_sorted(numbers));
    EXPECT_LE(comparisons, std::size_t{in_order ? 3U : 8U} * size);
  }
}

TEST(sort, of_few_different_numbers_compares_few_times) {
  constexpr int size = 1 << 14;
  for (const int different : {1, 2, 10}) {
    std::vector<int> numbers(size);
    std::mt19937 random(1);  // NOLINT(cert-msc32-c,cert-msc51-cpp)
    for (int& number : numbers) number = static_cast<int>(random() % static_cast<unsigned>(different));
    std::size_t comparisons = 0;
    nearfar::sort(team::serial(), numbers, [&](int a, int b) { return ++comparisons, a < b; });
    EXPECT_TRUE(std::ranges::is_sorted(numbers));
    EXPECT_LE(comparisons,
              static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(different)) + 3) * size);
  }
}

template <typename Sort>
void expect_permutations_without_an_order(const Sort& sort) {
  std::atomic<unsigned> calls = 0;
  const std::vector<std::function<bool(int, int)>> orders{
      [](int, int) { return true; },
      [](int, int) { return false; },
      [](int a, int b) { return a % 100 <= b % 100; },
      [](int a, int b) { return (a - b) % 3 == 1; },
      [&](int, int) { return (calls.fetch_add(1) * 2654435769U >> 30) % 2 == 1; },
      [&](int, int) { return (calls.fetch_add(1) * 2654435769U >> 28) % 16 == 1; },
  };
  for (const int threads : {1, 2, 3, 8})
    for (const int size : sizes)
      for (const auto& less : orders) {
        std::vector<int> places(static_cast<std::size_t>(size));
        std::iota(places.begin(), places.end(), 0);
        std::ranges::shuffle(places, std::mt19937(1));  // NOLINT(cert-msc32-c,cert-msc51-cpp)
        sort(together(team(threads)), places, less);
        std::vector<large> others;
        for (const int place : places) others.push_back({.value = place, .more = {}});
        sort(together(team(threads)), others,
             [&less](const large& a, const large& b) { return less(a.value, b.value); });
        std::ranges::sort(places);
        std::sort(others.begin(), others.end());
        for (int i = 0; i < size; ++i) ASSERT_EQ(places[static_cast<std::size_t>(i)], i);
        ASSERT_TRUE(std::ranges::equal(others, places, {}, &large::value));
      }
}

TEST(sort, keeps_what_moves_cheaply_without_an_order) { expect_permutations_without_an_order(nearfar::sort); }
TEST(stable_sort, keeps_what_moves_cheaply_without_an_order) {
  expect_permutations_without_an_order(nearfar::stable_sort);
}

template <typename Sort>
void expect_few_are_lost_if_a_comparison_throws(const Sort& sort) {
  constexpr int size = 3000;
  for (const int threads : {1, 2, 5})
    for (int calls = 0; calls < 50000; calls += 997) {
      std::vector<int> places(size);
      std::iota(places.begin(), places.end(), 0);
      std::ranges::shuffle(places, std::mt19937(1));  // NOLINT(cert-msc32-c,cert-msc51-cpp)
      std::atomic<int> left = calls;
      try {
        sort(together(team(threads)), places, [&](int a, int b) {
          if (left.fetch_sub(1) <= 0) throw std::runtime_error("enough");
          return a < b;
        });
      } catch (const std::runtime_error&) {
      }
      // The element that a thread held aside is a copy of another one now.
      std::ranges::sort(places);
      const auto repeated = std::ranges::unique(places);
      ASSERT_LE(repeated.size(), static_cast<std::size_t>(threads));
    }
}

TEST(sort, keeps_what_moves_cheaply_if_a_comparison_throws) {
  expect_few_are_lost_if_a_comparison_throws(nearfar::sort);
}
TEST(stable_sort, keeps_what_moves_cheaply_if_a_comparison_throws) {
  expect_few_are_lost_if_a_comparison_throws(nearfar::stable_sort);
}

}  // namespace
