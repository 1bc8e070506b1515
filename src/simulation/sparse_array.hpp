/// \file
/// An array as long as the simulated memory is large. Only its touched pages exist.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <type_traits>

#include "nearfar/core/error.hpp"

namespace nearfar::simulation {

/// Zero-initialised elements found by index alone: the state of a word or a cache line is one load away,
/// without a hash table. Throws `out_of_memory` if the system has no address space left.
template <typename T>
class sparse_array {
  static_assert(std::is_trivial_v<T>, "pages appear zeroed, without constructors");

 public:
  explicit sparse_array(std::size_t count) : bytes_(count * sizeof(T)) {
    void* mapped =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED)
      throw out_of_memory("the system has no address space for the simulated memory: take fewer ranks");
    // Huge pages would cost gigabytes with thousands of ranks that each touch a few words.
    madvise(mapped, bytes_, MADV_NOHUGEPAGE);
    elements_ = static_cast<T*>(mapped);
  }
  sparse_array(const sparse_array&) = delete;
  sparse_array& operator=(const sparse_array&) = delete;
  ~sparse_array() { munmap(elements_, bytes_); }

  [[nodiscard]] T& operator[](std::size_t index) noexcept { return elements_[index]; }
  [[nodiscard]] const T& operator[](std::size_t index) const noexcept { return elements_[index]; }

 private:
  std::size_t bytes_;
  T* elements_ = nullptr;
};

}  // namespace nearfar::simulation
