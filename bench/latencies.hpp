/// \file
/// Latencies of readers and writers apart, as benchmarks record and show them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/benchmark.hpp"
#include "bench/latency_histogram.hpp"
#include "bench/results.hpp"

namespace nearfar::bench {

/// Adds up what all ranks counted and adds its quantiles to the sample's counts: "read_p50" and so on, null
/// where there was nothing to count. Collective; rank 0's count.
template <world W>
void note_latencies(W& w, sample& of, const latency_histogram& reads, const latency_histogram& writes) {
  for (const auto& [who, mine] : {std::pair("read_", &reads), {"write_", &writes}}) {
    const std::vector<std::int64_t> all = w.sum_over_ranks(mine->counts());
    for (const auto& [name, share] : {std::pair("p50", 0.5), {"p99", 0.99}, {"p999", 0.999}}) {
      const double found = latency_histogram::quantile(all, share);
      const bool is_known = latency_histogram::count(all) != 0;
      of.counts[std::string(who) + name] = or_null(is_known ? std::optional(found) : std::nullopt);
    }
  }
}

inline const column median_read_latency{.name = "read_p50",
                                        .head = "r p50",
                                        .title = "Median latency of readers",
                                        .unit = "ns",
                                        .meaning = "median of a reader's operation, in ns",
                                        .of = [](const sample& s) { return s.count("read_p50"); }};
inline const column late_read_latency{.name = "read_p99",
                                      .head = "r p99",
                                      .title = "99th percentile of readers' latency",
                                      .unit = "ns",
                                      .meaning = "99 % of readers' operations are shorter",
                                      .of = [](const sample& s) { return s.count("read_p99"); }};
inline const column median_write_latency{.name = "write_p50",
                                         .head = "w p50",
                                         .title = "Median latency of writers",
                                         .unit = "ns",
                                         .meaning = "median of a writer's operation, in ns",
                                         .of = [](const sample& s) { return s.count("write_p50"); }};
inline const column late_write_latency{.name = "write_p99",
                                       .head = "w p99",
                                       .title = "99th percentile of writers' latency",
                                       .unit = "ns",
                                       .meaning = "99 % of writers' operations are shorter",
                                       .of = [](const sample& s) { return s.count("write_p99"); }};

}  // namespace nearfar::bench
