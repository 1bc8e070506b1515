/// \file
/// What a channel's receiver gets.
#pragma once

#include <optional>
#include <utility>

#include "nearfar/queue/queue_operations.hpp"

namespace nearfar {

/// A message, or why there is none: `empty`, `closed` or `timed_out`. Can be moved if the message can.
template <typename T>
class [[nodiscard]] received {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): what is returned is the message
  received(T&& value) : value_(std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor): ... or the reason
  received(queue_status why) : status_(why) {}

  [[nodiscard]] explicit operator bool() const noexcept { return has_value(); }
  [[nodiscard]] bool has_value() const noexcept { return value_.has_value(); }
  [[nodiscard]] queue_status status() const noexcept { return status_; }
  /// Only if there is one.
  [[nodiscard]] T& operator*() & noexcept { return *value_; }
  [[nodiscard]] const T& operator*() const& noexcept { return *value_; }
  [[nodiscard]] T&& operator*() && noexcept { return *std::move(value_); }
  [[nodiscard]] T* operator->() noexcept { return &*value_; }
  [[nodiscard]] const T* operator->() const noexcept { return &*value_; }

 private:
  std::optional<T> value_;
  queue_status status_ = queue_status::success;
};

}  // namespace nearfar
