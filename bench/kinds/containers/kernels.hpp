/// \file
/// The loops over vectors as functions of one element, with their inputs and results.
#pragma once

#include <cstddef>

#include "bench/kinds/containers/loop_case.hpp"

namespace nearfar::bench {

/// STREAM's constant.
inline constexpr double stream_scalar = 3.0;

// Templates, because elements may be objects that only behave like numbers.

struct triad_kernel {
  static constexpr vector_kernel kind = vector_kernel::triad;
  static constexpr std::size_t inputs = 3;
  template <typename T>
  T operator()(const T& b, const T& c, const T& d) const {
    return b + c * d;
  }
};

struct copy_kernel {
  static constexpr vector_kernel kind = vector_kernel::copy;
  static constexpr std::size_t inputs = 1;
  template <typename T>
  T operator()(const T& b) const {
    return b;
  }
};

struct scale_kernel {
  static constexpr vector_kernel kind = vector_kernel::scale;
  static constexpr std::size_t inputs = 1;
  template <typename T>
  T operator()(const T& b) const {
    return stream_scalar * b;
  }
};

struct add_kernel {
  static constexpr vector_kernel kind = vector_kernel::add;
  static constexpr std::size_t inputs = 2;
  template <typename T>
  T operator()(const T& b, const T& c) const {
    return b + c;
  }
};

struct stream_triad_kernel {
  static constexpr vector_kernel kind = vector_kernel::stream_triad;
  static constexpr std::size_t inputs = 2;
  template <typename T>
  T operator()(const T& b, const T& c) const {
    return b + stream_scalar * c;
  }
};

/// The elements of a vector before the loop; vector 0 is the output. They are small multiples of a quarter,
/// whose sums and products are exact. Results can thus be compared whether or not the compiler fuses
/// operations.
[[nodiscard]] inline double initial_value(std::size_t vector, std::size_t index) noexcept {
  switch (vector) {
    case 0:
      return -1.0;
    case 1:
      return 1.0 + static_cast<double>(index % 7);
    case 2:
      return 0.5 + static_cast<double>(index % 5);
    default:
      return 0.25 + static_cast<double>(index % 3);
  }
}

/// The elements of the output after the loop.
[[nodiscard]] inline double final_value(vector_kernel kernel, std::size_t index) noexcept {
  const double b = initial_value(1, index);
  const double c = initial_value(2, index);
  const double d = initial_value(3, index);
  switch (kernel) {
    case vector_kernel::triad:
      return b + c * d;
    case vector_kernel::copy:
      return b;
    case vector_kernel::scale:
      return stream_scalar * b;
    case vector_kernel::add:
      return b + c;
    case vector_kernel::stream_triad:
      return b + stream_scalar * c;
  }
  return 0;
}

/// Makes the compiler believe that whatever `object` refers to is read and changed here, so that no pass of a
/// loop can be left out. Costs no instruction; it is what the thesis had an opaque function for, called
/// never.
template <typename T>
inline void keep(T& object) {
  asm volatile("" : : "r"(&object) : "memory");
}

}  // namespace nearfar::bench
