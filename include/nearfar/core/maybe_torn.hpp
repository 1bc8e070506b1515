/// \file
/// A copy of a far object that other ranks may have written at the same time.
#pragma once

#include "nearfar/core/layout.hpp"

namespace nearfar {

/// The result of an optimistic read. Its words may come from several values, until the reader has found out
/// by other means (an unchanged version, a checksum) that they are one value. In the model checker calling
/// `confirmed` for a mixture is a fault.
template <far_object_value T>
class maybe_torn {
 public:
  using value_type = T;

  /// The value. Call this only once the value is known to be whole.
  [[nodiscard]] const T& confirmed() const noexcept { return value_; }
  /// The value, whole or not, for example to compute a checksum.
  [[nodiscard]] const T& unconfirmed() const noexcept { return value_; }
  /// The memory into which worlds write the copy.
  [[nodiscard]] T& buffer() noexcept { return value_; }

 private:
  T value_{};
};

}  // namespace nearfar
