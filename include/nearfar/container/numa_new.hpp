/// \file
/// `new[]` for classes whose arrays are to be placed near the threads that will work on them.
///
/// Source: H. Stengel, diploma thesis, Georg-Simon-Ohm-Fachhochschule Nürnberg, 2007, section 3.1.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <limits>
#include <new>

#include "nearfar/container/placed_memory.hpp"
#include "nearfar/container/team.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/memory/pages.hpp"

namespace nearfar {

namespace detail {

// The data that operator delete[] needs, directly before the array: the language does not pass it the size of
// every array, nor the chunk.
struct array_header {
  std::size_t bytes;      // of the request, which begins `offset` before the array
  std::size_t offset;     // a multiple of the alignment
  std::size_t alignment;  // as requested
  bool page_aligned;
};
static_assert(sizeof(array_header) <= cache_line);

// Memory for an array of `bytes`, touched as if it held items of `item_bytes` from its beginning on. The
// compiler may store the number of items there, which shifts them by less than a page. Touching writes only
// to fresh memory, so it does not overwrite this number.
[[nodiscard]] inline void* get_array(std::size_t bytes, std::size_t alignment, std::size_t item_bytes,
                                     std::size_t chunk, const team& threads,
                                     const page_placement& placement) {
  const bool page_aligned = chunk != 0;
  const bool in_pages = page_aligned || bytes >= placed_from_bytes;
  const std::size_t offset = std::max(alignment, in_pages ? page_size() : cache_line);
  if (bytes > static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) - offset) {
    throw std::bad_array_new_length();
  }
  const memory_request request(offset + bytes, alignment, page_aligned);
  std::byte* const array = static_cast<std::byte*>(request.get(placement)) + offset;
  ::new (array - sizeof(array_header)) array_header{offset + bytes, offset, alignment, page_aligned};
  if (request.mapped()) touch_pages(array, bytes / item_bytes, item_bytes, threads, chunk);
  return array;
}

inline void give_back_array(void* array) noexcept {
  if (array == nullptr) return;
  auto* const begin = static_cast<std::byte*>(array);
  const array_header header = *std::launder(reinterpret_cast<array_header*>(begin - sizeof(array_header)));
  memory_request(header.bytes, header.alignment, header.page_aligned).give_back(begin - header.offset);
}

}  // namespace detail

/// Base of classes whose arrays `new[]` places: `struct cell : nearfar::numa_new<cell> {...}`. Before any
/// object is constructed, the threads that own the objects touch the pages of an array: `static_schedule(n,
/// team, Chunk)`. `new cell[n]` uses all threads, `new (nearfar::team(4)) cell[n]` those of the team, and
/// `new (nearfar::team(4), placement) cell[n]` a `page_placement` as well. Plain `delete[]`,
/// `std::make_unique<cell[]>(n)` and `nothrow` work as usual. Single objects, and standard containers of
/// these objects, behave as without the base. The base makes no object larger.
///
/// The granularity is a page, and arrays of less than `placed_from_bytes` are not placed; see
/// `numa_allocator`. If objects have destructors, the compiler stores their number before the first, so that
/// objects do not begin with a page even with a chunk. The language constructs the objects of an array on one
/// thread, so what they allocate themselves is placed there: use `numa_vector` for such objects.
///
/// Arrays of a class derived from `Derived` are placed by blocks of the same numbers of bytes.
///
/// Any number of threads may use it at once. Cost of a placed array: one page of its own, a system call each
/// to map and to unmap it, one parallel region, one page fault per page. Cost of others: a cache line, or
/// with a chunk a page. Throws `std::bad_alloc` and, with a placement, what `map_pages` throws.
template <class Derived, std::size_t Chunk = 0>
struct numa_new {
  [[nodiscard]] static void* operator new[](std::size_t bytes) {
    return get(bytes, default_alignment, {}, {});
  }
  [[nodiscard]] static void* operator new[](std::size_t bytes, std::align_val_t alignment) {
    return get(bytes, alignment, {}, {});
  }
  [[nodiscard]] static void* operator new[](std::size_t bytes, const team& threads,
                                            const page_placement& placement = {}) {
    return get(bytes, default_alignment, threads, placement);
  }
  [[nodiscard]] static void* operator new[](std::size_t bytes, std::align_val_t alignment,
                                            const team& threads, const page_placement& placement = {}) {
    return get(bytes, alignment, threads, placement);
  }
  [[nodiscard]] static void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
    return try_get(bytes, default_alignment);
  }
  [[nodiscard]] static void* operator new[](std::size_t bytes, std::align_val_t alignment,
                                            const std::nothrow_t&) noexcept {
    return try_get(bytes, alignment);
  }
  // The standard library's own, which those above would hide.
  [[nodiscard]] static void* operator new[](std::size_t, void* at) noexcept { return at; }

  static void operator delete[](void* array) noexcept { detail::give_back_array(array); }
  static void operator delete[](void* array, std::align_val_t) noexcept { detail::give_back_array(array); }

  // For arrays whose construction throws.
  static void operator delete[](void* array, const team&, const page_placement&) noexcept {
    detail::give_back_array(array);
  }
  static void operator delete[](void* array, std::align_val_t, const team&, const page_placement&) noexcept {
    detail::give_back_array(array);
  }
  static void operator delete[](void* array, const std::nothrow_t&) noexcept {
    detail::give_back_array(array);
  }
  static void operator delete[](void* array, std::align_val_t, const std::nothrow_t&) noexcept {
    detail::give_back_array(array);
  }
  static void operator delete[](void*, void*) noexcept {}

  // Without these, every comparison of a derived class would have to state that the bases do not differ.
  [[nodiscard]] friend constexpr bool operator==(const numa_new&, const numa_new&) noexcept = default;
  [[nodiscard]] friend constexpr auto operator<=>(const numa_new&, const numa_new&) noexcept = default;

 private:
  static constexpr std::align_val_t default_alignment{__STDCPP_DEFAULT_NEW_ALIGNMENT__};

  [[nodiscard]] static void* get(std::size_t bytes, std::align_val_t alignment, const team& threads,
                                 const page_placement& placement) {
    return detail::get_array(bytes, static_cast<std::size_t>(alignment), sizeof(Derived), Chunk, threads,
                             placement);
  }

  [[nodiscard]] static void* try_get(std::size_t bytes, std::align_val_t alignment) noexcept {
    try {
      return get(bytes, alignment, {}, {});
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }
};

}  // namespace nearfar
