/// \file
/// What every distributed queue of nearfar is to its user: pushes and pops that fail at once, wait, or wait
/// until a deadline; and the results that they have.
///
/// Source: names and meanings after L. Crowl, C. Mysen, D. Gustafsson, "C++ Concurrent Queues", P0260, in
/// which full, empty and closed are results, too, and no errors.
#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "nearfar/core/backoff.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"

namespace nearfar {

/// What became of an operation on a queue.
enum class queue_status : std::uint8_t {
  success,
  empty,      ///< there was no element
  full,       ///< there was no room for one
  closed,     ///< a push came after `close()`, or a pop after that and the last element
  timed_out,  ///< empty or full until the deadline
};

/// A value, or why there is none.
template <typename T>
class [[nodiscard]] popped {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): what is returned is the value
  constexpr popped(const T& value) : value_(value) {}
  // NOLINTNEXTLINE(google-explicit-constructor): ... or the reason
  constexpr popped(queue_status why) : status_(why) {}

  [[nodiscard]] constexpr explicit operator bool() const noexcept { return status_ == queue_status::success; }
  [[nodiscard]] constexpr bool has_value() const noexcept { return status_ == queue_status::success; }
  /// Never `full`.
  [[nodiscard]] constexpr queue_status status() const noexcept { return status_; }
  /// Only if there is one.
  [[nodiscard]] constexpr const T& operator*() const noexcept { return value_; }
  [[nodiscard]] constexpr const T* operator->() const noexcept { return &value_; }

 private:
  T value_{};
  queue_status status_ = queue_status::success;
};

/// How many of several values an operation moved, and why not more.
struct [[nodiscard]] queue_range_result {
  std::size_t count = 0;
  queue_status status = queue_status::success;
};

/// The public face of a queue of `T`, over what `Derived` has:
///  - `put(value) -> queue_status`, which is `success`, `full` or `closed`, and `take() -> popped<T>`, which
///    is `empty` or `closed` if not a value; neither waits for room or for elements;
///  - where several at once cost less, `put_some(values)` and `take_some(into) -> queue_range_result`, which
///    move the first ones, at least one if the result is `success`;
///  - `await_room(optional deadline) -> bool` and `await_element(optional deadline) -> bool`, after such a
///    result: until the same may be worth another attempt. False: the deadline has passed. A deadline is a
///    time of the world's clock, and what has come wins over one that has passed;
///  - if `put` and `take` may fail without a far operation, `fails_in_place`: then who tries in vain lets
///    other ranks' operations in, which it may be waiting for.
///
/// An object belongs to one rank and is used by one thread. All operations are one-sided and called by any
/// rank at any time, unless a queue says that it has one producer or consumer.
template <typename Derived, world W, far_object_value T>
class queue_operations {
 public:
  using world_type = W;
  using value_type = T;

  /// Appends a value if there is room and the queue is not closed.
  [[nodiscard]] queue_status try_push(const T& value) {
    const queue_status status = self().put(value);
    note_attempt(status);
    return status;
  }
  /// Appends a value, when there is room for it: `success` or `closed`.
  [[nodiscard]] queue_status push(const T& value) { return push_by(value, std::nullopt); }
  /// The same until a time of the world's clock (`now()`), or `timed_out`.
  [[nodiscard]] queue_status push_until(const T& value, std::chrono::nanoseconds deadline) {
    return push_by(value, deadline);
  }
  template <typename Rep, typename Period>
  [[nodiscard]] queue_status push_for(const T& value, std::chrono::duration<Rep, Period> span) {
    return push_by(value, end_of(span));
  }

  /// The oldest value, if there is one.
  [[nodiscard]] popped<T> try_pop() {
    const popped<T> result = self().take();
    note_attempt(result.status());
    return result;
  }
  /// The oldest value, when there is one; without one only if the queue is closed.
  [[nodiscard]] popped<T> pop() { return pop_by(std::nullopt); }
  /// The same until a time of the world's clock (`now()`), or `timed_out`.
  [[nodiscard]] popped<T> pop_until(std::chrono::nanoseconds deadline) { return pop_by(deadline); }
  template <typename Rep, typename Period>
  [[nodiscard]] popped<T> pop_for(std::chrono::duration<Rep, Period> span) {
    return pop_by(end_of(span));
  }

