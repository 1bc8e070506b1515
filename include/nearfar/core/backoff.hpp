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
    const std::chrono::nanoseconds twice = span + span;
    return twice < longest ? twice : longest;
  }
};

}  // namespace nearfar
