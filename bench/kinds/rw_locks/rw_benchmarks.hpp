/// \file
/// The benchmarks of reader-writer locks: LB, ECSB, SOB, WCSB and WARB. Each is one loop in which every rank
/// draws for each acquisition whether it reads or writes.
///
/// Source: P. Schmid, M. Besta, T. Hoefler, "High-Performance Distributed RMA Locks", HPDC 2016, doi
/// 10.1145/2907294.2907323, evaluation.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/benchmark.hpp"
#include "bench/kinds/rw_locks/rw_catalogue.hpp"
#include "bench/kinds/rw_locks/rw_loop.hpp"
#include "bench/latencies.hpp"
#include "bench/results/results.hpp"
#include "bench/results/statistics.hpp"
#include "bench/timed_benchmark.hpp"

namespace nearfar::bench {

/// Runs one repetition for `duration`, warm-up included. Collective. Rank 0 gets the whole sample; the other
/// ranks' samples lack durations, quantiles and counts per rank.
template <world W>
[[nodiscard]] sample run_rw(W& w, const std::string& benchmark, const rw_lock_entry& of,
                            const rw_lock_parameters& parameters, std::chrono::duration<double> duration,
                            double writer_share, rw_work work, std::uint64_t seed) {
  constexpr int home = 0;
  rw_check<W> check(w, home);
  const std::unique_ptr<any_rw_lock<W>> lock = of.factory<W>()(w, home, parameters);
  const rw_counts mine = lock->run(
      w, check, {.times = times_of(duration), .writer_share = writer_share, .work = work, .seed = seed});

  sample result = sample_of_loop(w, benchmark, rw_locks().name, of.name, mine.reads + mine.writes, mine);
  const auto sums = w.sum_over_ranks({mine.reads, mine.writes, check.checked()});
  result.counts = {{"reads", sums[0]},
                   {"writes", sums[1]},
                   {"writes_per_rank", w.gather_to_first(mine.writes)},
                   {"checked", sums[2]}};
  if (const std::optional<std::int64_t> limit = lock->max_readers()) {
    result.counts["max_readers_in_effect"] = *limit;
    result.counts["raised"] = *limit > parameters.turns.max_readers ? 1 : 0;
  }
  note_latencies(w, result, "read", mine.read_latency);
  note_latencies(w, result, "write", mine.write_latency);
  const std::int64_t faults = check.faults();
  result.verified = faults == 0 && sums[2] > 0;
  return result;
}

/// How evenly the writers among the ranks got the lock.
inline const column write_variation{
    .name = "write_cv",
    .head = "w cv",
    .title = "Variation of the ranks' writes",
    .unit = "",
    .meaning = "variation of the writes per rank",
    .digits = 4,
    .how = standing::shown,
    .of = [](const sample& s) -> std::optional<double> {
      const auto found = s.counts.find("writes_per_rank");
      if (found == s.counts.end() || s.count("writes").value_or(0) == 0) return std::nullopt;
      return coefficient_of_variation(found->get<std::vector<std::int64_t>>());
    }};

/// The common part of the five benchmarks.
template <typename Of>
struct rw_benchmark {
  static benchmark statement() {
    std::vector<column> columns{time_per_acquisition, throughput,           median_read_latency,
                                late_read_latency,    median_write_latency, late_write_latency};
    if (Of::is_of_latency) {
      std::rotate(columns.begin(), columns.begin() + 2, columns.end());
      columns.front().has_interval = true;  // locks are compared by this column here
    }
    for (const auto& [what, who] : {std::pair("read", "readers"), {"write", "writers"}})
      columns = with_latencies(std::move(columns), what, who, standing::recorded);
    columns.push_back(write_variation);
    return {
        .name = Of::name,
        .title = Of::title,
        .summary = Of::summary,
        .source = "Schmid, Besta, Hoefler 2016, evaluation",
        .kind = &rw_locks(),
        .axes = {{.name = "writers",
                  .unit = "%",
                  .meaning = "Percentage of acquisitions by writers",
                  .standard = 2.0,
                  .most = 100},
                 draw_axis("Seed of each rank's draws between reading and writing"),
                 duration_axis(0.005)},
        .columns = std::move(columns),
        .notes = {"Variation of the ranks' writes is the coefficient of variation of the acquisitions as a "
                  "writer per rank, with Bessel's correction: 0 means that all ranks wrote alike. Ranks draw "
                  "whether they read or write, so a fair lock, too, has about 1 divided by the root of the "
                  "writes per rank."},
        .remarks = {{.name = "raised",
                     .meaning = "repetitions had more ranks at a counter than --max-readers: the lock "
                                "took the number of those ranks"}},
        .seconds = [](const point& at) { return at.real("duration"); }};
  }

  template <world W>
  [[nodiscard]] static std::vector<sample> run(W& w, const object& of, const point& at, const heartbeat&) {
    constexpr double percent = 100;
    return {run_rw(w, Of::name, *rw_catalogue::instance().find(of.name), rw_lock_parameters::at(at),
                   std::chrono::duration<double>(at.real("duration")), at.real("writers") / percent, Of::work,
                   static_cast<std::uint64_t>(at.whole("draw")))};
  }
};

struct rw_lb : rw_benchmark<rw_lb> {
  static constexpr const char* name = "rw_lb";
  static constexpr const char* title = "Latency of readers and writers (LB)";
  static constexpr const char* summary =
      "latency of readers and writers that acquire and release without pause";
  static constexpr rw_work work = rw_work::none;
  static constexpr bool is_of_latency = true;
};
struct rw_ecsb : rw_benchmark<rw_ecsb> {
  static constexpr const char* name = "rw_ecsb";
  static constexpr const char* title = "Empty critical section of readers and writers (ECSB)";
  static constexpr const char* summary = "empty critical section of readers and writers, without pause";
  static constexpr rw_work work = rw_work::none;
  static constexpr bool is_of_latency = false;
};
struct rw_sob : rw_benchmark<rw_sob> {
  static constexpr const char* name = "rw_sob";
  static constexpr const char* title = "Single operation of readers and writers (SOB)";
  static constexpr const char* summary =
      "critical section with one access to a word at home: readers get, writers put";
  static constexpr rw_work work = rw_work::one_access;
  static constexpr bool is_of_latency = false;
};
struct rw_wcsb : rw_benchmark<rw_wcsb> {
  static constexpr const char* name = "rw_wcsb";
  static constexpr const char* title = "Work inside of readers and writers (WCSB)";
  static constexpr const char* summary =
      "critical sections of readers and writers with random work of 1 to 4 us";
  static constexpr rw_work work = rw_work::work_inside;
  static constexpr bool is_of_latency = false;
};
struct rw_warb : rw_benchmark<rw_warb> {
  static constexpr const char* name = "rw_warb";
  static constexpr const char* title = "Wait after release of readers and writers (WARB)";
  static constexpr const char* summary =
      "random wait of 1 to 4 us after each release, by readers and writers";
  static constexpr rw_work work = rw_work::wait_after;
  static constexpr bool is_of_latency = false;
};

}  // namespace nearfar::bench
