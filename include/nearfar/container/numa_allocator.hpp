/// \file
/// An allocator that puts the pages of an array where the threads are that will work on it.
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

/// Allocates arrays whose pages are touched first by the threads that own their elements: those of a team, by
/// `static_schedule(n, team, Chunk)`, which is OpenMP's `schedule(static)`, or `schedule(static, Chunk)`. For
/// `std::vector` and every other container of the standard library.
///
/// Pages are the grain. One that holds elements of two owners lies with the owner of the element that it
/// begins in. With a chunk all arrays begin with a page, so that chunks of whole pages have one owner each;
/// smaller chunks cannot be placed. Arrays of less than `placed_from_bytes` come from `operator new` and are
/// not placed, so that nodes of lists and trees cost what they always cost (with a chunk a page each: give
/// node-based containers none).
///
/// Any allocator gives back what another of the same type has got, whatever their teams and placements: all
/// are equal. A container that is copied or moved hands its allocator on; one that is assigned a copy keeps
/// its own, for the place of its elements is its own affair.
///
/// May be used by any number of threads at once. Copies share the placement and cost no allocation.
///
/// Cost of an array that is placed: a system call each to get it and to give it back, one parallel region,
/// one page fault a page.
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

  /// The same for elements of another type; `std::allocator_traits` cannot make this out by itself, because
  /// the chunk is no type.
  template <typename U>
  struct rebind {
    using other = numa_allocator<U, Chunk>;
  };

  /// Elements of a block that one thread owns; 0 for one block a thread.
  static constexpr std::size_t chunk = Chunk;

  /// All threads, placement by first touch.
  numa_allocator() noexcept = default;

  /// Places pages for that team by first touch.
  numa_allocator(const nearfar::team& threads) noexcept : team_(threads) {}

  /// Places pages as `placement` says, for that team if by first touch. Domains are checked when memory is
  /// mapped. Throws `std::bad_alloc`.
  numa_allocator(const nearfar::team& threads, page_placement placement) : team_(threads) {
    if (placement != page_placement{}) {
      placement_ = std::make_shared<const page_placement>(std::move(placement));
    }
  }

  // No moves, which would take the placement away from an allocator that others still use.
  numa_allocator(const numa_allocator&) noexcept = default;
  numa_allocator& operator=(const numa_allocator&) noexcept = default;
  ~numa_allocator() = default;

  template <typename U>
  numa_allocator(const numa_allocator<U, Chunk>& other) noexcept
      : team_(other.team_), placement_(other.placement_) {}

  /// Memory for `n` elements, placed. Throws `std::bad_array_new_length` if no array can be that large,
  /// `std::bad_alloc` if there is not so much memory, and what `map_pages` throws.
  [[nodiscard]] T* allocate(std::size_t n) const {
    T* const elements = allocate_untouched(n);
    touch(elements, n);
    return elements;
  }

  /// The same without touching it: for containers that construct elements in parallel, each on its owner.
  [[nodiscard]] T* allocate_untouched(std::size_t n) const {
    if (n > max_size()) throw std::bad_array_new_length();
    return static_cast<T*>(request(n).get(placement()));
  }

  /// What allocate(n) does to the memory of allocate_untouched(n), where no element is yet: has each page
  /// touched by its owner, if pages are placed at all.
  void touch(T* elements, std::size_t n) const {
    if (request(n).mapped()) detail::touch_pages(elements, n, sizeof(T), team_, Chunk);
  }

  /// Gives back what `allocate(n)` or `allocate_untouched(n)` of any allocator of this type returned.
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

/// All are equal: each gives back what another has got.
template <typename T, typename U, std::size_t Chunk>
[[nodiscard]] constexpr bool operator==(const numa_allocator<T, Chunk>&,
                                        const numa_allocator<U, Chunk>&) noexcept {
  return true;
}

}  // namespace nearfar
