/// \file
/// How the worlds on real hardware wait: they poll often, drive progress seldom, yield when oversubscribed,
/// and give up after a limit if asked to.
#pragma once

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "nearfar/core/backoff.hpp"
#include "nearfar/core/condition.hpp"
#include "nearfar/core/fence.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/memory/atomic_cell.hpp"

namespace nearfar {

/// How often a waiting rank drives progress or yields, in polls of the word it waits for.
struct wait_ratios {
  /// Polls between two calls that drive progress. A poll of an unchanged line costs about a nanosecond, a
  /// progress call 50 to 300. With fewer calls a hand-over is noticed sooner; with more calls a far operation
  /// aimed at this rank completes sooner. Measured by `bench/tools/progress_ratio`, see docs/performance.md:
  /// up to 64 far operations are as fast as with a call at every poll.
  unsigned polls_per_progress = 64;
  /// The same while more ranks share the node than processors are allowed. Each progress call is then
  /// followed by a yield, so that the rank that is waited for gets to run.
  unsigned polls_per_yield = 16;
};

/// The object that a rank waits for, in the words that `stalled` uses.
struct awaited {
  const char* what;
  std::optional<int> rank{};  ///< the rank whose word it is, if any; `any_rank` for the first that comes

  [[nodiscard]] std::string text() const;
};

/// A wait that is under way. It has no beginning until it looks at the clock, which short waits never do.
/// Nothing may point to it, so that compilers keep it in registers.
struct ongoing_wait {
  awaited what;
  unsigned rests = 0;
  std::chrono::steady_clock::time_point last_look{};
  std::chrono::nanoseconds lasted{};
};

/// The same wait, of `rank`, after a look at the clock. At most one second of the time between two looks
/// counts, so a job that was stopped and continues has not waited meanwhile. Throws `stalled` if the wait has
/// lasted `limit` or longer.
[[nodiscard, gnu::cold]] ongoing_wait after_look_at_clock(ongoing_wait current, int rank,
                                                          std::chrono::nanoseconds limit);

/// The deadline of waits without one. Compiles to nothing in their loops.
struct wait_for_ever {
  [[nodiscard]] static constexpr bool is_over() noexcept { return false; }
  [[nodiscard]] static constexpr std::chrono::nanoseconds at_latest(std::chrono::nanoseconds time) noexcept {
    return time;
  }
};

/// A deadline on the clock of the worlds, which is the steady one.
struct wait_until {
  std::chrono::nanoseconds deadline;

  [[nodiscard]] bool is_over() const noexcept {
    return std::chrono::steady_clock::now().time_since_epoch() >= deadline;
  }
  /// `time`, or the deadline if that comes first.
  [[nodiscard]] constexpr std::chrono::nanoseconds at_latest(std::chrono::nanoseconds time) const noexcept {
    return std::min(time, deadline);
  }
};

/// Waiting loops over a world's `progress()`. The count of polls outlives each wait. Many short waits
/// therefore drive progress as often as one long wait. Without that, ranks that hand a lock to and fro
/// quickly would never let a far operation in.
///
/// With a limit every wait that lasts longer throws `stalled`. Only a rest looks at the clock, and not every
/// one, so a poll costs the same.
///
/// A wait whose name ends in `_until` gives up, with an empty result, once `now()` has reached its first
/// argument. It tries at least once, and once more after it has seen that it is late, so a value that comes
/// in time is taken. It notices the deadline at its next rest, so it may be late by some polls, or by one far
/// operation and what that waits for. When it gives up, nothing that it started is in flight.
template <typename Derived>
class waiting {
 public:
  /// Waits until `predicate` holds for the near cell's value and returns that value. The load acquires, so it
  /// is ordered after everything that precedes the store (release) that wrote the value.
  template <typename T, std::predicate<T> Predicate>
  T await(const atomic_cell<T>& cell, Predicate predicate, awaited what = {near_cell}) {
    return *poll([&] { return value_of(cell); }, predicate, what, wait_for_ever{});
  }
  template <typename T, std::predicate<T> Predicate>
  [[nodiscard]] std::optional<T> await_until(std::chrono::nanoseconds until, const atomic_cell<T>& cell,
                                             Predicate predicate) {
    return poll([&] { return value_of(cell); }, predicate, {near_cell}, wait_until{until});
  }
  /// The same for a rank that writes the cell next. Polls by read-modify-writes that change nothing, so that
  /// this rank has the cell's line exclusively when the value comes.
  template <typename T, std::predicate<T> Predicate>
  T await_for_writing(atomic_cell<T>& cell, Predicate predicate) {
    return *poll([&] { return cell.fetch_add(T{}, std::memory_order_acquire); }, predicate, {near_cell},
                 wait_for_ever{});
  }

