/// \file
/// WBAB, the wait before acquire benchmark: all ranks acquire and release one lock, and before each
/// acquisition wait for a time drawn anew. The critical section is empty, so the time of a round beyond the
/// wait belongs to the lock.
///
/// Source: A. Uffmann, master thesis, LMU Munich, 2022, section 4.2.4.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "bench/draws.hpp"
#include "bench/kinds/locks/lock_benchmark.hpp"

namespace nearfar::bench {

/// How long the ranks of a WBAB wait.
struct wbab_waits {
  std::chrono::nanoseconds shortest{};  ///< the longest is twice that; uniform in between
  bool progress = true;                 ///< whether a waiting rank drives the library's progress
  std::uint64_t seed = 1;
};

/// The wait of one rank before each acquisition.
template <world W>
class waiting_before {
 public:
  waiting_before(W& w, const wbab_waits& waits) : world_(&w), waits_(waits), draws_(waits.seed, w.rank()) {}

  void begin() noexcept { drawn_ = {}; }
  void before() {
    if (waits_.shortest.count() == 0) return;
    const auto choices = static_cast<std::uint64_t>(waits_.shortest.count()) + 1;
    const auto span = waits_.shortest + std::chrono::nanoseconds(draws_.next() % choices);
    drawn_ += span;
    if (waits_.progress)
      world_->delay(span);
    else
      world_->compute(span);
  }
  void inside() const noexcept {}
  void after() const noexcept {}

  /// The sum of all waits since the beginning, as drawn.
  [[nodiscard]] std::chrono::nanoseconds drawn() const noexcept { return drawn_; }

 private:
  W* world_;
  wbab_waits waits_;
  draws draws_;
  std::chrono::nanoseconds drawn_{};
};

/// Runs one repetition for `duration`, warm-up included. Collective. Rank 0 gets the whole sample; the other
/// ranks' samples lack durations and counts per rank.
template <world W>
[[nodiscard]] sample run_wbab(W& w, const lock_entry& entry, const lock_parameters& parameters,
                              std::chrono::duration<double> duration, const wbab_waits& waits,
                              std::int64_t latency_interval = 0) {
  constexpr int home = 0;
  exclusion_check<W> check(w, home);
  const std::unique_ptr<any_lock<W>> lock = entry.factory<W>()(w, home, parameters);
  waiting_before<W> work(w, waits);
  const lock_counts mine =
      lock_loop(w, *lock, check, {.times = times_of(duration), .latency_interval = latency_interval}, work);
  sample result = sample_of_locking(w, "wbab", entry, check, mine);
  // Computed from each rank's own time and waits. If waits are long, the drawn waits differ from their
  // expected mean, and the last rank's time from that of the others, by more than a lock takes.
  const std::int64_t beyond = w.sum_over_ranks({(mine.measured - work.drawn()).count()})[0];
  constexpr double mean_of_shortest = 1.5;
  result.counts["wait_ns"] = waits.shortest.count();
  result.counts["progress"] = waits.progress;
  result.counts["optimum_ns"] = mean_of_shortest * static_cast<double>(waits.shortest.count()) / w.size();
  result.counts["overhead_ns"] = or_null(
      result.iterations > 0
          ? std::optional(static_cast<double>(beyond) / w.size() / static_cast<double>(result.iterations))
          : std::nullopt);
  return result;
}

/// The benchmark's description.
struct wbab {
  static benchmark statement() {
    constexpr double one_minute = 6e10;
    return {
        .name = "wbab",
        .title = "Wait before acquire (WBAB)",
        .summary = "random wait (1 to 2 times --wait-ns) of each rank before it acquires one lock",
        .source = "Uffmann 2022, 4.2.4",
        .kind = &locks(),
        .axes = {{.name = "wait_ns",
                  .unit = "ns",
                  .meaning = "Shortest wait before an acquisition; the longest is twice that",
                  .standard = std::int64_t{0},
                  .most = one_minute},
                 {.name = "progress",
                  .meaning = "Drive the library's progress during each wait",
                  .standard = true},
                 draw_axis("Seed of the waits that each rank draws"),
                 duration_axis(0.02),
                 latency_interval_axis()},
        .columns = with_acquisitions({time_per_acquisition, overhead, throughput, progress_variation, waited,
                                      handed_over_locally, contention_above, contention_within}),
        .seconds =
            [](const point& at) { return at.real("duration") + most_waits * longest_wait_in_seconds(at); },
        .pauses = pauses_of};
  }

  template <world W>
  [[nodiscard]] static std::vector<sample> run(W& w, const object& of, const point& at, const heartbeat&) {
    return {run_wbab(w, *catalogue::instance().find(of.name), lock_parameters::at(at),
                     std::chrono::duration<double>(at.real("duration")),
                     {.shortest = std::chrono::nanoseconds(at.whole("wait_ns")),
                      .progress = at.flag("progress"),
                      .seed = static_cast<std::uint64_t>(at.whole("draw"))},
                     at.whole("latency_interval"))};
  }

 private:
  /// Waits beyond the duration: each rank waits at least once in the warm-up and once after it, and reads the
  /// clock only after a wait.
  static constexpr int most_waits = 2;

  [[nodiscard]] static double longest_wait_in_seconds(const point& at) {
    return 2e-9 * static_cast<double>(at.whole("wait_ns"));
  }
  /// A rank that has finished waits for the others until they have finished their waits. Without progress it
  /// also waits for their words, again and again until the last rank has ended.
  [[nodiscard]] static double pauses_of(const point& at) {
    const double longest = longest_wait_in_seconds(at);
    if (longest == 0 || at.flag("progress")) return longest;
    return at.real("duration") + most_waits * longest;
  }

  inline static const column overhead{
      .name = "overhead",
      .head = "over",
      .title = "Overhead",
      .unit = "ns",
      .meaning = "time of an acquisition beyond the wait that was drawn, shared by all ranks",
      .of = [](const sample& s) { return s.count("overhead_ns"); }};
};

}  // namespace nearfar::bench
