/// \file
/// The pauses between a rank's attempts.
#pragma once

#include <chrono>

#include "nearfar/language.hpp"

namespace nearfar {

/// The pause after a failed attempt, which doubles up to `longest`.
struct backoff {
  std::chrono::nanoseconds shortest{1};
  std::chrono::nanoseconds longest{256};

  /// The pause that follows a pause of `span`.
  [[nodiscard]] constexpr std::chrono::nanoseconds after(std::chrono::nanoseconds span) const noexcept {
    return span > longest / 2 ? longest : span + span;
  }
};

/// Converts a span of any unit to nanoseconds. A span that nanoseconds cannot represent becomes the longest
/// or shortest possible; a NaN becomes the shortest.
template <typename Rep, typename Period>
[[nodiscard]] constexpr std::chrono::nanoseconds in_nanoseconds(
    std::chrono::duration<Rep, Period> span) noexcept {
  using std::chrono::nanoseconds;
  const std::chrono::duration<long double, std::nano> exact(span);
  if (exact >= nanoseconds::max()) return nanoseconds::max();
  if (!(exact > nanoseconds::min())) return nanoseconds::min();
  return std::chrono::duration_cast<nanoseconds>(span);
}

/// The time `span` after `now`, at most the latest possible time.
[[nodiscard]] constexpr std::chrono::nanoseconds later(std::chrono::nanoseconds now,
                                                       std::chrono::nanoseconds span) noexcept {
  return span < std::chrono::nanoseconds::max() - now ? now + span : std::chrono::nanoseconds::max();
}

}  // namespace nearfar
