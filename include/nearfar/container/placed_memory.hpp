/// \file
/// What the allocation functions of nearfar have in common: where memory comes from, and how its pages get to
/// the threads that own them.
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

/// Memory that is to be placed is mapped afresh from this size in bytes on. What is smaller comes from
/// `operator new` and lies where that has it: it may be memory that was used before, whose pages have their
/// place already, and it fits a core's cache.
///
/// Fresh pages cost a fault each, over 1 µs. This is the size from which two threads that share the faults
/// are as fast as one, the parallel region included.
inline constexpr std::size_t placed_from_bytes = std::size_t{64} * 1024;

namespace detail {

/// A piece of memory to get, or to give back the same way, which follows from these members alone.
class memory_request {
 public:
  /// `alignment` is a power of two. Arrays of some cache lines begin with one in any case; all memory begins
  /// with a page if `page_aligned`.
  memory_request(std::size_t bytes, std::size_t alignment, bool page_aligned) noexcept
      : bytes_(bytes), alignment_(alignment) {
    if (bytes >= 4 * cache_line) alignment_ = std::max(alignment_, cache_line);
    if (page_aligned) alignment_ = std::max(alignment_, page_size());
  }

  /// Whether get() maps fresh pages, which nobody has touched.
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
      ::operator delete(memory, std::align_val_t(alignment_));  // by size is not for every compiler
    }
  }

 private:
  std::size_t bytes_;
  std::size_t alignment_;
};

/// Writes to each of the fresh pages at `memory` once: the page that begins within item i of `items` of
/// `item_bytes` each on the thread that owns i by `static_schedule(items, team, chunk)`. So a page has one
/// writer even where it holds items of several owners. Cost: one parallel region, one page fault a page.
inline void touch_pages(void* memory, std::size_t items, std::size_t item_bytes, const team& threads,
                        std::size_t chunk) {
  const std::size_t page = page_size();
  threads.for_each_block(items, chunk, [&](index_range block) {
    const std::size_t end = block.last * item_bytes;
    for (std::size_t at = (block.first * item_bytes + page - 1) / page * page; at < end; at += page) {
      // Reading would map the system's one page of zeros, which is nowhere.
      static_cast<volatile unsigned char*>(memory)[at] = 0;
    }
  });
}

}  // namespace detail

}  // namespace nearfar
