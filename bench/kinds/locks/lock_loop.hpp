/// \file
/// The timed loop of the benchmarks of exclusive locks in which every rank acquires and releases one lock.
///
/// Source: A. Uffmann, master thesis, LMU Munich, 2022, sections 4 and 4.2.2 to 4.2.4.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "bench/kinds/locks/exclusion_check.hpp"
#include "bench/results/latency_histogram.hpp"
#include "bench/timed_loop.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/level_waits.hpp"
#include "nearfar/lock/lockable.hpp"

namespace nearfar::bench {

/// Counts of one rank. Only `checked` and `followed_other` include the warm-up.
struct lock_counts : loop_counts {
  std::int64_t iterations = 0;
  std::int64_t contended = 0;
  std::int64_t local_handovers = 0;
  std::int64_t checked = 0;         ///< acquisitions of the warm-up, each of which was checked
  std::int64_t followed_other = 0;  ///< how many of those followed another rank's acquisition
  bool knows_contention = true;
  std::int64_t above = 0;          ///< acquisitions of the lock above the nodes
  std::int64_t waited_above = 0;   ///< how many of those waited
  std::int64_t waited_within = 0;  ///< acquisitions that waited for the lock within the node
  bool knows_levels = true;
  latency_histogram latency{};  ///< from before the acquisition until the rank holds the lock
};

/// The deeds of each rank from the common start.
struct lock_plan {
  run_times times{};
  std::int64_t latency_interval = 0;  ///< one acquisition in this many is timed; 0: none
};

/// When a rank checks exclusion in the measured part. A check costs cache-line transfers, or far operations,
/// and all ranks wait for it. So the ranks' checks are spaced to take together about a hundredth of the time,
/// whatever one costs, and the benchmark measures the lock. A lock that takes no time at all, as a broken one
/// may in virtual time, would never be checked again. There one acquisition of a few is checked.
class check_schedule {
 public:
  /// `rank` of `ranks` ranks, which check in turn.
  check_schedule(int rank, int ranks) : pauses_(hundredths * ranks), first_(hundredths * (rank + 1)) {}

  /// Stores what one check in the warm-up took.
  void measured(std::chrono::nanoseconds cost) noexcept { cost_ = cost; }
  /// Starts the schedule at `now`.
  void begin(std::chrono::nanoseconds now) noexcept { next_ = now + first_ * cost_; }

  /// Runs `check` if it is due. `now` need not be exact.
  template <world W, typename Check>
  void check_if_due(W& w, std::chrono::nanoseconds now, Check&& check) {
    if (now != seen_) at_once_ = 0;
    seen_ = now;
    if (now < next_ && ++at_once_ < most_at_once) return;
    at_once_ = 0;
    const std::chrono::nanoseconds begun = w.now();
    check();
    const std::chrono::nanoseconds ended = w.now();
    next_ = ended + pauses_ * (ended - begun);
  }

 private:
  static constexpr int hundredths = 100;
  static constexpr int most_at_once = 64;

  int pauses_;
  int first_;
  std::chrono::nanoseconds cost_{};
  std::chrono::nanoseconds next_{};
  std::chrono::nanoseconds seen_{};
  int at_once_ = 0;
};

/// The waits of the last acquisition, of a lock that tells them.
template <typename Lock>
[[nodiscard]] std::optional<level_waits> waits_of(const Lock& lock) {
  if constexpr (requires { lock.last_waits(); })
    return lock.last_waits();
  else
    return std::nullopt;
}

/// No work besides locking.
struct no_work {
  void begin() const noexcept {}
  void before() const noexcept {}
  void inside() const noexcept {}
  void after() const noexcept {}
};

/// Acquires and releases until the time is over. Calls `work.begin()` once after the warm-up, and in each
/// round `work.before()`, `work.inside()` while holding the lock, and `work.after()`. Reads the clock after
/// each round. The warm-up is not measured, and there both counters check every acquisition. Collective.
template <world W, typename Lock, typename Work>
lock_counts lock_loop(W& w, Lock& lock, exclusion_check<W>& check, const lock_plan& plan, Work&& work) {
  lock_counts counts;
  latency_turns timed(plan.latency_interval);
  check_schedule near_checks(w.rank(), w.size());
  check_schedule far_checks(w.rank(), w.size());
  const auto count_in_node = [&] { check.count_in_node(); };
  const auto count_everywhere = [&] { check.count_everywhere(); };
  timed_loop(
      w, plan.times, counts,
      [&] {
        work.before();
        lock.lock();
        ++counts.checked;
        const std::chrono::nanoseconds begun = w.now();
        if (check.count_everywhere()) ++counts.followed_other;
        const std::chrono::nanoseconds then = w.now();
        check.count_in_node();
        near_checks.measured(w.now() - then);
        far_checks.measured(then - begun);
        work.inside();
        lock.unlock();
        work.after();
      },
      [&] {
        near_checks.begin(w.now());
        far_checks.begin(w.now());
        work.begin();
      },
      [&](std::chrono::nanoseconds now) {
        work.before();
        if (timed.is_next()) {
          const std::chrono::nanoseconds begun = w.now();
          lock.lock();
          counts.latency.add(w.now() - begun);
        } else {
          lock.lock();
        }
        near_checks.check_if_due(w, now, count_in_node);
        far_checks.check_if_due(w, now, count_everywhere);
        work.inside();
        const handover how = lock.last_handover();
        const std::optional<level_waits> levels = waits_of(lock);
        lock.unlock();
        work.after();
        ++counts.iterations;
        counts.contended += static_cast<std::int64_t>(how != handover::uncontended);
        counts.local_handovers += static_cast<std::int64_t>(how == handover::local);
        counts.knows_contention = counts.knows_contention && how != handover::unknown;
        counts.knows_levels = counts.knows_levels && levels.has_value();
        const level_waits of = levels.value_or(level_waits{});
        counts.above += static_cast<std::int64_t>(of.asked_above);
        counts.waited_above += static_cast<std::int64_t>(of.waited_above);
        counts.waited_within += static_cast<std::int64_t>(of.waited_within);
        return w.now();
      });
  return counts;
}

}  // namespace nearfar::bench
