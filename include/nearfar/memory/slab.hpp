/// \file
/// Bookkeeping of one range of memory that every rank divides in the same way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>

#include "nearfar/core/agreement.hpp"
#include "nearfar/core/error.hpp"
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

/// Size of each rank's slab in bytes if `ranks` > 0 ranks ask for `bytes` each: whole slots, at least one.
/// Throws `out_of_memory`, which names the `option`, where no address space holds them all.
[[nodiscard]] inline std::size_t slab_bytes(std::size_t bytes, int ranks, const char* option) {
  if (bytes > PTRDIFF_MAX / static_cast<std::size_t>(ranks) - slot_bytes)
    throw out_of_memory(std::string(option) + " asks for " + std::to_string(bytes) + " bytes on each of " +
                        std::to_string(ranks) + " ranks, more than an address space has: lower it");
  return (std::max<std::size_t>(bytes, 1) + slot_bytes - 1) / slot_bytes * slot_bytes;
}

/// What a rank takes from a slab, and what to do when there is none left.
struct slab_request {
  const char* what;  ///< "far memory"
  const char* unit;  ///< "bytes"
  const char* cure;  ///< "raise ..."
};

/// Offset at which every rank of `w` has `count` units free, which are taken. Collective. Throws on every
/// rank alike: `collective_mismatch` if the ranks ask for different things or have released different ones,
/// `out_of_memory` if there is no room.
template <typename W>
[[nodiscard]] std::size_t allocate_alike(W& w, slab& from, std::size_t count, const slab_request& wanted) {
  const std::optional<std::size_t> offset = from.allocate(count);
  try {
    // Agreeing on the offset also makes sure that no rank still uses what was here before.
    expect_alike(w, wanted.what,
                 {{wanted.unit, static_cast<std::int64_t>(count)},
                  {"offset", offset ? static_cast<std::int64_t>(*offset) : -1}});
  } catch (...) {
    if (offset) from.release(*offset, count);
    throw;
  }
  if (!offset)
    throw out_of_memory(std::string("no room for ") + wanted.what + " of " + std::to_string(count) + " " +
                        wanted.unit + " on each rank: " + wanted.cure);
  return *offset;
}

}  // namespace nearfar
