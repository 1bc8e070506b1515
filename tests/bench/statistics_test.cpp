#include "bench/results/statistics.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace nearfar::bench {
namespace {

TEST(statistics, median_of_odd_and_even_counts) {
  EXPECT_DOUBLE_EQ(median_of({3, 1, 2}).median, 2);
  EXPECT_DOUBLE_EQ(median_of({4, 1, 3, 2}).median, 2.5);
}

// Coverage of the interval between the k-th smallest and k-th largest of n: 1 - 2 * P(Binomial(n, 1/2) < k).
TEST(statistics, interval_is_the_tightest_with_95_percent) {
  // n = 8: [1st, 8th] covers 99.2 %, [2nd, 7th] 93.0 %.
  const median_interval eight = median_of({8, 7, 6, 5, 4, 3, 2, 1});
  EXPECT_TRUE(eight.is_confidence);
  EXPECT_DOUBLE_EQ(eight.low, 1);
  EXPECT_DOUBLE_EQ(eight.high, 8);
  // n = 9: [2nd, 8th] covers 96.1 %, [3rd, 7th] 82.0 %.
  const median_interval nine = median_of({9, 8, 7, 6, 5, 4, 3, 2, 1});
  EXPECT_DOUBLE_EQ(nine.low, 2);
  EXPECT_DOUBLE_EQ(nine.high, 8);
  // n = 24: [7th, 18th] covers 97.7 %, [8th, 17th] 93.6 %.
  std::vector<double> values;
  for (int i = 1; i <= 24; ++i) values.push_back(i);
  const median_interval many = median_of(values);
  EXPECT_DOUBLE_EQ(many.low, 7);
  EXPECT_DOUBLE_EQ(many.high, 18);
}

// From 1,075 values on, 0.5^n is 0 as a double.
TEST(statistics, median_of_thousands) {
  std::vector<double> values(10'000);
  std::iota(values.begin(), values.end(), 1);
  const median_interval found = median_of(values);
  EXPECT_DOUBLE_EQ(found.median, 5000.5);
  EXPECT_TRUE(found.is_confidence);
  // The normal approximation: 0.98 times the root of n on each side.
  EXPECT_NEAR(found.low, 5000.5 - 98, 2);
  EXPECT_NEAR(found.high, 5000.5 + 98, 2);
}

TEST(statistics, few_values_have_a_range_only) {
  // n = 5: [1st, 5th] covers 93.8 %; n = 6: [1st, 6th] covers 96.9 %.
  const median_interval five = median_of({5, 4, 3, 2, 1});
  EXPECT_FALSE(five.is_confidence);
  EXPECT_DOUBLE_EQ(five.low, 1);
  EXPECT_DOUBLE_EQ(five.high, 5);
  EXPECT_TRUE(median_of({6, 5, 4, 3, 2, 1}).is_confidence);
  EXPECT_DOUBLE_EQ(median_of({7}).low, 7);
}

TEST(statistics, no_values_are_an_error) { EXPECT_THROW((void)median_of({}), std::invalid_argument); }

TEST(statistics, coefficient_of_variation_has_bessels_correction) {
  // Mean 5, sample variance 32 / 7.
  constexpr std::array<std::int64_t, 8> values{2, 4, 4, 4, 5, 5, 7, 9};
  EXPECT_NEAR(coefficient_of_variation(values), std::sqrt(32.0 / 7.0) / 5.0, 1e-12);
  constexpr std::array<std::int64_t, 2> alike{7, 7};
  EXPECT_DOUBLE_EQ(coefficient_of_variation(alike), 0);
  constexpr std::array<std::int64_t, 1> alone{7};
  EXPECT_DOUBLE_EQ(coefficient_of_variation(alone), 0);
}

}  // namespace
}  // namespace nearfar::bench
