/// \file
/// ECSB, the empty critical section benchmark: all ranks acquire and release one lock without pause.
///
/// Source: A. Uffmann, master thesis, LMU Munich, 2022, section 4.2.2.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>

#include "bench/catalogue.hpp"
#include "bench/ecsb_loop.hpp"
#include "bench/results.hpp"

namespace nearfar::bench {

/// Share of a run's time that warms up and is not measured.
inline constexpr double warm_up_share = 0.1;

/// Runs one repetition for `duration`, warm-up included. Collective; every rank gets the sample.
template <world W>
[[nodiscard]] sample run_ecsb(W& w, const lock_entry& entry, const lock_parameters& parameters,
                              std::chrono::duration<double> duration) {
  const auto total = std::chrono::duration_cast<std::chrono::nanoseconds>(duration);
  const auto warm_up = std::chrono::duration_cast<std::chrono::nanoseconds>(duration * warm_up_share);
  constexpr int home = 0;
  exclusion_check<W> check(w, home);
  const std::unique_ptr<any_lock<W>> lock = entry.factory<W>()(w, home, parameters);
  const ecsb_counts mine = lock->run_ecsb(w, check, {warm_up, total});

  sample result;
  result.benchmark = "ecsb";
  result.lock = entry.name;
  result.iterations_per_rank = w.gather_to_all(mine.iterations);
  result.iterations =
      std::accumulate(result.iterations_per_rank.begin(), result.iterations_per_rank.end(), std::int64_t{0});
  const auto durations = w.gather_to_all(mine.measured.count());
  result.duration = std::chrono::nanoseconds(*std::max_element(durations.begin(), durations.end()));
  const auto sums = w.sum_over_ranks({mine.contended, mine.local_handovers, mine.checked, mine.followed_other,
                                      mine.knows_contention ? 0 : 1, mine.in_first_half});
  if (sums[4] == 0) {
    result.contended = sums[0];
    result.local_handovers = sums[1];
  }
  result.followed_other_share = static_cast<double>(sums[3]) / static_cast<double>(sums[2]);
  result.in_first_half = sums[5];
  result.verified = check.holds();
  return result;
}

}  // namespace nearfar::bench
