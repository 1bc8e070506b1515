/// \file
/// A memory resource that places the pages of large requests near the threads that will work on them, for the
/// containers of `std::pmr`.
///
/// Source: H. Stengel, diploma thesis, Georg-Simon-Ohm-Fachhochschule Nürnberg, 2007, section 3.2.
#pragma once

#include <cstddef>
#include <memory_resource>
#include <utility>

#include "nearfar/container/placed_memory.hpp"
#include "nearfar/container/team.hpp"
#include "nearfar/memory/pages.hpp"

namespace nearfar {

/// The threads of a team first touch the pages of each request, each thread a contiguous block of them, or
/// blocks of `chunk_bytes` in turn. A resource knows bytes and no elements, so a page with elements of two
/// threads may go to either. Containers do not know of the chunk; it is for the program's own loops.
///
/// Requests of less than `placed_from_bytes`, and those aligned to more than a page, are not placed and come
/// from `operator new`. Any number of threads may use it at once. Cost as with `numa_allocator`.
class numa_resource final : public std::pmr::memory_resource {
 public:
  /// Domains are checked when memory is mapped.
  explicit numa_resource(const nearfar::team& threads = {}, page_placement placement = {},
                         std::size_t chunk_bytes = 0) noexcept
      : team_(threads), placement_(std::move(placement)), chunk_bytes_(chunk_bytes) {}

  [[nodiscard]] nearfar::team team() const noexcept { return team_; }
  [[nodiscard]] const page_placement& placement() const noexcept { return placement_; }
  /// Bytes per block of one thread; 0: one block per thread.
  [[nodiscard]] std::size_t chunk_bytes() const noexcept { return chunk_bytes_; }

 private:
  // Throws std::bad_alloc, and what map_pages throws.
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    const detail::memory_request request(bytes, alignment, chunk_bytes_ != 0);
    void* const memory = request.get(placement_);
    if (request.mapped()) detail::touch_pages(memory, bytes, 1, team_, chunk_bytes_);
    return memory;
  }

  void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
    detail::memory_request(bytes, alignment, chunk_bytes_ != 0).give_back(memory);
  }

  // Each can deallocate what another has allocated, if both begin requests with a page or neither does.
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    const auto* const same_kind = dynamic_cast<const numa_resource*>(&other);
    return same_kind != nullptr && (same_kind->chunk_bytes_ != 0) == (chunk_bytes_ != 0);
  }

  nearfar::team team_;
  page_placement placement_;
  std::size_t chunk_bytes_;
};

}  // namespace nearfar
