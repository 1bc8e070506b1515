/// \file
/// How the worlds on real hardware wait: poll often, drive progress seldom, yield when oversubscribed, and
/// give up after a limit if asked to.
#pragma once

#include <sched.h>

#include <chrono>
#include <concepts>
#include <optional>
#include <string>

#include "nearfar/core/backoff.hpp"
#include "nearfar/core/fence.hpp"
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

/// What a rank waits for, in the words that `stalled` says it with.
struct awaited {
  const char* what;
  std::optional<int> rank{};  ///< whose it is, if it is anybody's; `any_rank` for whoever comes first

  [[nodiscard]] std::string text() const;
};

/// A wait that goes on. It has no beginning until it looks at the clock, which short ones never do. Nothing
/// may point to it, so that compilers keep it in registers.
struct ongoing_wait {
  awaited what;
  unsigned rests = 0;
  std::chrono::steady_clock::time_point last_look{};
  std::chrono::nanoseconds lasted{};
};

/// The same wait, of `rank`, after a look at the clock. Of the time between two looks at most a second
/// counts, so that a job that was stopped and goes on has not waited meanwhile. Throws `stalled` if it has
/// lasted `limit` or longer.
[[nodiscard, gnu::cold]] ongoing_wait after_look_at_clock(ongoing_wait current, int rank,
                                                          std::chrono::nanoseconds limit);

/// Waiting loops over a world's `progress()`. The count of polls outlives each wait, so that many short waits
/// drive progress as often as one long wait; without that, ranks that hand a lock to and fro quickly would
/// never let a far operation in.
///
/// With a limit every wait throws `stalled` that lasts longer; only a rest looks at the clock, and not every
/// one, so that a poll costs the same.
template <typename Derived>
class waiting {
 public:
  /// Waits until `predicate` holds for the near cell's value and returns that value. The load acquires, so it
  /// is ordered after everything that precedes the store (release) that wrote the value.
  template <typename T, std::predicate<T> Predicate>
  T await(const atomic_cell<T>& cell, Predicate predicate, awaited what = {"a near cell"}) {
    return poll([&] { return cell.load(std::memory_order_acquire); }, predicate, what);
  }

  /// The same for a far word in the memory of `rank`, which must be on this node: read directly while others
  /// put to it.
  template <typename Segment, typename T, typename V, std::predicate<V> Predicate>
  V await_direct(const Segment& segment, int rank, far<V> T::*field, Predicate predicate) {
    return poll([&] { return segment.read_direct(rank, field); }, predicate, {far_word, rank});
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
    wait current{{far_word, rank}};
    for (auto span = pause.shortest;; span = pause.after(span)) {
      delay(span);
      V old{};
      segment.swap(rank, field, origin, old);
      segment.flush(rank);
      if (predicate(old)) return old;
      note_rest(current);
    }
  }

  /// Orders near cells (`core/fence.hpp`).
  static void fence(std::memory_order order) noexcept { nearfar::fence(order); }

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
  using wait = ongoing_wait;

  void set_waiting(wait_ratios ratios, bool oversubscribed,
                   std::optional<std::chrono::nanoseconds> stall_limit) noexcept {
    oversubscribed_ = oversubscribed;
    stall_limit_ = stall_limit;
    polls_per_rest_ = oversubscribed ? ratios.polls_per_yield : ratios.polls_per_progress;
    polls_left_ = polls_per_rest_;
  }

  /// From here on waits last as long as they last: for destructors, which must not throw.
  void wait_without_limit() noexcept { stall_limit_.reset(); }

  /// One turn of a waiting loop. Returns whether it rested.
  bool idle() {
    if (polls_left_-- != 0) [[likely]]
      return false;
    polls_left_ = polls_per_rest_;
    rest();
    return true;
  }

  /// The same of a wait that may be given up.
  void idle(wait& current) {
    if (idle()) [[unlikely]]
      note_rest(current);
  }

  /// Throws `stalled` when `current` has lasted too long. A look at the clock takes a third of a rest, or
  /// less, so most rests are only counted.
  void note_rest(wait& current) {
    constexpr unsigned rests_per_look = 16;
    if (++current.rests % rests_per_look == 0 && stall_limit_)
      current = after_look_at_clock(current, static_cast<const Derived*>(this)->rank(), *stall_limit_);
  }

 private:
  static constexpr const char* far_word = "a far word";

  template <typename Read, typename Predicate>
  auto poll(Read read, Predicate& predicate, awaited what) {
    wait current{what};
    for (;;) {
      const auto value = read();
      if (predicate(value)) return value;
      idle(current);
    }
  }

  template <typename V, typename Start, typename Segment, typename Predicate>
  V poll_far(Start start, Segment& segment, int rank, Predicate& predicate) {
    V value{};
    wait current{{far_word, rank}};
    for (;;) {
      start(value);
      segment.flush(rank);
      if (predicate(value)) return value;
      // A far poll takes longer than a progress call, and may starve the one it waits for without one.
      rest();
      note_rest(current);
    }
  }

  bool oversubscribed_ = false;
  std::optional<std::chrono::nanoseconds> stall_limit_;
  unsigned polls_per_rest_ = wait_ratios{}.polls_per_progress;
  unsigned polls_left_ = polls_per_rest_;
};

}  // namespace nearfar
