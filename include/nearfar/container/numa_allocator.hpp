/// \file
/// An allocator that places the pages of an array near the threads that will work on it.
///
/// Source: H. Stengel, diploma thesis, Georg-Simon-Ohm-Fachhochschule Nürnberg, 2007, sections 2.3 and 3.2.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "nearfar/container/placed_memory.hpp"
#include "nearfar/container/team.hpp"
#include "nearfar/memory/pages.hpp"

namespace nearfar {

/// Allocates arrays whose pages are first touched by the threads that own their elements: those of a team, by
/// `static_schedule(n, team, Chunk)`, which is OpenMP's `schedule(static)`, or `schedule(static, Chunk)`. For
/// `std::vector` and every other container of the standard library.
///
/// The granularity is a page. A page with elements of two owners is placed for the owner of the element in
/// which it begins. With a chunk all arrays begin with a page, so that chunks of whole pages have one owner
/// each; smaller chunks cannot be placed. Arrays of less than `placed_from_bytes` come from `operator new`
/// and are not placed, so that nodes of lists and trees cost what they always cost. With a chunk each node
/// would cost a page, so give node-based containers no chunk; `near_allocator` places their nodes.
///
/// All allocators of the same type are equal: each can deallocate what another has allocated, whatever their
/// teams and placements. A container that is copied or moved passes its allocator on. A container to which
/// another is copy-assigned keeps its own allocator, since where its elements lie is its own affair.
///
/// Any number of threads may use it at once. Copies share the placement and do not allocate.
///
/// Cost of a placed array: a system call each to map and to unmap it, one parallel region, one page fault per
/// page.
template <typename T, std::size_t Chunk = 0>
class numa_allocator {
  static_assert(std::is_object_v<T> && std::is_same_v<T, std::remove_cv_t<T>>,
                "numa_allocator<T> needs an object type T that is neither const nor volatile");

 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using is_always_equal = std::true_type;
  using propagate_on_container_copy_assignment = std::false_type;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;

  /// The same for elements of another type. `std::allocator_traits` cannot derive this, since the chunk is
  /// not a type.
  template <typename U>
  struct rebind {
    using other = numa_allocator<U, Chunk>;
  };

  /// Elements per block of one thread; 0: one block per thread.
  static constexpr std::size_t chunk = Chunk;

  /// All threads, placement by first touch.
  numa_allocator() noexcept = default;

  /// Places pages for that team by first touch.
  numa_allocator(const nearfar::team& threads) noexcept : team_(threads) {}

  /// Places pages as `placement` says, and by first touch for that team. Domains are checked when memory is
  /// mapped. Throws `std::bad_alloc`.
  numa_allocator(const nearfar::team& threads, page_placement placement) : team_(threads) {
    if (placement != page_placement{}) {
      placement_ = std::make_shared<const page_placement>(std::move(placement));
    }
  }

  // No move operations: they would take the placement away from an allocator that others still use.
  numa_allocator(const numa_allocator&) noexcept = default;
  numa_allocator& operator=(const numa_allocator&) noexcept = default;
  ~numa_allocator() = default;

  template <typename U>
  numa_allocator(const numa_allocator<U, Chunk>& other) noexcept
      : team_(other.team_), placement_(other.placement_) {}

  /// Placed memory for `n` elements. Throws `std::bad_array_new_length` if no array can be that large,
  /// `std::bad_alloc` if there is too little memory, and what `map_pages` throws.
  [[nodiscard]] T* allocate(std::size_t n) const {
    T* const elements = allocate_untouched(n);
    touch(elements, n);
    return elements;
  }

  /// The same without touching it, for containers that construct elements in parallel, each on its owner.
  [[nodiscard]] T* allocate_untouched(std::size_t n) const {
    if (n > max_size()) throw std::bad_array_new_length();
    return static_cast<T*>(request(n).get(placement()));
  }

  /// Does to the memory of allocate_untouched(n), before any element is constructed, what allocate(n) does:
  /// each page is touched by its owner, if pages are placed at all.
  void touch(T* elements, std::size_t n) const {
    if (request(n).mapped()) detail::touch_pages(elements, n, sizeof(T), team_, Chunk);
  }

  /// Deallocates what `allocate(n)` or `allocate_untouched(n)` of any allocator of this type returned.
  void deallocate(T* elements, std::size_t n) const noexcept { request(n).give_back(elements); }

  [[nodiscard]] nearfar::team team() const noexcept { return team_; }

  [[nodiscard]] const page_placement& placement() const noexcept {
    static const page_placement by_first_touch{};
    return placement_ ? *placement_ : by_first_touch;
  }

  [[nodiscard]] static constexpr std::size_t max_size() noexcept {
    return static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) / sizeof(T);
  }

 private:
  template <typename U, std::size_t OtherChunk>
  friend class numa_allocator;

  [[nodiscard]] static detail::memory_request request(std::size_t n) noexcept {
    return {n * sizeof(T), alignof(T), Chunk != 0};
  }

  nearfar::team team_{};
  // Shared, because copying an allocator may not throw; none for the default.
  std::shared_ptr<const page_placement> placement_{};
};

/// All are equal: each can deallocate what another has allocated.
template <typename T, typename U, std::size_t Chunk>
[[nodiscard]] constexpr bool operator==(const numa_allocator<T, Chunk>&,
                                        const numa_allocator<U, Chunk>&) noexcept {
  return true;
}

}  // namespace nearfar
