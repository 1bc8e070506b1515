/// \file
/// A copy of a far object that others may have been writing meanwhile.
#pragma once

#include "nearfar/core/layout.hpp"

namespace nearfar {

/// What an optimistic reader gets: words of several values perhaps, until the reader has found out by other
/// means (a version that has not changed, a checksum) that it is one of them. In the model checker
/// `confirmed` of a mixture is a fault.
template <far_object_value T>
class maybe_torn {
 public:
  using value_type = T;

  /// The value, to be called once the reader knows that it is whole.
  [[nodiscard]] const T& confirmed() const noexcept { return value_; }
  /// The value as it is, for a checksum over it.
  [[nodiscard]] const T& unconfirmed() const noexcept { return value_; }
  /// Where worlds write it.
  [[nodiscard]] T& buffer() noexcept { return value_; }

 private:
  T value_{};
};

}  // namespace nearfar
