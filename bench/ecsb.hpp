/// \file
/// ECSB, the empty critical section benchmark: all ranks acquire and release one lock without pause.
///
/// Source: A. Uffmann, master thesis, LMU Munich, 2022, section 4.2.2.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/benchmark.hpp"
#include "bench/catalogue.hpp"
#include "bench/ecsb_loop.hpp"
#include "bench/results.hpp"
#include "bench/statistics.hpp"
#include "bench/timed_benchmark.hpp"

namespace nearfar::bench {

/// Runs one repetition for `duration`, warm-up included. Collective; rank 0 gets the sample, the others one
/// without durations and without what each rank did.
template <world W>
[[nodiscard]] sample run_ecsb(W& w, const lock_entry& entry, const lock_parameters& parameters,
                              std::chrono::duration<double> duration) {
  constexpr int home = 0;
  exclusion_check<W> check(w, home);
  const std::unique_ptr<any_lock<W>> lock = entry.factory<W>()(w, home, parameters);
  const ecsb_counts mine = lock->run_ecsb(w, check, times_of(duration));

  sample result = sample_of_loop(w, "ecsb", locks().name, entry.name, mine.iterations, mine);
  const auto sums = w.sum_over_ranks({mine.contended, mine.local_handovers, mine.checked, mine.followed_other,
                                      mine.knows_contention ? 0 : 1});
  const bool is_known = sums[4] == 0;
  result.counts = {{"contended", or_null(is_known ? std::optional(sums[0]) : std::nullopt)},
                   {"local_handovers", or_null(is_known ? std::optional(sums[1]) : std::nullopt)},
                   {"followed_other_share", static_cast<double>(sums[3]) / static_cast<double>(sums[2])}};
  result.verified = check.holds();
  return result;
}

/// The statement.
struct ecsb {
  static benchmark statement() {
    return {.name = "ecsb",
            .title = "Empty critical section (ECSB)",
            .summary = "empty critical section: every rank acquires and releases one lock without pause",
            .source = "Uffmann 2022, 4.2.2",
            .kind = &locks(),
            .axes = {duration_axis(0.02)},  // in which the slower locks are acquired some ten thousand times
            .columns = {time_per_acquisition, throughput, progress_variation, waited, handed_over_locally,
                        followed_other},
            .seconds = [](const point& at) { return at.real("duration"); }};
  }

  template <world W>
  [[nodiscard]] static std::vector<sample> run(W& w, const object& of, const point& at, const heartbeat&) {
    return {run_ecsb(w, *catalogue::instance().find(of.name), lock_parameters::at(at),
                     std::chrono::duration<double>(at.real("duration")))};
  }

 private:
  inline static const column progress_variation{
      .name = "cv",
      .head = "cv",
      .title = "Variation of progress",
      .unit = "",
      .meaning = "variation of the ranks' progress",
      .digits = 4,
      .of = [](const sample& s) { return std::optional(coefficient_of_variation(s.iterations_per_rank)); }};
  inline static const column waited{.name = "waited",
                                    .head = "wait",
                                    .title = "Contention",
                                    .unit = "%",
                                    .meaning = "% of acquisitions that waited",
                                    .of = [](const sample& s) { return s.percent("contended"); }};
  inline static const column handed_over_locally{
      .name = "local",
      .head = "local",
      .title = "Local hand-overs",
      .unit = "%",
      .meaning = "% that were handed over within the node",
      .of = [](const sample& s) { return s.percent("local_handovers"); }};
  inline static const column followed_other{.name = "other",
                                            .head = "other",
                                            .title = "Followed another rank",
                                            .unit = "%",
                                            .meaning = "% that followed another rank's (warm-up)",
                                            .of = [](const sample& s) -> std::optional<double> {
                                              const auto share = s.count("followed_other_share");
                                              return share ? std::optional(*share * 100) : std::nullopt;
                                            }};
};

}  // namespace nearfar::bench