  /// Writes `value` into the near cell, again and again with growing pauses, until the replaced value
  /// satisfies `predicate`: the wait of a test-and-set. Begins with a pause, since the caller's first attempt
  /// has failed.
  template <typename T, std::predicate<T> Predicate>
  T await_exchange(atomic_cell<T>& cell, T value, Predicate predicate, backoff pause) {
    return *try_after_pauses([&] { return cell.exchange(value, std::memory_order_acq_rel); }, predicate,
                             pause, {near_cell}, wait_for_ever{});
  }

  /// Like `await` for a far word in the memory of a rank of this node, read directly while others put to it.
  template <typename Array, typename T, typename V, std::predicate<V> Predicate>
  V await_direct(const Array& array, element where, far<V> T::*field, Predicate predicate) {
    return *poll([&] { return array.read_direct(where, field); }, predicate, {far_word, where.rank},
                 wait_for_ever{});
  }
  template <typename Array, typename T, std::predicate<std::uint8_t> Predicate>
  std::uint8_t await_direct(const Array& array, element where, far_byte T::*field, Predicate predicate) {
    return *poll([&] { return array.read_direct(where, field); }, predicate, {far_word, where.rank},
                 wait_for_ever{});
  }
  template <typename Array, typename T, typename V, std::predicate<V> Predicate>
  [[nodiscard]] std::optional<V> await_direct_until(std::chrono::nanoseconds until, const Array& array,
                                                    element where, far<V> T::*field, Predicate predicate) {
    return poll([&] { return array.read_direct(where, field); }, predicate, {far_word, where.rank},
                wait_until{until});
  }

  /// The same by one-sided `get` and `flush`, for a far word anywhere. Each poll is a far operation.
  template <typename Array, typename T, typename V, std::predicate<V> Predicate>
  V await_get(Array& array, element where, far<V> T::*field, Predicate predicate) {
    return *poll_far<V>([&](V& value) { array.get(where, field, value); }, array, where, predicate,
                        wait_for_ever{});
  }
  template <typename Array, typename T, typename V, std::predicate<V> Predicate>
  [[nodiscard]] std::optional<V> await_get_until(std::chrono::nanoseconds until, Array& array, element where,
                                                 far<V> T::*field, Predicate predicate) {
    return poll_far<V>([&](V& value) { array.get(where, field, value); }, array, where, predicate,
                       wait_until{until});
  }

  /// The same by atomic `fetch` and `flush`.
  template <typename Array, typename T, typename V, std::predicate<V> Predicate>
  V await_fetch(Array& array, element where, far<V> T::*field, Predicate predicate) {
    return *poll_far<V>([&](V& value) { array.fetch(where, field, value); }, array, where, predicate,
                        wait_for_ever{});
  }
  template <typename Array, typename T, typename V, std::predicate<V> Predicate>
  [[nodiscard]] std::optional<V> await_fetch_until(std::chrono::nanoseconds until, Array& array,
                                                   element where, far<V> T::*field, Predicate predicate) {
    return poll_far<V>([&](V& value) { array.fetch(where, field, value); }, array, where, predicate,
                       wait_until{until});
  }

