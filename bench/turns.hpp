/// \file
/// The order in which each repetition takes the points of a study.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace nearfar::bench {

/// Points by their indices. Every repetition takes them in a random order of its own, so that a drift of the
/// machine hits all points alike. The same seed gives the same orders.
class turns {
 public:
  turns(std::vector<std::size_t> points, std::uint64_t seed) : points_(std::move(points)), random_(seed) {}

  /// The order of the next repetition.
  [[nodiscard]] std::vector<std::size_t> next() {
    std::vector<std::size_t> order = points_;
    std::shuffle(order.begin(), order.end(), random_);
    return order;
  }

 private:
  std::vector<std::size_t> points_;
  std::mt19937_64 random_;
};

}  // namespace nearfar::bench