  /// Appends values in their order: `success` if all, otherwise why not more than the first `count`. Each is
  /// an operation of its own, and others' may come between them. Of no values always `success`.
  queue_range_result try_push_range(std::span<const T> values) {
    const queue_range_result result = push_all(values, [](queue_status) { return false; });
    note_attempt(result.status);
    return result;
  }
  /// The same, waiting for room: `success` or `closed`.
  queue_range_result push_range(std::span<const T> values) {
    return push_all(values, [this](queue_status why) {
      return why == queue_status::full && self().await_room(std::nullopt);
    });
  }
  /// The oldest values, as many as there are or fit in: `success` if at least one. Each is an operation of
  /// its own, as above.
  queue_range_result try_pop_range(std::span<T> into) {
    queue_range_result result;
    while (result.count < into.size()) {
      const queue_range_result some = take_first(into.subspan(result.count));
      result.count += some.count;
      if (some.status == queue_status::success) continue;
      if (result.count == 0) result.status = some.status;
      break;
    }
    note_attempt(result.status);
    return result;
  }
  /// The same, waiting for the first: without one only if the queue is closed.
  queue_range_result pop_range(std::span<T> into) {
    for (;;) {
      const queue_range_result result = try_pop_range(into);
      if (result.status != queue_status::empty) return result;
      static_cast<void>(self().await_element(std::nullopt));
    }
  }

 protected:
  queue_operations() = default;
  ~queue_operations() = default;

 private:
  using deadline_type = std::optional<std::chrono::nanoseconds>;

  [[nodiscard]] Derived& self() noexcept { return static_cast<Derived&>(*this); }

  void note_attempt(queue_status status) {
    if constexpr (requires { requires Derived::fails_in_place; })
      if (status == queue_status::empty || status == queue_status::full) self().world_of().rest();
  }

  template <typename Rep, typename Period>
  [[nodiscard]] std::chrono::nanoseconds end_of(std::chrono::duration<Rep, Period> span) {
    return later(self().world_of().now(), in_nanoseconds(span));
  }
  [[nodiscard]] queue_range_result put_first(std::span<const T> values) {
    if constexpr (requires { self().put_some(values); }) {
      return self().put_some(values);
    } else {
      const queue_status status = self().put(values.front());
      return {status == queue_status::success ? std::size_t{1} : 0, status};
    }
  }
  [[nodiscard]] queue_range_result take_first(std::span<T> into) {
    if constexpr (requires { self().take_some(into); }) {
      return self().take_some(into);
    } else {
      const popped<T> value = self().take();
      if (value) into.front() = *value;
      return {value ? std::size_t{1} : 0, value.status()};
    }
  }
  template <typename GoesOn>
  [[nodiscard]] queue_range_result push_all(std::span<const T> values, const GoesOn& goes_on) {
    queue_range_result result;
    while (result.count < values.size()) {
      const queue_range_result some = put_first(values.subspan(result.count));
      result.count += some.count;
      if (some.status == queue_status::success || goes_on(some.status)) continue;
      result.status = some.status;
      break;
    }
    return result;
  }
  [[nodiscard]] queue_status push_by(const T& value, const deadline_type& deadline) {
    for (;;) {
      const queue_status status = self().put(value);
      if (status != queue_status::full) return status;
      if (!self().await_room(deadline)) return queue_status::timed_out;
    }
  }
  [[nodiscard]] popped<T> pop_by(const deadline_type& deadline) {
    for (;;) {
      const popped<T> result = self().take();
      if (result.status() != queue_status::empty) return result;
      if (!self().await_element(deadline)) return queue_status::timed_out;
    }
  }
};

}  // namespace nearfar
