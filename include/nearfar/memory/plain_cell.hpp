/// \file
/// Plain cell of the worlds that run on real hardware: a value without atomicity.
#pragma once

#include "nearfar/core/layout.hpp"

namespace nearfar {

/// A value in near memory that is not atomic, for data that one rank hands to another by an atomic. Two
/// accesses without an order between them, one of them a store, are undefined behaviour. ThreadSanitizer
/// detects them in a team of threads, the model checker in every schedule.
template <plain_value T>
class plain_cell {
 public:
  plain_cell() = default;
  plain_cell(const plain_cell&) = delete;
  plain_cell& operator=(const plain_cell&) = delete;

  [[nodiscard]] T load() const noexcept { return value_; }
  void store(const T& value) noexcept { value_ = value; }

 private:
  T value_{};
};

}  // namespace nearfar
