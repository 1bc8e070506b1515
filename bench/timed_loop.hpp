/// \file
/// The loop of benchmarks that run for a time.
///
/// Source: A. Uffmann, master thesis, LMU Munich, 2022, sections 4 and 4.2.2.
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include "nearfar/core/world.hpp"

namespace nearfar::bench {

/// How long a rank runs, from the common start.
struct run_times {
  std::chrono::nanoseconds warm_up{};
  std::chrono::nanoseconds total{};
};

/// One rank's share of a timed loop, whatever it does there.
struct loop_counts {
  std::int64_t in_first_half = 0;  ///< iterations in the first half of the measured time
  std::chrono::nanoseconds measured{};
};

/// Share of a run's time that is warm-up and not measured.
inline constexpr double warm_up_share = 0.1;

/// Splits `duration` into warm-up and measured time.
[[nodiscard]] inline run_times times_of(std::chrono::duration<double> duration) {
  using std::chrono::nanoseconds;
  return {.warm_up = std::chrono::duration_cast<nanoseconds>(duration * warm_up_share),
          .total = std::chrono::duration_cast<nanoseconds>(duration)};
}

/// The result of a round that may perform any number of operations.
struct counted_round {
  std::chrono::nanoseconds now{};
  std::int64_t operations = 1;

  // NOLINTNEXTLINE(google-explicit-constructor): most rounds report only the time
  counted_round(std::chrono::nanoseconds time) : now(time) {}
  counted_round(std::chrono::nanoseconds time, std::int64_t count) : now(time), operations(count) {}
};

/// Returns when the next turn of a loop begins, of which one has ended at `now`. Only a simulated world has
/// to be told that a turn costs time besides its work.
template <world W>
[[nodiscard]] std::chrono::nanoseconds after_turn(W& w, std::chrono::nanoseconds now) {
  if constexpr (requires { w.after_turn(now); })
    return w.after_turn(now);
  else
    return now;
}

/// Calls `warm_up()` repeatedly, then `begin()` once, then `round(now)` until the time is over. `round`
/// returns the time after it, or a `counted_round`. The clock is read after each round. Collective.
template <world W, typename WarmUp, typename Round, typename Begin>
void timed_loop(W& w, const run_times& times, loop_counts& counts, WarmUp&& warm_up, Begin&& begin,
                Round&& round) {
  using std::chrono::nanoseconds;
  w.barrier();
  const nanoseconds start = w.now();
  nanoseconds now = start;
  do {
    warm_up();
    now = after_turn(w, w.now());
  } while (now - start < times.warm_up);
  const nanoseconds measured_from = now;
  const nanoseconds half = now + (start + times.total - now) / 2;
  begin();
  do {
    const counted_round done = round(now);
    counts.in_first_half += done.now <= half ? done.operations : 0;
    now = after_turn(w, done.now);
  } while (now - start < times.total);
  counts.measured = now - measured_from;
  // A rank that has finished may be the home of words that others still use. It drives progress here until
  // all ranks have finished.
  w.barrier();
}
template <world W, typename WarmUp, typename Round>
void timed_loop(W& w, const run_times& times, loop_counts& counts, WarmUp&& warm_up, Round&& round) {
  timed_loop(
      w, times, counts, std::forward<WarmUp>(warm_up), [] {}, std::forward<Round>(round));
}

}  // namespace nearfar::bench
