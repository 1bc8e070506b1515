/// \file
/// The statistics of the benchmark suite.
///
/// Source: A. Uffmann, master thesis, LMU Munich, 2022, sections 4 and 4.1.3.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace nearfar::bench {

/// A median with an interval around it.
struct median_interval {
  double median = 0;
  double low = 0;
  double high = 0;
  /// False if the sample is too small for 95 % (fewer than 6 values). Then the interval is from minimum to
  /// maximum.
  bool is_confidence = false;
};

/// Median and the tightest symmetric non-parametric interval that covers it with at least 95 % probability,
/// by order statistics and without assuming a distribution. Throws `std::invalid_argument` for no values.
[[nodiscard]] median_interval median_of(std::vector<double> values);

/// Coefficient of variation with Bessel's correction: sample standard deviation over mean. 0 for fewer than
/// two values or a mean of 0.
[[nodiscard]] double coefficient_of_variation(std::span<const std::int64_t> values);

}  // namespace nearfar::bench
