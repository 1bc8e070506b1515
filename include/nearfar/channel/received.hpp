/// \file
/// The result of receiving from a channel.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "nearfar/queue/queue_operations.hpp"

namespace nearfar {

/// A message, or the reason why there is none: `empty`, `closed` or `timed_out`. Also a frame to write to, or
/// else `full`, `closed` or `timed_out`. Movable if `T` is.
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
  /// Requires a value, as do all accesses below.
  [[nodiscard]] T& operator*() & noexcept { return *value_; }
  [[nodiscard]] const T& operator*() const& noexcept { return *value_; }
  [[nodiscard]] T&& operator*() && noexcept { return *std::move(value_); }
  [[nodiscard]] T* operator->() noexcept { return std::addressof(*value_); }
  [[nodiscard]] const T* operator->() const noexcept { return std::addressof(*value_); }

 private:
  std::optional<T> value_;
  queue_status status_ = queue_status::success;
};

/// Receives from a channel until it is closed and empty. A message is destroyed before the next is received.
/// If receiving throws, the iterator is at the end.
template <typename Channel, typename Message>
class message_iterator {
 public:
  using iterator_concept = std::input_iterator_tag;
  using value_type = Message;
  using difference_type = std::ptrdiff_t;

  explicit message_iterator(Channel& from) : from_(&from), current_(from.receive()) {}

  [[nodiscard]] Message& operator*() const { return **current_; }
  message_iterator& operator++() {
    current_.reset();
    current_.emplace(from_->receive());
    return *this;
  }
  void operator++(int) { ++*this; }
  [[nodiscard]] friend bool operator==(const message_iterator& one, std::default_sentinel_t /*end*/) {
    return !one.current_ || !one.current_->has_value();
  }

 private:
  Channel* from_;
  mutable std::optional<received<Message>> current_;
};

}  // namespace nearfar