  /// Swaps `origin` into the far word, again and again with growing pauses, until the replaced value
  /// satisfies `predicate`: the wait of a test-and-set. Begins with a pause, since the caller's first attempt
  /// has failed. With a deadline no pause goes beyond it.
  template <typename Array, typename T, typename V, std::predicate<V> Predicate>
  V await_swap(Array& array, element where, far<V> T::*field, const V& origin, Predicate predicate,
               backoff pause) {
    return *try_repeatedly<V>([&](V& old) { array.swap(where, field, origin, old); }, array, where, predicate,
                              pause, wait_for_ever{});
  }
  template <typename Array, typename T, typename V, std::predicate<V> Predicate>
  [[nodiscard]] std::optional<V> await_swap_until(std::chrono::nanoseconds until, Array& array, element where,
                                                  far<V> T::*field, const V& origin, Predicate predicate,
                                                  backoff pause) {
    return try_repeatedly<V>([&](V& old) { array.swap(where, field, origin, old); }, array, where, predicate,
                             pause, wait_until{until});
  }
  /// The same by compare-and-swaps. `predicate` must hold for `expected`. If it holds for another value that
  /// is found, the wait ends with nothing written.
  template <typename Array, typename T, typename V, std::predicate<V> Predicate>
  V await_compare_and_swap(Array& array, element where, far<V> T::*field, const V& expected, const V& desired,
                           Predicate predicate, backoff pause) {
    return *try_repeatedly<V>([&](V& old) { array.compare_and_swap(where, field, expected, desired, old); },
                              array, where, predicate, pause, wait_for_ever{});
  }
  template <typename Array, typename T, typename V, std::predicate<V> Predicate>
  [[nodiscard]] std::optional<V> await_compare_and_swap_until(std::chrono::nanoseconds until, Array& array,
                                                              element where, far<V> T::*field,
                                                              const V& expected, const V& desired,
                                                              Predicate predicate, backoff pause) {
    return try_repeatedly<V>([&](V& old) { array.compare_and_swap(where, field, expected, desired, old); },
                             array, where, predicate, pause, wait_until{until});
  }

  /// Waits for the first of several conditions (`when`, in `core/condition.hpp`), polled in turn.
  template <wait_condition... Condition>
  satisfied_condition await_any(const Condition&... any) {
    return *poll_any(wait_for_ever{}, any...);
  }
  /// The same with a pause before each look at all conditions, longer each time.
  template <wait_condition... Condition>
  satisfied_condition await_any_after_pauses(backoff pause, const Condition&... any) {
    const std::size_t first = next_start_of_any(sizeof...(any));
    const auto look = [&] { return first_held(first, std::index_sequence_for<Condition...>(), any...); };
    return **try_after_pauses(look, has_held, pause, {several_conditions}, wait_for_ever{});
  }
  template <wait_condition... Condition>
  [[nodiscard]] std::optional<satisfied_condition> await_any_until(std::chrono::nanoseconds until,
                                                                   const Condition&... any) {
    return poll_any(wait_until{until}, any...);
  }

  /// Orders accesses to near cells (`core/fence.hpp`).
  static void fence(std::memory_order order) noexcept { nearfar::fence(order); }

  /// Lets `span` pass while progress goes on: the pause of a backoff.
  void delay(std::chrono::nanoseconds span) { delay_until(later(now(), span)); }

  /// Lets `span` pass outside the library, like a rank that computes: ranks that need its progress wait.
  void compute(std::chrono::nanoseconds span) const noexcept {
    for (const auto end = later(now(), span); now() < end;) {
    }
  }

  /// One turn of a caller's own loop: drives progress now, and lets others run if the node is oversubscribed.
  void rest() {
    static_cast<Derived*>(this)->progress();
    yield();
  }

  /// One turn of a wait that the caller's loop makes. Throws `stalled` if the wait has lasted too long.
  void rest(ongoing_wait& current) {
    rest();
    note_rest(current);
  }

