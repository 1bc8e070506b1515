// Containers without free memory: an operation keeps the state that numa_vector.hpp promises to keep. Every
// other operation leaves nothing behind and a usable container.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "nearfar/container/algorithm.hpp"
#include "nearfar/container/numa_vector.hpp"
#include "nearfar/container/segmented_array.hpp"
#include "tests/allocation/failing_new.hpp"

namespace nearfar::testing {
namespace {

/// A text in memory of its own.
[[nodiscard]] std::string text(std::size_t number) { return std::string(40, 'x') + std::to_string(number); }

using vector_type = numa_vector<std::string, std::allocator<std::string>>;

[[nodiscard]] std::vector<std::string> contents(const vector_type& of) { return {of.begin(), of.end()}; }

template <std::invocable<vector_type&> Operation>
void expect_all_or_nothing(const Operation& operation) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < 9; ++i) all.push_back(text(i));
  vector_type changed(all.begin(), all.end());
  operation(changed);  // makes what OpenMP and the library keep for ever, before the counts
  const std::vector<std::string> after = contents(changed);
  for_failing_allocations(
      [&](failing_allocations::plan& by) {
        const std::size_t before = living_allocations();
        {
          vector_type of(all.begin(), all.end());
          const std::size_t capacity = of.capacity();
          const bool went_through = goes_through(by, [&] { operation(of); });
          EXPECT_TRUE(contents(of) == (went_through ? after : all)) << "first " << by.first;
          if (!went_through) {
            EXPECT_EQ(of.capacity(), capacity);
          }
        }
        EXPECT_EQ(living_allocations(), before) << "leaked: first " << by.first << ", every " << by.every;
      },
      failing_allocations::of::all_threads);
}

TEST(numa_vector_without_memory, is_as_it_was_when_it_grows) {
  static const std::string more = text(99);
  expect_all_or_nothing([](vector_type& of) { of.push_back(more); });
  expect_all_or_nothing([](vector_type& of) { of.emplace_back(std::size_t{50}, 'y'); });
  expect_all_or_nothing([](vector_type& of) { of.reserve(100); });
  expect_all_or_nothing([](vector_type& of) { of.resize(20); });
  expect_all_or_nothing([](vector_type& of) { of.resize(4); });
  expect_all_or_nothing([](vector_type& of) { of.resize(20, more); });
  expect_all_or_nothing([](vector_type& of) { of.redistribute(); });
}
TEST(numa_vector_without_memory, is_as_it_was_when_it_is_assigned) {
  static const vector_type other(30, text(7));
  expect_all_or_nothing([](vector_type& of) { of = other; });
  expect_all_or_nothing([](vector_type& of) { of.assign(3, text(1)); });
  expect_all_or_nothing([](vector_type& of) { of.assign(other.begin(), other.end()); });
}

TEST(segmented_array_without_memory, leaves_nothing_behind) {
  const segmented_array<std::string> warm(4, 12, text(1));
  for_failing_allocations(
      [&](failing_allocations::plan& by) {
        const std::size_t before = living_allocations();
        static_cast<void>(goes_through(by, [&] {
          segmented_array<std::string> made(4, 12, text(1));
          segmented_array<std::string> copy(made);
          copy = warm;
        }));
        EXPECT_EQ(living_allocations(), before) << "leaked: first " << by.first << ", every " << by.every;
      },
      failing_allocations::of::all_threads);
}

TEST(algorithms_without_memory, lose_no_element) {
  std::vector<std::uint64_t> numbers(5000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i * 7919 % numbers.size();
  const auto expect_all_there = [&](const auto& operation) {
    auto warm = numbers;
    operation(warm);
    for_failing_allocations(
        [&](failing_allocations::plan& by) {
          auto of = numbers;
          const std::size_t before = living_allocations();
          const bool went_through = goes_through(by, [&] { operation(of); });
          EXPECT_EQ(living_allocations(), before) << "leaked: first " << by.first << ", every " << by.every;
          if (went_through) {
            EXPECT_TRUE(std::is_sorted(of.begin(), of.end()));
          }
          std::sort(of.begin(), of.end());
          for (std::size_t i = 0; i < of.size(); ++i) ASSERT_EQ(of[i], i) << "first " << by.first;
        },
        failing_allocations::of::all_threads);
  };
  expect_all_there([](auto& of) { sort(of); });
  expect_all_there([](auto& of) { stable_sort(of); });
}

}  // namespace
}  // namespace nearfar::testing
