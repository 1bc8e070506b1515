/// \file
/// Random numbers by which the ranks of a benchmark choose operations.
#pragma once

#include <cstdint>

namespace nearfar::bench {

/// The numbers that one rank draws, by a counter (S. Vigna, SplitMix64). The same seed gives a rank the same
/// numbers, and each rank different ones.
class draws {
 public:
  draws(std::uint64_t seed, int rank) noexcept
      : state_(seed * 0x9e37'79b9'7f4a'7c15U + static_cast<std::uint64_t>(rank) * 0xd1b5'4a32'd192'ed03U) {}

  [[nodiscard]] std::uint64_t next() noexcept {
    std::uint64_t z = (state_ += 0x9e37'79b9'7f4a'7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58'476d'1ce4'e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d0'49bb'1331'11ebU;
    return z ^ (z >> 31U);
  }
  /// A number from 0 to 1, excluding 1.
  [[nodiscard]] double share() noexcept { return static_cast<double>(next() >> 11U) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace nearfar::bench
