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

  void before() {
    if (waits_.shortest.count() == 0) return;
    const auto choices = static_cast<std::uint64_t>(waits_.shortest.count()) + 1;
    const auto span = waits_.shortest + std::chrono::nanoseconds(draws_.next() % choices);
    if (waits_.progress)
      world_->delay(span);
    else
      world_->compute(span);
  }
  void inside() const noexcept {}
  void after() const noexcept {}

 private:
  W* world_;
  wbab_waits waits_;
  draws draws_;
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
  const lock_counts mine =
      lock_loop(w, *lock, check, {.times = times_of(duration), .latency_interval = latency_interval},
                waiting_before<W>(w, waits));
  sample result = sample_of_locking(w, "wbab", entry, check, mine);
  constexpr double mean_of_shortest = 1.5;
  result.counts["wait_ns"] = waits.shortest.count();
  result.counts["progress"] = waits.progress;
  result.counts["optimum_ns"] = mean_of_shortest * static_cast<double>(waits.shortest.count()) / w.size();
  return result;
}

/// The statement.
struct wbab {
  static benchmark statement() {
    constexpr double one_minute = 6e10;
    return {
        .name = "wbab",
        .title = "Wait before acquire (WBAB)",
        .summary = "wait before acquire: every rank waits for 1 to 2 times so long, then acquires one lock",
        .source = "Uffmann 2022, 4.2.4",
        .kind = &locks(),
        .axes = {{.name = "wait_ns",
                  .unit = "ns",
                  .meaning = "Shortest wait before an acquisition; the longest is twice that",
                  .standard = std::int64_t{0},
                  .most = one_minute},
                 {.name = "progress",
                  .meaning = "Whether a rank drives the library's progress while it waits",
                  .standard = true},
                 draw_axis("Seed by which each rank draws its waits"),
                 duration_axis(0.02),
                 latency_interval_axis()},
        .columns = with_acquisitions(
            {time_per_acquisition, overhead, throughput, progress_variation, waited, handed_over_locally}),
        .seconds = [](const point& at) { return at.real("duration"); }};
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
  inline static const column overhead{
      .name = "overhead",
      .head = "over",
      .title = "Overhead",
      .unit = "ns",
      .meaning = "time beyond what the waits alone would take, shared by all ranks",
      .of = [](const sample& s) -> std::optional<double> {
        const auto optimum = s.count("optimum_ns");
        return optimum ? std::optional(s.ns_per_acquisition() - *optimum) : std::nullopt;
      }};
};

}  // namespace nearfar::bench
