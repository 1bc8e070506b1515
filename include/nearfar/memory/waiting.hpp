/// \file
/// How the worlds on real hardware wait: poll often, drive progress seldom, yield when oversubscribed.
#pragma once

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <utility>

#include "nearfar/core/backoff.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/memory/atomic_cell.hpp"

namespace nearfar {

/// How often a waiting rank does what, in polls of the word it waits for.
struct wait_ratios {
  /// Polls between two calls that drive progress. A poll of an unchanged line costs about a nanosecond, a
  /// progress call 50 to 300: the fewer the calls, the sooner a hand-over is noticed; the more, the sooner a
  /// far operation aimed at this rank completes. Measured by `bench/progress_ratio`, see docs/performance.md:
  /// up to 64 far operations are as fast as with a call at every poll.
  unsigned polls_per_progress = 64;
  /// The same while more ranks share the node than processors are allowed; each progress call is then
  /// followed by a yield, so that the rank that is waited for gets to run.
  unsigned polls_per_yield = 16;
};

/// Waiting loops over a world's `progress()`. The count of polls outlives each wait, so that many short waits
/// drive progress as often as one long wait; without that, ranks that hand a lock to and fro quickly would
/// never let a far operation in.
template <typename Derived>
class waiting {
 public:
  /// Waits until `predicate` holds for the near cell's value and returns that value. The load acquires, so it
  /// is ordered after everything that precedes the store (release) that wrote the value.
  template <typename T, std::predicate<T> Predicate>
  T await(const atomic_cell<T>& cell, Predicate predicate) {
    return poll([&] { return cell.load(std::memory_order_acquire); }, predicate);
  }

  /// The same for a far word in the memory of `rank`, which must be on this node: read directly while others
  /// put to it.
  template <typename Segment, typename T, typename V, std::predicate<V> Predicate>
  V await_direct(const Segment& segment, int rank, far<V> T::*field, Predicate predicate) {
    return poll([&] { return segment.read_direct(rank, field); }, predicate);
  }

  /// The same by one-sided `get` and `flush`, for a far word anywhere. Each poll is a far operation.
  template <typename Segment, typename T, typename V, std::predicate<V> Predicate>
  V await_get(Segment& segment, int rank, far<V> T::*field, Predicate predicate) {
    return poll_far<V>([&](V& value) { segment.get(rank, field, value); }, segment, rank, predicate);
  }

  /// The same by atomic `fetch` and `flush`.
  template <typename Segment, typename T, typename V, std::predicate<V> Predicate>
  V await_fetch(Segment& segment, int rank, far<V> T::*field, Predicate predicate) {
    return poll_far<V>([&](V& value) { segment.fetch(rank, field, value); }, segment, rank, predicate);
  }

  /// Swaps `origin` into the far word, again and again with growing pauses, until what it replaced satisfies:
  /// the wait of a test-and-set. It pauses first, as it is for ranks whose first attempt failed.
  template <typename Segment, typename T, typename V, std::predicate<V> Predicate>
  V await_swap(Segment& segment, int rank, far<V> T::*field, const V& origin, Predicate predicate,
               backoff pause) {
    for (auto span = pause.shortest;; span = std::min(span * 2, pause.longest)) {
      delay(span);
      V old{};
      segment.swap(rank, field, origin, old);
      segment.flush(rank);
      if (predicate(old)) return old;
    }
  }

  /// Lets `span` pass while progress goes on: the pause of a backoff.
  void delay(std::chrono::nanoseconds span) {
    const auto end = std::chrono::steady_clock::now() + span;
    do {
      idle();
    } while (std::chrono::steady_clock::now() < end);
  }

  /// One turn of a loop of the caller's own: drives progress now, and lets others run if processors are
  /// short.
  void rest() {
    static_cast<Derived*>(this)->progress();
    if (oversubscribed_) sched_yield();
  }

  /// The world's clock.
  [[nodiscard]] std::chrono::nanoseconds now() const noexcept {
    return std::chrono::steady_clock::now().time_since_epoch();
  }

  /// Whether waiting yields because there are more ranks than processors on this node.
  [[nodiscard]] bool oversubscribed() const noexcept { return oversubscribed_; }

 protected:
  void set_waiting(wait_ratios ratios, bool oversubscribed) noexcept {
    oversubscribed_ = oversubscribed;
    polls_per_rest_ = oversubscribed ? ratios.polls_per_yield : ratios.polls_per_progress;
    polls_left_ = polls_per_rest_;
  }

  /// One turn of a waiting loop.
  void idle() {
    if (polls_left_-- == 0) [[unlikely]] {
      polls_left_ = polls_per_rest_;
      rest();
    }
  }

 private:
  template <typename Read, typename Predicate>
  auto poll(Read read, Predicate& predicate) {
    for (;;) {
      const auto value = read();
      if (predicate(value)) return value;
      idle();
    }
  }

  template <typename V, typename Start, typename Segment, typename Predicate>
  V poll_far(Start start, Segment& segment, int rank, Predicate& predicate) {
    V value{};
    for (;;) {
      start(value);
      segment.flush(rank);
      if (predicate(value)) return value;
      // A far poll takes longer than a progress call, and may starve the one it waits for without one.
      rest();
    }
  }

  bool oversubscribed_ = false;
  unsigned polls_per_rest_ = wait_ratios{}.polls_per_progress;
  unsigned polls_left_ = polls_per_rest_;
};

}  // namespace nearfar
