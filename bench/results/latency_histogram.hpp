/// \file
/// How long operations took: counts by length, which can be added up over ranks. And which operations are
/// timed.
#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace nearfar::bench {

/// Counts time spans in classes whose width is a 16th of an octave, from 1 ns to an hour. So a quantile is
/// exact within 3 %. Shortest, longest and sum are exact.
class latency_histogram {
 public:
  void add(std::chrono::nanoseconds span) noexcept {
    ++counts_[class_of(span.count())];
    shortest_ = std::min(shortest_, span);
    longest_ = std::max(longest_, span);
    sum_ += span;
  }

  [[nodiscard]] const std::vector<std::int64_t>& counts() const noexcept { return counts_; }
  /// The largest value of its type if no span was added, so that the minimum over several histograms is
  /// right.
  [[nodiscard]] std::chrono::nanoseconds shortest() const noexcept { return shortest_; }
  [[nodiscard]] std::chrono::nanoseconds longest() const noexcept { return longest_; }
  [[nodiscard]] std::chrono::nanoseconds sum() const noexcept { return sum_; }

  [[nodiscard]] static std::int64_t count(std::span<const std::int64_t> counts) {
    return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  }

  /// The shortest span that at least `share` (0 to 1) of all spans do not exceed, in ns. 0 if no span was
  /// added.
  [[nodiscard]] static double quantile(std::span<const std::int64_t> counts, double share) {
    const std::int64_t all = count(counts);
    // The double 0.07 is a little more than 7 hundredths, and must not ask for the eighth of a hundred spans.
    constexpr double rounding = 1e-12;
    const double least = std::ceil(share * static_cast<double>(all) * (1 - rounding));
    const auto wanted = std::max<std::int64_t>(1, static_cast<std::int64_t>(least));
    std::int64_t so_far = 0;
    for (std::size_t i = 0; i < counts.size() && all != 0; ++i) {
      so_far += counts[i];
      if (so_far >= wanted) return middle_of(i);
    }
    return 0;
  }

  static constexpr std::size_t classes = 640;

 private:
  static constexpr unsigned bits = 4;
  static constexpr std::uint64_t exact = std::uint64_t{2} << bits;  // below, each value has a class

  [[nodiscard]] static std::size_t class_of(std::int64_t nanoseconds) noexcept {
    const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(0, nanoseconds));
    if (value < exact) return static_cast<std::size_t>(value);
    const auto shift = static_cast<unsigned>(std::bit_width(value)) - bits - 1;
    const std::size_t which = (std::size_t{shift} << bits) + static_cast<std::size_t>(value >> shift);
    return std::min(which, classes - 1);
  }
  [[nodiscard]] static double middle_of(std::size_t which) noexcept {
    if (which < exact) return static_cast<double>(which);
    const std::size_t shift = (which >> bits) - 1;
    const auto first = static_cast<double>(((which & ((1U << bits) - 1)) | (1U << bits)) << shift);
    return first + static_cast<double>(std::uint64_t{1} << shift) / 2;
  }

  std::vector<std::int64_t> counts_ = std::vector<std::int64_t>(classes);
  std::chrono::nanoseconds shortest_ = std::chrono::nanoseconds::max();
  std::chrono::nanoseconds longest_{};
  std::chrono::nanoseconds sum_{};
};

/// Selects which operations of a rank are timed: the first, and then one of each interval.
class latency_turns {
 public:
  /// An interval of 0 selects none.
  explicit latency_turns(std::int64_t interval) noexcept : interval_(interval) {}

  [[nodiscard]] bool is_next() noexcept {
    if (interval_ == 0 || --left_ > 0) return false;
    left_ = interval_;
    return true;
  }

 private:
  std::int64_t interval_;
  std::int64_t left_ = 1;
};

}  // namespace nearfar::bench
