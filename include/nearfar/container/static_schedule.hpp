/// \file
/// Which thread does which iterations of a loop: the one rule by which data are placed and processed.
///
/// Source: H. Stengel, diploma thesis, Georg-Simon-Ohm-Fachhochschule Nürnberg, 2007, sections 2.1 and 2.3.
#pragma once

#include <algorithm>
#include <cstddef>

#include "nearfar/language.hpp"

namespace nearfar {

/// The indices `first` to `last` - 1.
struct index_range {
  std::size_t first = 0;
  std::size_t last = 0;

  [[nodiscard]] constexpr std::size_t size() const noexcept { return last - first; }
  [[nodiscard]] constexpr bool empty() const noexcept { return first == last; }
  [[nodiscard]] friend constexpr bool operator==(const index_range&, const index_range&) = default;
};

/// OpenMP's `schedule(static)` and `schedule(static, chunk)` as a function: loops with these clauses over the
/// same number of iterations, with the same number of threads, run as this says.
///
/// Without a chunk (0) each thread has one block, and the first `size % threads` blocks are one iteration
/// larger. GCC's and LLVM's OpenMP do so; the standard leaves it open. With a chunk, threads take blocks of
/// that size in turn.
class static_schedule {
 public:
  /// `threads` is at least 1; `chunk` is 0 for one block per thread.
  constexpr static_schedule(std::size_t size, int threads, std::size_t chunk = 0) noexcept
      : size_(size), threads_(static_cast<std::size_t>(threads)), chunk_(chunk) {}

  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  [[nodiscard]] constexpr int threads() const noexcept { return static_cast<int>(threads_); }
  [[nodiscard]] constexpr std::size_t chunk() const noexcept { return chunk_; }

  /// The thread that does iteration `index` < size().
  [[nodiscard]] constexpr int owner(std::size_t index) const noexcept {
    if (chunk_ != 0) return static_cast<int>(index / chunk_ % threads_);
    const std::size_t small = size_ / threads_;
    const std::size_t larger = size_ % threads_;  // number of blocks of small + 1
    const std::size_t in_larger = larger * (small + 1);
    return static_cast<int>(index < in_larger ? index / (small + 1) : larger + (index - in_larger) / small);
  }

  /// Number of blocks of a thread; may be 0.
  [[nodiscard]] constexpr std::size_t blocks(int thread) const noexcept {
    const auto mine = static_cast<std::size_t>(thread);
    if (chunk_ == 0) return block(thread, 0).empty() ? 0 : 1;
    const std::size_t all = size_ / chunk_ + static_cast<std::size_t>(size_ % chunk_ != 0);
    return all / threads_ + static_cast<std::size_t>(mine < all % threads_);
  }

  /// The `number`th block of a thread, 0 to blocks(thread) - 1; ascending and disjoint.
  [[nodiscard]] constexpr index_range block(int thread, std::size_t number) const noexcept {
    const auto mine = static_cast<std::size_t>(thread);
    if (chunk_ != 0) {
      const std::size_t first = (number * threads_ + mine) * chunk_;
      return {first, first + std::min(chunk_, size_ - first)};
    }
    const std::size_t small = size_ / threads_;
    const std::size_t larger = size_ % threads_;
    const std::size_t first = mine * small + std::min(mine, larger);
    return {first, first + small + static_cast<std::size_t>(mine < larger)};
  }

  /// Calls `body(index_range)` for each block of a thread, in ascending order.
  template <typename Body>
  constexpr void for_each_block(int thread, Body&& body) const {
    const std::size_t count = blocks(thread);
    for (std::size_t number = 0; number < count; ++number) body(block(thread, number));
  }

 private:
  std::size_t size_;
  std::size_t threads_;
  std::size_t chunk_;
};

}  // namespace nearfar
