/// \file
/// ECSB, the empty critical section benchmark: all ranks acquire and release one lock without pause.
///
/// Source: A. Uffmann, master thesis, LMU Munich, 2022, section 4.2.2.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "bench/kinds/locks/lock_benchmark.hpp"

namespace nearfar::bench {

/// Runs one repetition for `duration`, warm-up included. Collective. Rank 0 gets the whole sample; the other
/// ranks' samples lack durations and counts per rank.
template <world W>
[[nodiscard]] sample run_ecsb(W& w, const lock_entry& entry, const lock_parameters& parameters,
                              std::chrono::duration<double> duration, std::int64_t latency_interval = 0) {
  constexpr int home = 0;
  exclusion_check<W> check(w, home);
  const std::unique_ptr<any_lock<W>> lock = entry.factory<W>()(w, home, parameters);
  const lock_counts mine =
      lock->run_ecsb(w, check, {.times = times_of(duration), .latency_interval = latency_interval});
  return sample_of_locking(w, "ecsb", entry, check, mine);
}

/// The benchmark's description.
struct ecsb {
  static benchmark statement() {
    return {.name = "ecsb",
            .title = "Empty critical section (ECSB)",
            .summary = "empty critical section: every rank acquires and releases one lock without pause",
            .source = "Uffmann 2022, 4.2.2",
            .kind = &locks(),
            .axes = {duration_axis(0.02),  // some ten thousand acquisitions of the slower locks
                     latency_interval_axis()},
            .columns = with_acquisitions({time_per_acquisition, throughput, progress_variation, waited,
                                          handed_over_locally, followed_other}),
            .figure = {time_per_acquisition.name, throughput.name, progress_variation.name},
            .notes = {"Time is the measured time divided by the acquisitions of all ranks together: it tells "
                      "how often the lock changes hands, not how long one rank waits for its turn.",
                      "Variation of progress is the coefficient of variation of the acquisitions per rank, "
                      "with Bessel's correction: 0 means that all ranks progressed alike. A fast lock with a "
                      "high variation lets one rank acquire in bursts."},
            .chooses = true,
            .seconds = [](const point& at) { return at.real("duration"); }};
  }

  template <world W>
  [[nodiscard]] static std::vector<sample> run(W& w, const object& of, const point& at, const heartbeat&) {
    return {run_ecsb(w, *catalogue::instance().find(of.name), lock_parameters::at(at),
                     std::chrono::duration<double>(at.real("duration")), at.whole("latency_interval"))};
  }
};

}  // namespace nearfar::bench
