/// \file
/// Latencies as benchmarks record and show them: mean, shortest, longest and quantiles.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/axis.hpp"
#include "bench/benchmark.hpp"
#include "bench/results/latency_histogram.hpp"
#include "bench/results/results.hpp"

namespace nearfar::bench {

/// Number of operations from one measured latency to the next, where the clock would cost too much to measure
/// each. Prime, so that it does not coincide with a lock's rounds.
inline constexpr std::int64_t standard_latency_interval = 251;

/// The axis "latency_interval". In virtual time the clock costs nothing, so there the default is different.
[[nodiscard]] inline axis latency_interval_axis() {
  constexpr double much = 1e9;
  return {.name = "latency_interval",
          .meaning = "Measure the latency of every N-th acquisition of each rank; 0 disables it",
          .standard = standard_latency_interval,
          .most = much,
          .simulated = std::int64_t{1},
          .is_effort = true};
}

/// The recorded quantiles, with the endings of their fields' names.
inline constexpr std::array<std::pair<const char*, double>, 4> latency_quantiles{
    {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p999", 0.999}}};

/// Adds up the latencies of all ranks and adds them to the sample's counts: "WHAT_timed", the number of
/// measured operations, and in ns "WHAT_mean", "WHAT_min", "WHAT_p50" and so on, "WHAT_max", which are null
/// if nothing was measured. Collective; rank 0's counts are valid.
template <world W>
void note_latencies(W& w, sample& of, const std::string& what, const latency_histogram& mine) {
  const std::vector<std::int64_t> all = w.sum_over_ranks(mine.counts());
  const std::int64_t sum = w.sum_over_ranks({mine.sum().count()})[0];
  const std::vector<std::int64_t> shortest = w.gather_to_first(mine.shortest().count());
  const std::vector<std::int64_t> longest = w.gather_to_first(mine.longest().count());
  const std::int64_t count = latency_histogram::count(all);
  const bool is_known = count != 0 && !shortest.empty();
  of.counts[what + "_timed"] = count;
  const auto note = [&](const char* name, double value) {
    of.counts[what + "_" + name] = or_null(is_known ? std::optional(value) : std::nullopt);
  };
  const double least = is_known ? static_cast<double>(*std::ranges::min_element(shortest)) : 0;
  const double most = is_known ? static_cast<double>(*std::ranges::max_element(longest)) : 0;
  note("mean", is_known ? static_cast<double>(sum) / static_cast<double>(count) : 0);
  note("min", least);
  // The middle of a class may lie beyond all values in it.
  for (const auto& [name, share] : latency_quantiles)
    note(name, std::clamp(latency_histogram::quantile(all, share), least, std::max(least, most)));
  note("max", most);
}

/// The column of a value that `note_latencies` stores as "WHAT_PART", such as "p99".
[[nodiscard]] inline column latency_column(const std::string& what, const std::string& part, std::string head,
                                           std::string title, std::string meaning,
                                           standing how = standing::judged) {
  return {.name = what + "_" + part,
          .head = std::move(head),
          .title = std::move(title),
          .unit = "ns",
          .meaning = std::move(meaning),
          .how = how,
          .of = [name = what + "_" + part](const sample& s) { return s.count(name); }};
}

/// Adds the missing latency columns of `what`, whose operations are called `operations`. Only the quantiles
/// are shown.
[[nodiscard]] inline std::vector<column> with_latencies(std::vector<column> columns, const std::string& what,
                                                        const std::string& operations,
                                                        standing of_quantiles) {
  const auto add = [&](const std::string& part, const std::string& title, const std::string& meaning,
                       standing how) {
    const bool is_there =
        std::ranges::any_of(columns, [&](const column& each) { return each.name == what + "_" + part; });
    if (!is_there)
      columns.push_back(latency_column(what, part, how == standing::recorded ? what + " " + part : part,
                                       title + " of " + operations, meaning + " of " + operations, how));
  };
  add("p50", "Median latency", "median latency", of_quantiles);
  add("p90", "90th percentile of the latency", "90th percentile of the latency", standing::recorded);
  add("p99", "99th percentile of the latency", "99th percentile", of_quantiles);
  add("p999", "99.9th percentile of the latency", "99.9th percentile", of_quantiles);
  add("mean", "Mean latency", "mean latency", standing::recorded);
  add("min", "Shortest latency", "shortest latency", standing::recorded);
  add("max", "Longest latency", "longest latency", standing::recorded);
  return columns;
}

inline const column median_read_latency =
    latency_column("read", "p50", "r p50", "Median latency of readers", "median latency of readers");
inline const column late_read_latency = latency_column(
    "read", "p99", "r p99", "99th percentile of readers' latency", "99th percentile of readers' latency");
inline const column median_write_latency =
    latency_column("write", "p50", "w p50", "Median latency of writers", "median latency of writers");
inline const column late_write_latency = latency_column(
    "write", "p99", "w p99", "99th percentile of writers' latency", "99th percentile of writers' latency");

}  // namespace nearfar::bench
