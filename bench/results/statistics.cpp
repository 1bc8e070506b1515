#include "bench/results/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace nearfar::bench {

median_interval median_of(std::vector<double> values) {
  if (values.empty()) throw std::invalid_argument("the median of no values");
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  median_interval result;
  result.median = n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;

  // The interval from the (k+1)-th smallest to the (k+1)-th largest value misses the median when at most k
  // values fall on one side of it, which is binomial with probability one half.
  // In logarithms, since 0.5^n is no positive double from 1,075 values on.
  std::size_t k = 0;
  double log_term = static_cast<double>(n) * std::log(0.5);  // of the probability of exactly k on one side
  double below = std::exp(log_term);                         // probability of at most k
  result.is_confidence = 1 - 2 * below >= 0.95;
  while (result.is_confidence) {
    log_term += std::log(static_cast<double>(n - k) / static_cast<double>(k + 1));
    const double term = std::exp(log_term);
    if (1 - 2 * (below + term) < 0.95) break;
    below += term;
    ++k;
  }
  result.low = values[k];
  result.high = values[n - 1 - k];
  return result;
}

double coefficient_of_variation(std::span<const std::int64_t> values) {
  if (values.size() < 2) return 0;
  const auto count = static_cast<double>(values.size());
  const double mean =
      static_cast<double>(std::accumulate(values.begin(), values.end(), std::int64_t{0})) / count;
  if (mean == 0) return 0;
  double squares = 0;
  for (const std::int64_t value : values) squares += std::pow(static_cast<double>(value) - mean, 2);
  return std::sqrt(squares / (count - 1)) / mean;
}

}  // namespace nearfar::bench