  /// The world's clock.
  [[nodiscard]] std::chrono::nanoseconds now() const noexcept {
    return std::chrono::steady_clock::now().time_since_epoch();
  }

  /// Whether waiting yields because there are more ranks than processors on this node.
  [[nodiscard]] bool oversubscribed() const noexcept { return oversubscribed_; }

 protected:
  void set_waiting(wait_ratios ratios, bool oversubscribed,
                   std::optional<std::chrono::nanoseconds> stall_limit) noexcept {
    oversubscribed_ = oversubscribed;
    stall_limit_ = stall_limit;
    polls_per_rest_ = oversubscribed ? ratios.polls_per_yield : ratios.polls_per_progress;
    polls_left_ = polls_per_rest_;
  }

  /// Removes the limit of later waits: for destructors, which must not throw.
  void wait_without_limit() noexcept { stall_limit_.reset(); }
  /// Whether a wait has thrown `stalled`.
  [[nodiscard]] bool has_stalled() const noexcept { return has_stalled_; }

  /// The loop of every wait. Reads, with `pause()` between two reads, until `predicate` holds for the value,
  /// which it returns, or until `until` is over. `pause` returns whether it rested: only then is there time
  /// to check whether the wait has lasted too long.
  template <typename Read, typename Predicate, typename Pause, typename Until>
  auto repeat(Read read, const Predicate& predicate, Pause pause, awaited what, Until until)
      -> std::optional<decltype(read())> {
    ongoing_wait current{what};
    for (bool is_last = false;;) {
      const auto value = read();
      if (predicate(value)) return value;
      if (is_last) return std::nullopt;
      if (pause()) [[unlikely]] {
        note_rest(current);
        is_last = until.is_over();
      }
    }
  }

  /// With reads that cost almost nothing.
  template <typename Read, typename Predicate, typename Until>
  auto poll(Read read, Predicate predicate, awaited what, Until until) {
    return repeat(
        read, predicate, [this] { return idle(); }, what, until);
  }

  /// With reads that drive progress themselves.
  template <typename Read, typename Predicate, typename Until>
  auto poll_with_progress(Read read, Predicate predicate, awaited what, Until until) {
    const auto pause = [this] {
      yield();
      return true;
    };
    return repeat(read, predicate, pause, what, until);
  }

 private:
  static constexpr const char* near_cell = "a near cell";
  static constexpr const char* far_word = "a far word";

  void yield() const noexcept {
    if (oversubscribed_) sched_yield();
  }

  /// One turn of a polling loop. Returns whether it rested.
  bool idle() {
    if (polls_left_-- != 0) [[likely]]
      return false;
    polls_left_ = polls_per_rest_;
    rest();
    return true;
  }

  void delay_until(std::chrono::nanoseconds end) {
    do {
      idle();
    } while (now() < end);
  }

  /// Throws `stalled` when `current` has lasted too long. A look at the clock takes at most a third of the
  /// time of a rest, and most rests are only counted.
  void note_rest(ongoing_wait& current) {
    constexpr unsigned rests_per_look = 16;
    if (++current.rests % rests_per_look == 0 && stall_limit_) current = look_at_clock(current);
  }
  [[nodiscard, gnu::cold]] ongoing_wait look_at_clock(ongoing_wait current) {
    try {
      return after_look_at_clock(current, static_cast<const Derived*>(this)->rank(), *stall_limit_);
    } catch (...) {
      has_stalled_ = true;
      throw;
    }
  }

  /// A read by a far operation that `start(value)` starts.
  template <typename V, typename Start, typename Array>
  [[nodiscard]] static auto far_read(Start start, Array& array, element where) {
    return [start, &array, where] {
      V value{};
      start(value);
      array.flush(where.rank);
      return value;
    };
  }

  template <typename V, typename Start, typename Array, typename Predicate, typename Until>
  std::optional<V> poll_far(Start start, Array& array, element where, Predicate& predicate, Until until) {
    // A far poll takes longer than a progress call, and without one may starve the rank that it waits for.
    const auto pause = [this] {
      rest();
      return true;
    };
    return repeat(far_read<V>(start, array, where), predicate, pause, {far_word, where.rank}, until);
  }

