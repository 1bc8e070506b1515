/// \file
/// An allocator for lists, deques, trees and hash tables: each node lies near the thread that inserts it.
///
/// Source: H. Stengel, diploma thesis, Georg-Simon-Ohm-Fachhochschule Nürnberg, 2007, section 5.2, which asks
/// for an allocator without state whose `allocate` and `construct` agree on the place.
#pragma once

#include <cstddef>
#include <limits>
#include <new>
#include <type_traits>

#include "nearfar/language.hpp"

namespace nearfar {

namespace detail {

/// Memory on pages of the calling thread's NUMA domain. Throws `std::bad_alloc`, and what
/// `this_thread_domain` throws.
[[nodiscard]] void* take_near(std::size_t bytes, std::size_t alignment);

/// Gives back what take_near(bytes, alignment) returned to any thread.
void give_back_near(void* memory, std::size_t bytes, std::size_t alignment) noexcept;

}  // namespace detail

/// Takes memory from pages of the calling thread's NUMA domain, and constructs nothing itself. A container of
/// nodes constructs an element on the thread that allocated its node, so the node is near this thread.
///
/// Each domain has a pool. A page belongs to one pool until the process ends, so two domains never share a
/// page, also after other threads have given nodes back. The pool's pages have been touched when `allocate`
/// returns. A thread that is not bound to CPUs may move to another domain, and leaves its nodes behind.
///
/// The allocator has no state: all allocators are equal, and any thread deallocates what another has
/// allocated. Any number of threads may use it at once.
///
/// Use `numa_allocator` for arrays whose parts belong to several threads: one call of `allocate` makes the
/// whole array, which lies near one thread here.
///
/// Cost beside `std::allocator`: 16 bytes for each node (or its alignment, if that is more), and a read of
/// the CPU's number. The memory of freed nodes stays in the pool. Progress: blocking (the pool's mutex).
template <typename T>
class near_allocator {
  static_assert(std::is_object_v<T> && std::is_same_v<T, std::remove_cv_t<T>>,
                "near_allocator<T> needs an object type T that is neither const nor volatile");
  static_assert(alignof(T) <= 4096, "near_allocator<T> aligns to a page at most");

 public:
  using value_type = T;
  using is_always_equal = std::true_type;
  using propagate_on_container_move_assignment = std::true_type;

  near_allocator() noexcept = default;
  template <typename U>
  near_allocator(const near_allocator<U>& /*other*/) noexcept {}

  /// Memory for `n` elements on the domain of the calling thread. Throws `std::bad_array_new_length` if no
  /// array can be that large, `std::bad_alloc` if there is too little memory, and `topology_error` if the
  /// machine cannot be discovered (first call only).
  [[nodiscard]] T* allocate(std::size_t n) const {
    constexpr auto largest = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) / sizeof(T);
    if (n > largest) throw std::bad_array_new_length();
    return static_cast<T*>(detail::take_near(n * sizeof(T), alignof(T)));
  }

  /// Gives the memory back to the pool that it came from.
  void deallocate(T* elements, std::size_t n) const noexcept {
    detail::give_back_near(elements, n * sizeof(T), alignof(T));
  }

  template <typename U>
  [[nodiscard]] friend bool operator==(const near_allocator&, const near_allocator<U>&) noexcept {
    return true;
  }
};

}  // namespace nearfar
