/// \file
/// The common part of nearfar's allocation functions: where memory comes from, and how its pages are placed
/// near the threads that own them.
///
/// Source: H. Stengel, diploma thesis, Georg-Simon-Ohm-Fachhochschule Nürnberg, 2007, sections 2.1 and 2.3.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>

#include "nearfar/container/static_schedule.hpp"
#include "nearfar/container/team.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/memory/pages.hpp"

namespace nearfar {

/// From this size in bytes on, memory to be placed is freshly mapped. Smaller memory comes from `operator
/// new` and lies where that has it: it may have been used before, so that its pages are placed already, and
/// it fits a core's cache.
///
/// Fresh pages cost a fault each, over 1 µs. From this size on, two threads that share the faults are as fast
/// as one, including the parallel region.
inline constexpr std::size_t placed_from_bytes = std::size_t{64} * 1024;

namespace detail {

/// A request for memory, which also determines how to give it back.
class memory_request {
 public:
  /// `alignment` is a power of two. Arrays of several cache lines always begin with a line. With
  /// `page_aligned` all memory begins with a page.
  memory_request(std::size_t bytes, std::size_t alignment, bool page_aligned) noexcept
      : bytes_(bytes), alignment_(alignment) {
    if (bytes >= 4 * cache_line) alignment_ = std::max(alignment_, cache_line);
    if (page_aligned) alignment_ = std::max(alignment_, page_size());
  }

  /// Whether get() maps fresh pages, untouched so far.
  [[nodiscard]] bool mapped() const noexcept {
    return bytes_ >= placed_from_bytes && alignment_ <= page_size();
  }

  /// Throws `std::bad_alloc`, and what `map_pages` throws.
  [[nodiscard]] void* get(const page_placement& placement) const {
    return mapped() ? map_pages(bytes_, placement) : ::operator new(bytes_, std::align_val_t(alignment_));
  }

  void give_back(void* memory) const noexcept {
    if (mapped()) {
      unmap_pages(memory, bytes_);
    } else {
      ::operator delete(memory, std::align_val_t(alignment_));  // not all compilers have the sized form
    }
  }

 private:
  std::size_t bytes_;
  std::size_t alignment_;
};

/// Writes once to each of the fresh pages at `memory`. The page that begins within item i of `items` of
/// `item_bytes` each is written by the owner of i by `static_schedule(items, team, chunk)`. So a page has one
/// writer even if it holds items of several owners. Cost: one parallel region, one page fault per page.
inline void touch_pages(void* memory, std::size_t items, std::size_t item_bytes, const team& threads,
                        std::size_t chunk) {
  const std::size_t page = page_size();
  threads.for_each_block(items, chunk, [&](index_range block) {
    const std::size_t end = block.last * item_bytes;
    for (std::size_t at = (block.first * item_bytes + page - 1) / page * page; at < end; at += page) {
      // Reading would map the system's shared page of zeros, which places nothing.
      static_cast<volatile unsigned char*>(memory)[at] = 0;
    }
  });
}

}  // namespace detail

}  // namespace nearfar
