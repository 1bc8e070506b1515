/// \file
/// Samples, axes and columns shared by the benchmarks that run for a time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>

#include "bench/axis.hpp"
#include "bench/benchmark.hpp"
#include "bench/results/results.hpp"
#include "bench/timed_loop.hpp"
#include "nearfar/core/world.hpp"

namespace nearfar::bench {

/// A sample of ranks that did `iterations` rounds each, of whatever kind. Collective. Rank 0 gets the whole
/// sample; the other ranks' samples lack durations and counts per rank.
template <world W>
[[nodiscard]] sample sample_of_loop(W& w, std::string benchmark, std::string kind, std::string object,
                                    std::int64_t iterations, const loop_counts& mine) {
  sample result;
  result.benchmark = std::move(benchmark);
  result.kind = std::move(kind);
  result.object = std::move(object);
  result.iterations_per_rank = w.gather_to_first(iterations);
  result.iterations =
      std::accumulate(result.iterations_per_rank.begin(), result.iterations_per_rank.end(), std::int64_t{0});
  for (const std::int64_t measured : w.gather_to_first(mine.measured.count()))
    result.duration = std::max(result.duration, std::chrono::nanoseconds(measured));
  result.in_first_half = w.sum_over_ranks({mine.in_first_half})[0];
  return result;
}

/// The axis "duration", with its default in virtual time.
[[nodiscard]] inline axis duration_axis(double simulated) {
  constexpr double one_day = 86400;
  return {.name = "duration",
          .unit = "s",
          .meaning = "Duration of one repetition; its first 10 % are warm-up",
          .standard = 1.0,
          .least = 1e-6,
          .most = one_day,
          .simulated = simulated,
          .is_effort = true};
}

/// The axis "draw".
[[nodiscard]] inline axis draw_axis(std::string meaning) {
  constexpr double most_seed = 1e9;
  return {.name = "draw", .meaning = std::move(meaning), .standard = std::int64_t{1}, .most = most_seed};
}

// The columns of benchmarks whose rounds are operations instead of acquisitions.
[[nodiscard]] inline column with_meaning(column of, std::string meaning) {
  of.meaning = std::move(meaning);
  return of;
}
inline const column time_per_operation =
    with_meaning(time_per_acquisition, "median time from one operation to the next over all ranks");
inline const column operations = with_meaning(throughput, "million operations a second");

}  // namespace nearfar::bench
