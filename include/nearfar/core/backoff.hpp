/// \file
/// How a rank spaces its attempts.
#pragma once

#include <chrono>

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

/// `span` after `now`, or the last instant there is if that comes first.
[[nodiscard]] constexpr std::chrono::nanoseconds later(std::chrono::nanoseconds now,
                                                       std::chrono::nanoseconds span) noexcept {
  return span < std::chrono::nanoseconds::max() - now ? now + span : std::chrono::nanoseconds::max();
}

}  // namespace nearfar
