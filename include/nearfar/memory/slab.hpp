/// \file
/// Bookkeeping of one range of memory that every rank divides in the same way.
#pragma once

#include <cstddef>
#include <iterator>
#include <map>
#include <optional>

#include "nearfar/core/layout.hpp"

namespace nearfar {

/// First-fit allocator of offsets, always the lowest that fits. Ranks that have allocated and released the
/// same sizes, in whatever order they released them, get the same offset for the next allocation: that is
/// what lets thousands of locks share one window without talking about displacements.
class slab {
 public:
  explicit slab(std::size_t units, std::size_t granularity = slot_bytes) : granularity_(granularity) {
    free_.emplace(0, units / granularity * granularity);
  }

  /// Offset of `bytes` (rounded up to whole slots), or nothing when no gap is large enough.
  [[nodiscard]] std::optional<std::size_t> allocate(std::size_t bytes) {
    const std::size_t wanted = rounded(bytes);
    for (auto gap = free_.begin(); gap != free_.end(); ++gap) {
      const auto [offset, length] = *gap;
      if (length < wanted) continue;
      free_.erase(gap);
      if (length > wanted) free_.emplace(offset + wanted, length - wanted);
      used_ += wanted;
      return offset;
    }
    return std::nullopt;
  }

  /// Returns what `allocate(bytes)` gave out; neighbouring gaps become one.
  void release(std::size_t offset, std::size_t bytes) {
    const std::size_t length = rounded(bytes);
    used_ -= length;
    auto gap = free_.emplace(offset, length).first;
    if (const auto next = std::next(gap); next != free_.end() && gap->first + gap->second == next->first) {
      gap->second += next->second;
      free_.erase(next);
    }
    if (gap == free_.begin()) return;
    if (const auto previous = std::prev(gap); previous->first + previous->second == gap->first) {
      previous->second += gap->second;
      free_.erase(gap);
    }
  }

  /// Bytes given out and not returned.
  [[nodiscard]] std::size_t used() const noexcept { return used_; }

 private:
  [[nodiscard]] std::size_t rounded(std::size_t bytes) const noexcept {
    return (bytes + granularity_ - 1) / granularity_ * granularity_;
  }

  std::size_t granularity_;
  std::map<std::size_t, std::size_t> free_;
  std::size_t used_ = 0;
};

}  // namespace nearfar
