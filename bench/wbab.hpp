/// \file
/// WBAB, the wait before acquire benchmark: all ranks acquire and release one lock, and wait before, each
/// time for a time drawn anew. The critical section is empty, so that what a round takes beyond the wait is
/// the lock's.
///
/// Source: A. Uffmann, master thesis, LMU Munich, 2022, section 4.2.4.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "bench/draws.hpp"
#include "bench/lock_benchmark.hpp"

namespace nearfar::bench {

/// How long the ranks of a WBAB wait.
struct wbab_waits {
  std::chrono::nanoseconds shortest{};  ///< the longest is twice that, all between are as likely
  bool progress = true;                 ///< whether what waits drives the library's progress
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

  /// All waits since the beginning, as they were drawn.
  [[nodiscard]] std::chrono::nanoseconds drawn() const noexcept { return drawn_; }

 private:
  W* world_;
  wbab_waits waits_;
  draws draws_;
  std::chrono::nanoseconds drawn_{};
};

/// Runs one repetition for `duration`, warm-up included. Collective; rank 0 gets the sample, the others one
/// without durations and without what each rank did.
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
  // From each rank's own time and waits. What was drawn differs from the mean of what may be drawn, and the
  // time of the last rank from that of the others, by more than a lock takes where waits are long.
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

/// The statement.
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
        .columns = with_acquisitions(
            {time_per_acquisition, overhead, throughput, progress_variation, waited, handed_over_locally}),
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
  /// Beyond the duration: each rank waits once at least in the warm-up and once after that, and looks at the
  /// clock after that only.
  static constexpr int most_waits = 2;

  [[nodiscard]] static double longest_wait_in_seconds(const point& at) {
    return 2e-9 * static_cast<double>(at.whole("wait_ns"));
  }
  /// Who has done waits for those that still wait, and without progress for the words of these, again and
  /// again until the last has ended.
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
