/// \file
/// DHT, the distributed hash table benchmark: every rank finds entries of a table in the memory of all, and
/// erases or inserts some.
///
/// Source: P. Schmid, M. Besta, T. Hoefler, "High-Performance Distributed RMA Locks", HPDC 2016, doi
/// 10.1145/2907294.2907323, evaluation.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/benchmark.hpp"
#include "bench/ecsb.hpp"
#include "bench/latencies.hpp"
#include "bench/map_catalogue.hpp"
#include "bench/results.hpp"

namespace nearfar::bench {

/// The statement.
struct dht {
  static benchmark statement() {
    constexpr double one_day = 86400;
    constexpr double most_seed = 1e9;
    constexpr double most_keys = 1e5;  // what the worlds have memory for
    return {.name = "dht",
            .title = "Distributed hash table (DHT)",
            .summary = "hash table in the memory of all ranks: finds, and erasures or inserts",
            .source = "Schmid, Besta, Hoefler 2016, evaluation",
            .kind = &maps(),
            .axes = {{.name = "writers",
                      .unit = "%",
                      .meaning = "Share of operations that erase an entry, or insert it anew, in percent",
                      .standard = 2.0,
                      .most = 100},
                     {.name = "keys",
                      .meaning = "Keys for each rank, half of which are in the table",
                      .standard = std::int64_t{1000},
                      .least = 16,
                      .most = most_keys},
                     {.name = "skew",
                      .meaning = "Exponent of the keys' Zipf distribution; 0: all alike",
                      .standard = 0.0,
                      .most = 0.999},
                     {.name = "draw",
                      .meaning = "Seed by which each rank draws its operations and keys",
                      .standard = std::int64_t{1},
                      .most = most_seed},
                     {.name = "duration",
                      .unit = "s",
                      .meaning = "Seconds of one repetition, of which 10 % warm up",
                      .standard = 1.0,
                      .least = 1e-6,
                      .most = one_day,
                      .simulated = 0.002,
                      .is_effort = true}},
            .columns = {time_per_operation, operations, median_read_latency, late_read_latency,
                        median_write_latency, late_write_latency},
            .remarks = {{.name = "refused",
                         .meaning = "inserts found the memory of the key's rank full, and left the key out"}},
            .seconds = [](const point& at) { return at.real("duration"); },
            .objects =
                [](const point& at) {
                  // In the kilobytes that a lock is reckoned with: 8 buckets and an entry of 5 words for each
                  // cell.
                  constexpr std::int64_t keys_of_a_kilobyte = 12;
                  return at.whole("keys") / keys_of_a_kilobyte + 1;
                }};
  }

  template <world W>
  [[nodiscard]] static std::vector<sample> run(W& w, const object& of, const point& at, const heartbeat&) {
    using std::chrono::nanoseconds;
    constexpr double percent = 100;
    const std::chrono::duration<double> duration(at.real("duration"));
    const auto keys = static_cast<std::uint64_t>(at.whole("keys")) * static_cast<std::uint64_t>(w.size());
    // Half of the keys are there: a load of three quarters, but for how they fall on the ranks.
    const map_parameters parameters{.capacity = {.cells = cells_for(at.whole("keys"))}};
    const std::unique_ptr<any_map<W>> map =
        map_catalogue::instance().find(of.name)->factory<W>()(w, 0, parameters);
    const map_counts mine =
        map->run(w, {.warm_up = std::chrono::duration_cast<nanoseconds>(duration * warm_up_share),
                     .total = std::chrono::duration_cast<nanoseconds>(duration),
                     .writer_share = at.real("writers") / percent,
                     .skew = at.real("skew"),
                     .keys = keys,
                     .seed = static_cast<std::uint64_t>(at.whole("draw"))});

    sample result;
    result.benchmark = "dht";
    result.kind = maps().name;
    result.object = of.name;
    result.iterations_per_rank = w.gather_to_first(mine.reads + mine.writes);
    result.iterations = std::accumulate(result.iterations_per_rank.begin(), result.iterations_per_rank.end(),
                                        std::int64_t{0});
    for (const std::int64_t measured : w.gather_to_first(mine.measured.count()))
      result.duration = std::max(result.duration, nanoseconds(measured));
    const auto size = static_cast<std::int64_t>(map->size());
    const auto sums = w.sum_over_ranks({mine.reads, mine.writes, mine.found, mine.in_first_half, mine.refused,
                                        mine.balance, mine.wrong + map->wrong_here()});
    result.counts = {{"reads", sums[0]}, {"writes", sums[1]}, {"found", sums[2]}, {"refused", sums[4]}};
    note_latencies(w, result, mine.read_latency, mine.write_latency);
    result.in_first_half = sums[3];
    // What is there is what was inserted and not erased, and each entry is of its key.
    result.verified = sums[6] == 0 && (w.rank() != 0 || sums[5] == size);
    return {result};
  }

 private:
  [[nodiscard]] static std::size_t cells_for(std::int64_t keys) {
    constexpr double load = 0.75;
    return static_cast<std::size_t>(static_cast<double>(keys) / 2 / load) + 8;
  }

  inline static const column time_per_operation{
      .name = "time",
      .head = "ns",
      .title = "Time",
      .unit = "ns",
      .meaning = "median time from one operation to the next over all ranks",
      .has_interval = true,
      .of = [](const sample& s) { return std::optional(s.ns_per_acquisition()); }};
  inline static const column operations{.name = "throughput",
                                        .head = "Mio/s",
                                        .title = "Throughput",
                                        .unit = "million/s",
                                        .meaning = "million operations a second",
                                        .digits = 3,
                                        .of = [](const sample& s) {
                                          const double time = s.ns_per_acquisition();
                                          return std::optional(time > 0 ? 1000 / time : 0);
                                        }};
};

}  // namespace nearfar::bench
