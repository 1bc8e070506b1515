// The heap of a rank: memory at the same addresses in each execution, with all its bookkeeping in itself, so
// that copying its beginning back restores it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nearfar::program {

class heap {
 public:
  /// Reserves the address range of a rank. The system provides pages when they are touched.
  void open(int rank);
  /// Keeps the state, which `restore` brings back.
  void keep();
  void restore() noexcept;

  /// Memory whose bytes are the same in each execution. Null if the heap is full.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment = 16) noexcept;
  /// Null if `block` was not allocated, or was freed before.
  [[nodiscard]] bool is_block(const void* block) const noexcept;
  [[nodiscard]] std::size_t size_of(const void* block) const noexcept;
  void release(void* block) noexcept;

  [[nodiscard]] static bool contains(const void* address) noexcept;
  /// Whose heap an address is in. Only for such addresses.
  [[nodiscard]] static int rank_of(const void* address) noexcept;

  /// Bytes of fresh memory have this value, so that what a program reads of them is at least always the same.
  /// Another value shows whether the program depends on it.
  static inline int fresh_byte = 0;
  /// Whether fresh memory of this size has zeros, whatever `fresh_byte` is.
  [[nodiscard]] static bool is_zero_when_fresh(std::size_t bytes) noexcept;

 private:
  struct header;
  struct bookkeeping;
  bookkeeping* books_ = nullptr;
  std::byte* base_ = nullptr;
  std::byte* kept_ = nullptr;
  std::size_t kept_bytes_ = 0;
};

}  // namespace nearfar::program
