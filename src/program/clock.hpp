// Vector clocks: what each rank knows of the others by MPI's and C++'s happens-before.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace nearfar::program {

/// A clock is copied at each message, so its size is fixed.
inline constexpr int most_ranks = 32;

/// Counts the moments at which a rank let others know what it had done. 0 is before the first.
using moment = std::uint32_t;

class vector_clock {
 public:
  [[nodiscard]] moment& operator[](int rank) noexcept { return at_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] moment operator[](int rank) const noexcept { return at_[static_cast<std::size_t>(rank)]; }
  void join(const vector_clock& other) noexcept {
    for (std::size_t i = 0; i < at_.size(); ++i) at_[i] = std::max(at_[i], other.at_[i]);
  }

 private:
  std::array<moment, most_ranks> at_{};
};

}  // namespace nearfar::program