  template <typename V, typename Start, typename Array, typename Predicate, typename Until>
  std::optional<V> try_repeatedly(Start start, Array& array, element where, Predicate& predicate,
                                  backoff times, Until until) {
    return try_after_pauses(far_read<V>(start, array, where), predicate, times, {far_word, where.rank},
                            until);
  }

  /// Pauses before each attempt, for longer each time.
  template <typename Try, typename Predicate, typename Until>
  auto try_after_pauses(Try attempt, const Predicate& predicate, backoff times, awaited what, Until until) {
    auto span = times.shortest;
    const auto pause = [&] {
      delay_until(until.at_latest(later(now(), span)));
      span = times.after(span);
      return true;
    };
    pause();
    return repeat(attempt, predicate, pause, what, until);
  }

  static constexpr const char* several_conditions = "one of several conditions";

  /// Which of `count` conditions a wait looks at first.
  [[nodiscard]] std::size_t next_start_of_any(std::size_t count) noexcept {
    // Steps of the golden ratio soon begin near every condition, also if one looks at every n-th wait only.
    // With a count, a loop of two such waits of two conditions each would begin each wait with the same
    // condition for ever.
    start_of_any_ += 0x9e37'79b9U;
    return static_cast<std::size_t>(std::uint64_t{start_of_any_} * count >> 32U);
  }
  static constexpr auto has_held = [](const std::optional<satisfied_condition>& held) {
    return held.has_value();
  };

  template <typename Until, typename... Condition>
  std::optional<satisfied_condition> poll_any(Until until, const Condition&... any) {
    static_assert(sizeof...(any) > 0, "wait for one condition at least");
    const std::size_t first = next_start_of_any(sizeof...(any));
    const auto found =
        poll([&] { return first_held(first, std::index_sequence_for<Condition...>(), any...); }, has_held,
             {several_conditions}, until);
    return found ? *found : std::nullopt;
  }

  /// The first condition that holds, from number `first` on and then among the ones before it.
  template <std::size_t... Number, typename... Condition>
  [[nodiscard]] static std::optional<satisfied_condition> first_held(
      std::size_t first, std::index_sequence<Number...> /*numbers*/, const Condition&... any) {
    std::optional<satisfied_condition> found;
    const auto holds = [&found](std::size_t number, const auto& one) {
      const auto value = value_of(one);
      if (one.predicate(value)) found = {number, zero_extended(value)};
      return found.has_value();
    };
    if (!((Number >= first && holds(Number, any)) || ...))
      static_cast<void>(((Number < first && holds(Number, any)) || ...));
    return found;
  }

  template <typename T>
  [[nodiscard]] static T value_of(const atomic_cell<T>& cell) noexcept {
    return cell.load(std::memory_order_acquire);
  }
  template <typename T, typename Predicate>
  [[nodiscard]] static T value_of(const near_condition<atomic_cell<T>, Predicate>& one) noexcept {
    return value_of(*one.cell);
  }
  template <typename Array, typename T, typename V, typename Predicate>
  [[nodiscard]] static V value_of(const direct_condition<Array, far<V> T::*, Predicate>& one) {
    return one.array->read_direct(one.where, one.field);
  }
  template <std::integral T>
  [[nodiscard]] static constexpr std::uint64_t zero_extended(T value) noexcept {
    if constexpr (std::same_as<T, bool>)
      return value ? 1 : 0;
    else
      return static_cast<std::make_unsigned_t<T>>(value);
  }

  bool oversubscribed_ = false;
  std::optional<std::chrono::nanoseconds> stall_limit_;
  bool has_stalled_ = false;
  unsigned polls_per_rest_ = wait_ratios{}.polls_per_progress;
  unsigned polls_left_ = polls_per_rest_;
  std::uint32_t start_of_any_ = 0;
};

}  // namespace nearfar
