/// \file
/// Random numbers that are the same on every platform, unlike the distributions of the standard library.
#pragma once

#include <cstdint>

#include "costs.hpp"

namespace nearfar::simulation {

/// SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
class random_stream {
 public:
  explicit random_stream(std::uint64_t seed) noexcept : state_(seed) {}

  [[nodiscard]] std::uint64_t next() noexcept {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ mixed >> 30U) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ mixed >> 27U) * 0x94d049bb133111ebU;
    return mixed ^ mixed >> 31U;
  }

  /// A number from 0 to `span` - 1; 0 for an empty span.
  [[nodiscard]] picoseconds below(picoseconds span) noexcept {
    if (span <= 1) return 0;
    return static_cast<picoseconds>(next() % static_cast<std::uint64_t>(span));
  }

  /// A time with this mean and `share` of it as its standard deviation, at most half of the mean: drawn
  /// evenly.
  [[nodiscard]] picoseconds varied(picoseconds mean, double share) noexcept {
    if (share <= 0) return mean;
    constexpr double half_width = 1.7320508075688772;  // in standard deviations
    constexpr double steps = 1U << 31U;
    const double from_middle = static_cast<double>(next() >> 32U) / steps - 1;
    return static_cast<picoseconds>(static_cast<double>(mean) * (1 + half_width * share * from_middle));
  }

  /// A number with mean 0 and standard deviation 1, never beyond 6: the sum of twelve uniform numbers, in
  /// integers.
  [[nodiscard]] double normal() noexcept {
    std::uint64_t sum = 0;
    for (int draw = 0; draw < 3; ++draw) {
      const std::uint64_t four = next();
      for (unsigned shift = 0; shift < 64; shift += 16) sum += four >> shift & 0xffffU;
    }
    constexpr double steps = 65536;
    // Adds half a step for each of the twelve, because each stands for the middle of its interval.
    return (static_cast<double>(sum) + 6) / steps - 6;
  }

 private:
  std::uint64_t state_;
};

}  // namespace nearfar::simulation
