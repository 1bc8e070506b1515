/// \file
/// How a rank spaces its attempts.
#pragma once

#include <chrono>

#include "nearfar/core/language.hpp"

namespace nearfar {

/// Pause after a failed attempt; it doubles up to the longest.
struct backoff {
  std::chrono::nanoseconds shortest{1};
  std::chrono::nanoseconds longest{256};

  /// The pause that follows one of `span`.
  [[nodiscard]] constexpr std::chrono::nanoseconds after(std::chrono::nanoseconds span) const noexcept {
    return span > longest / 2 ? longest : span + span;
  }
};

/// A span of any unit in nanoseconds, or the longest there is where they cannot say it; what is no number is
/// over at once.
template <typename Rep, typename Period>
[[nodiscard]] constexpr std::chrono::nanoseconds in_nanoseconds(
    std::chrono::duration<Rep, Period> span) noexcept {
  using std::chrono::nanoseconds;
  const std::chrono::duration<long double, std::nano> exact(span);
  if (exact >= nanoseconds::max()) return nanoseconds::max();
  if (!(exact > nanoseconds::min())) return nanoseconds::min();
  return std::chrono::duration_cast<nanoseconds>(span);
}

/// `span` after `now`, or the last instant there is if that comes first.
[[nodiscard]] constexpr std::chrono::nanoseconds later(std::chrono::nanoseconds now,
                                                       std::chrono::nanoseconds span) noexcept {
  return span < std::chrono::nanoseconds::max() - now ? now + span : std::chrono::nanoseconds::max();
}

}  // namespace nearfar
