/// \file
/// Samples and columns shared by the benchmarks of exclusive locks in which all ranks acquire one lock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/benchmark.hpp"
#include "bench/kinds/locks/exclusion_check.hpp"
#include "bench/kinds/locks/lock_catalogue.hpp"
#include "bench/kinds/locks/lock_loop.hpp"
#include "bench/latencies.hpp"
#include "bench/results/results.hpp"
#include "bench/results/statistics.hpp"
#include "bench/timed_benchmark.hpp"

namespace nearfar::bench {

/// The counts of all ranks as a sample. Collective; rank 0 gets the sample.
template <world W>
[[nodiscard]] sample sample_of_locking(W& w, const std::string& benchmark, const lock_entry& entry,
                                       exclusion_check<W>& check, const lock_counts& mine) {
  sample result = sample_of_loop(w, benchmark, locks().name, entry.name, mine.iterations, mine);
  const auto sums = w.sum_over_ranks({mine.contended, mine.local_handovers, mine.checked, mine.followed_other,
                                      mine.knows_contention ? 0 : 1, mine.above, mine.waited_above,
                                      mine.waited_within, mine.knows_levels ? 0 : 1});
  const bool is_known = sums[4] == 0;
  result.counts = {{"contended", or_null(is_known ? std::optional(sums[0]) : std::nullopt)},
                   {"local_handovers", or_null(is_known ? std::optional(sums[1]) : std::nullopt)},
                   {"followed_other_share", static_cast<double>(sums[3]) / static_cast<double>(sums[2])}};
  if (sums[8] == 0) {
    result.counts["above"] = sums[5];
    result.counts["waited_above"] = sums[6];
    result.counts["waited_within"] = sums[7];
  }
  note_latencies(w, result, "acquire", mine.latency);
  result.verified = check.holds();
  return result;
}

/// Adds columns of acquisition latencies, because the time per acquisition over all ranks says nothing about
/// one rank's wait.
[[nodiscard]] inline std::vector<column> with_acquisitions(std::vector<column> columns) {
  return with_latencies(std::move(columns), "acquire", "acquisitions", standing::shown);
}

inline const column progress_variation{
    .name = "cv",
    .head = "cv",
    .title = "Variation of progress",
    .unit = "",
    .meaning = "variation of the ranks' progress",
    .digits = 4,
    .of = [](const sample& s) { return std::optional(coefficient_of_variation(s.iterations_per_rank)); }};
inline const column waited{.name = "waited",
                           .head = "wait",
                           .title = "Contention",
                           .unit = "%",
                           .meaning = "% of acquisitions that waited",
                           .of = [](const sample& s) { return s.percent("contended"); }};
inline const column handed_over_locally{.name = "local",
                                        .head = "local",
                                        .title = "Local hand-overs",
                                        .unit = "%",
                                        .meaning = "% that were handed over within the node",
                                        .of = [](const sample& s) { return s.percent("local_handovers"); }};
inline const column contention_above{.name = "waited_above",
                                     .head = "above",
                                     .title = "Contention between nodes",
                                     .unit = "%",
                                     .meaning = "% of acquisitions of the lock above the nodes that waited",
                                     .how = standing::shown,
                                     .of = [](const sample& s) -> std::optional<double> {
                                       const auto all = s.count("above");
                                       const auto some = s.count("waited_above");
                                       const bool is_known = all && some && *all > 0;
                                       return is_known ? std::optional(*some / *all * 100) : std::nullopt;
                                     }};
inline const column contention_within{.name = "waited_within",
                                      .head = "within",
                                      .title = "Contention within nodes",
                                      .unit = "%",
                                      .meaning = "% that waited for the lock within the node",
                                      .how = standing::shown,
                                      .of = [](const sample& s) { return s.percent("waited_within"); }};
inline const column followed_other{.name = "other",
                                   .head = "other",
                                   .title = "Followed another rank",
                                   .unit = "%",
                                   .meaning = "% that followed another rank's (warm-up)",
                                   .of = [](const sample& s) -> std::optional<double> {
                                     const auto share = s.count("followed_other_share");
                                     return share ? std::optional(*share * 100) : std::nullopt;
                                   }};

}  // namespace nearfar::bench
