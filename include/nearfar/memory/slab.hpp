/// \file
/// Bookkeeping of one range of memory that every rank divides in the same way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "nearfar/core/agreement.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/memory/sanitized_memory.hpp"

namespace nearfar {

namespace detail {
[[noreturn]] void throw_outlived_world();
}  // namespace detail

/// First-fit allocator of offsets, always the lowest that fits. Ranks that have allocated and released the
/// same sizes get the same offset for the next allocation, in whatever order they released them. So thousands
/// of locks share one window without communicating displacements.
class slab {
 public:
  explicit slab(std::size_t units, std::size_t granularity = slot_bytes);

  /// Offset of `bytes` (rounded up to whole slots), or nothing when no gap is large enough.
  [[nodiscard]] std::optional<std::size_t> allocate(std::size_t bytes);

  /// Returns what `allocate(bytes)` gave out; adjacent gaps become one. Does not throw, since destructors
  /// call it: `allocate` has made room for the gap.
  void release(std::size_t offset, std::size_t bytes);

  /// Bytes that are given out and not returned.
  [[nodiscard]] std::size_t used() const noexcept { return used_; }

  /// Notes that the world whose memory this slab divides has ended. Segments still return their memory.
  void note_end_of_world() noexcept { world_has_ended_ = true; }
  [[nodiscard]] bool world_has_ended() const noexcept { return world_has_ended_; }
  /// Throws `destroyed_while_in_use` if the world has ended.
  void expect_world() const {
    if (world_has_ended_) [[unlikely]]
      detail::throw_outlived_world();
  }

 private:
  struct gap {
    std::size_t begin;
    std::size_t end;
  };

  [[nodiscard]] std::size_t rounded(std::size_t bytes) const noexcept;
  /// Makes room for as many gaps as one allocation more than there are can leave between them.
  void make_room_for_gaps();

  std::size_t granularity_;
  std::vector<gap> free_;  // ascending, none adjacent to another
  std::size_t used_ = 0;
  std::size_t allocations_ = 0;  // given out and not returned
  bool world_has_ended_ = false;
};

/// Size of each rank's slab in bytes if `ranks` > 0 ranks ask for `bytes` each: whole slots, at least one.
/// Throws `out_of_memory`, which names the `option`, if no address space can hold all of them.
[[nodiscard]] std::size_t slab_bytes(std::size_t bytes, int ranks, const char* option);

/// The words for what a rank takes from a slab, and for what to do when it is used up.
struct slab_request {
  const char* what;  ///< "far memory"
  const char* unit;  ///< "bytes"
  const char* cure;  ///< "raise ..."
};

namespace detail {

[[noreturn]] void throw_no_room(std::size_t count, const slab_request& wanted);
[[noreturn]] void throw_no_elements();
[[noreturn]] void throw_no_such_element(std::size_t index, std::size_t count);

/// The size of an array in bytes. If the product does not fit, a size larger than any slab.
[[nodiscard]] std::size_t bytes_of(std::size_t count, std::size_t element_bytes) noexcept;

}  // namespace detail

/// Returns `where` if its index is below `count`; otherwise throws `misuse`. The world checks its rank.
[[nodiscard]] inline element checked_element(element where, std::size_t count) {
  if (where.index >= count) detail::throw_no_such_element(where.index, count);
  return where;
}

/// Memory that a rank has from its world's slab. It shares ownership of the slab. So an object that is
/// destroyed after its world, which is misuse, still returns its memory, to a slab that is no longer used.
class lent_memory {
 public:
  /// For a world whose memory is never returned, or returned in another way.
  // NOLINTNEXTLINE(google-explicit-constructor): the offset is all that there is
  lent_memory(std::size_t offset) noexcept : offset_(offset) {}
  /// `count` units at an offset. `begin`: their address, if they must be accessible again when they are
  /// returned.
  lent_memory(std::shared_ptr<slab> from, std::size_t offset, std::size_t count,
              const std::byte* begin = nullptr) noexcept
      : from_(std::move(from)), offset_(offset), count_(count), begin_(begin) {}
  lent_memory(lent_memory&&) noexcept = default;
  lent_memory& operator=(lent_memory&&) = delete;
  ~lent_memory() {
    if (!from_) return;
    // Elements that a pool had not lent when it ended.
    if (begin_ != nullptr && !from_->world_has_ended()) allow_access(begin_, count_);
    from_->release(offset_, count_);
  }

  [[nodiscard]] std::size_t offset() const noexcept { return offset_; }
  [[nodiscard]] bool world_has_ended() const noexcept { return from_ && from_->world_has_ended(); }
  /// Throws `destroyed_while_in_use` if the world has ended.
  void expect_world() const {
    if (from_) from_->expect_world();
  }

 private:
  std::shared_ptr<slab> from_;
  std::size_t offset_;
  std::size_t count_ = 0;
  const std::byte* begin_ = nullptr;
};

/// The place of an array's elements in a world's memory.
class array_place {
 public:
  /// `allocate` is the world's collective allocation. It is also called for 0 elements, so that all ranks
  /// throw alike. It returns `lent_memory`, or an offset.
  template <typename Allocate>
  array_place(std::size_t count, std::size_t element_bytes, Allocate allocate)
      : count_(count), bytes_(detail::bytes_of(count, element_bytes)), memory_(allocate(bytes_)) {
    if (count == 0) detail::throw_no_elements();
  }

  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t offset() const noexcept { return memory_.offset(); }
  [[nodiscard]] bool world_has_ended() const noexcept { return memory_.world_has_ended(); }
  /// Throws `destroyed_while_in_use` if the world has ended.
  void expect_world() const {
    if (world_has_ended()) [[unlikely]]
      detail::throw_outlived_world();
  }

 private:
  std::size_t count_;
  std::size_t bytes_;
  lent_memory memory_;
};

/// Takes `count` units at an offset where every rank of `w` has them free, and returns the offset.
/// Collective. Throws alike on every rank: `collective_mismatch` if the ranks ask for different things or
/// have released different ones, `out_of_memory` if there is no room.
template <typename W>
[[nodiscard]] std::size_t allocate_alike(W& w, slab& from, std::size_t count, const slab_request& wanted) {
  const std::optional<std::size_t> offset = from.allocate(count);
  try {
    // Agreeing on the offset also ensures that no rank still uses what was here before.
    expect_alike(w, wanted.what,
                 {{wanted.unit, static_cast<std::int64_t>(count)},
                  {"offset", offset ? static_cast<std::int64_t>(*offset) : -1}});
  } catch (...) {
    if (offset) from.release(*offset, count);
    throw;
  }
  if (!offset) detail::throw_no_room(count, wanted);
  return *offset;
}

}  // namespace nearfar
