/// \file
/// The operations that every distributed queue of nearfar offers: pushes and pops that fail at once, wait, or
/// wait until a deadline; and their results.
///
/// Source: names and meanings after L. Crowl, C. Mysen, D. Gustafsson, "C++ Concurrent Queues", P0260, in
/// which full, empty and closed are results, too, and not errors.
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
#include "nearfar/core/lifetime.hpp"
#include "nearfar/core/world.hpp"

namespace nearfar {

/// Result of an operation on a queue.
enum class queue_status : std::uint8_t {
  success,
  empty,      ///< there was no element
  full,       ///< there was no room for one
  closed,     ///< the queue is closed; for a pop, also empty
  timed_out,  ///< still empty or full at the deadline
};

/// A value, or the reason why there is none.
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
  /// Requires a value.
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

/// The public interface of a queue of `T`. `Derived` provides
///  - `put(value) -> queue_status`, which returns `success`, `full` or `closed`, and `take() -> popped<T>`,
///    which returns a value, or `empty` or `closed`; neither waits for room or for elements;
///  - if several at once cost less, `put_some(values)` and `take_some(into) -> queue_range_result`, which
///    move the first ones, at least one if the result is `success`;
///  - `await_room(optional deadline) -> bool` and `await_element(optional deadline) -> bool`, called after
///    `full` or `empty`: they wait until another attempt may succeed, and return false if the deadline has
///    passed. A deadline is a time of the world's clock. An event that has occurred wins over a deadline that
///    has passed;
///  - `fails_in_place`, if `put` and `take` may fail without a far operation: a failed attempt then lets in
///    other ranks' operations, which the caller may be waiting for.
///
/// An object belongs to one rank and is used by one thread. All operations are one-sided, and any rank may
/// call them at any time, unless a queue has only one producer or consumer.
template <typename Derived, world W, far_object_value T>
class queue_operations {
 public:
  using world_type = W;
  using value_type = T;

  /// Appends a value if there is room and the queue is not closed. Does not wait.
  [[nodiscard]] queue_status try_push(const T& value) {
    expect_world();
    const queue_status status = self().put(value);
    note_attempt(status);
    return status;
  }
  /// Waits for room and appends a value: `success` or `closed`.
  [[nodiscard]] queue_status push(const T& value) { return push_by(value, std::nullopt); }
  /// The same with a deadline, a time of the world's clock (`now()`); then `timed_out`.
  [[nodiscard]] queue_status push_until(const T& value, std::chrono::nanoseconds deadline) {
    return push_by(value, deadline);
  }
  template <typename Rep, typename Period>
  [[nodiscard]] queue_status push_for(const T& value, std::chrono::duration<Rep, Period> span) {
    return push_by(value, end_of(span));
  }

  /// Removes the oldest value, if there is one. Does not wait.
  [[nodiscard]] popped<T> try_pop() {
    expect_world();
    const popped<T> result = self().take();
    note_attempt(result.status());
    return result;
  }
  /// Waits for a value and removes the oldest. Returns none only if the queue is closed and empty.
  [[nodiscard]] popped<T> pop() { return pop_by(std::nullopt); }
  /// The same with a deadline, a time of the world's clock (`now()`); then `timed_out`.
  [[nodiscard]] popped<T> pop_until(std::chrono::nanoseconds deadline) { return pop_by(deadline); }
  template <typename Rep, typename Period>
  [[nodiscard]] popped<T> pop_for(std::chrono::duration<Rep, Period> span) {
    return pop_by(end_of(span));
  }

  /// Appends values in order, without waiting: `success` if all; otherwise the reason, and in `count` how
  /// many. Each is an operation of its own, and those of other ranks may come between them. For no values
  /// returns `success`.
  queue_range_result try_push_range(std::span<const T> values) {
    const queue_range_result result = push_all(values, [](queue_status) { return false; });
    note_attempt(result.status);
    return result;
  }
  /// The same, but waits for room: `success` or `closed`.
  queue_range_result push_range(std::span<const T> values) {
    return push_all(values, [this](queue_status why) {
      return why == queue_status::full && self().await_room(std::nullopt);
    });
  }
  /// Removes the oldest values, as many as there are and as fit into `into`, without waiting: `success` if at
  /// least one. Each is an operation of its own, as above.
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
  /// The same, but waits for the first value. Returns none only if the queue is closed and empty.
  queue_range_result pop_range(std::span<T> into) {
    for (;;) {
      const queue_range_result result = try_pop_range(into);
      if (result.status != queue_status::empty) return result;
      static_cast<void>(self().await_element(std::nullopt));
    }
  }

 protected:
  explicit queue_operations(const W& w) : life_(w) {}
  ~queue_operations() = default;

  /// Throws `destroyed_while_in_use` in checked builds if the world has ended. Every public function that
  /// uses the world begins with it.
  void expect_world() const { life_.expect_world(); }

 private:
  using deadline_type = std::optional<std::chrono::nanoseconds>;

  [[nodiscard]] Derived& self() noexcept { return static_cast<Derived&>(*this); }

  void note_attempt(queue_status status) {
    if constexpr (requires { requires Derived::fails_in_place; })
      if (status == queue_status::empty || status == queue_status::full) self().world_of().rest();
  }

  template <typename Rep, typename Period>
  [[nodiscard]] std::chrono::nanoseconds end_of(std::chrono::duration<Rep, Period> span) {
    expect_world();
    return later(self().world_of().now(), in_nanoseconds(span));
  }
  [[nodiscard]] queue_range_result put_first(std::span<const T> values) {
    expect_world();
    if constexpr (requires { self().put_some(values); }) {
      return self().put_some(values);
    } else {
      const queue_status status = self().put(values.front());
      return {status == queue_status::success ? std::size_t{1} : 0, status};
    }
  }
  [[nodiscard]] queue_range_result take_first(std::span<T> into) {
    expect_world();
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
    expect_world();
    for (;;) {
      const queue_status status = self().put(value);
      if (status != queue_status::full) return status;
      if (!self().await_room(deadline)) return queue_status::timed_out;
    }
  }
  [[nodiscard]] popped<T> pop_by(const deadline_type& deadline) {
    expect_world();
    for (;;) {
      const popped<T> result = self().take();
      if (result.status() != queue_status::empty) return result;
      if (!self().await_element(deadline)) return queue_status::timed_out;
    }
  }

  [[no_unique_address]] detail::life_of<W> life_;
};

}  // namespace nearfar
