/// \file
/// DHT, the distributed hash table benchmark: every rank finds entries of a table in the memory of all ranks,
/// and erases or inserts some.
///
/// Source: P. Schmid, M. Besta, T. Hoefler, "High-Performance Distributed RMA Locks", HPDC 2016, doi
/// 10.1145/2907294.2907323, evaluation.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/benchmark.hpp"
#include "bench/kinds/maps/map_catalogue.hpp"
#include "bench/latencies.hpp"
#include "bench/results/results.hpp"
#include "bench/timed_benchmark.hpp"

namespace nearfar::bench {

/// The benchmark's description.
struct dht {
  static benchmark statement() {
    constexpr double most_keys = 1e5;  // for which the worlds have memory
    return {.name = "dht",
            .title = "Distributed hash table (DHT)",
            .summary = "hash table over the memory of all ranks: finds, inserts and erasures",
            .source = "Schmid, Besta, Hoefler 2016, evaluation",
            .kind = &maps(),
            .axes = {{.name = "writers",
                      .unit = "%",
                      .meaning = "Percentage of operations that erase an entry or insert it again",
                      .standard = 2.0,
                      .most = 100},
                     {.name = "keys",
                      .meaning = "Keys per rank; half of them are in the table",
                      .standard = std::int64_t{1000},
                      .least = 16,
                      .most = most_keys},
                     {.name = "skew",
                      .meaning = "Exponent of the keys' Zipf distribution; 0 makes all keys equally likely",
                      .standard = 0.0,
                      .most = 0.999},
                     draw_axis("Seed of the operations and keys that each rank draws"),
                     duration_axis(0.002)},
            .columns =
                with_latencies(with_latencies({time_per_operation, operations, median_read_latency,
                                               late_read_latency, median_write_latency, late_write_latency},
                                              "read", "finds", standing::recorded),
                               "write", "changes", standing::recorded),
            .remarks = {{.name = "refused",
                         .meaning = "inserts found no room on the key's rank and left the key out"}},
            .seconds = [](const point& at) { return at.real("duration"); },
            .objects =
                [](const point& at) {
                  // In units of one lock's memory, a kilobyte: 8 buckets and an entry of 5 words for each
                  // cell.
                  constexpr std::int64_t keys_of_a_kilobyte = 12;
                  return at.whole("keys") / keys_of_a_kilobyte + 1;
                }};
  }

  template <world W>
  [[nodiscard]] static std::vector<sample> run(W& w, const object& of, const point& at, const heartbeat&) {
    constexpr double percent = 100;
    const auto keys = static_cast<std::uint64_t>(at.whole("keys")) * static_cast<std::uint64_t>(w.size());
    // Half of the keys are present: a load of three quarters on average, which varies between ranks.
    const map_parameters parameters{.capacity = {.cells = cells_for(at.whole("keys"))}};
    const std::unique_ptr<any_map<W>> map =
        map_catalogue::instance().find(of.name)->factory<W>()(w, 0, parameters);
    const map_counts mine =
        map->run(w, {.times = times_of(std::chrono::duration<double>(at.real("duration"))),
                     .writer_share = at.real("writers") / percent,
                     .skew = at.real("skew"),
                     .keys = keys,
                     .seed = static_cast<std::uint64_t>(at.whole("draw"))});

    sample result = sample_of_loop(w, "dht", maps().name, of.name, mine.reads + mine.writes, mine);
    const auto size = static_cast<std::int64_t>(map->size());
    const auto sums = w.sum_over_ranks(
        {mine.reads, mine.writes, mine.found, mine.refused, mine.balance, mine.wrong + map->wrong_here()});
    result.counts = {{"reads", sums[0]}, {"writes", sums[1]}, {"found", sums[2]}, {"refused", sums[3]}};
    note_latencies(w, result, "read", mine.read_latency);
    note_latencies(w, result, "write", mine.write_latency);
    // The table holds what was inserted and not erased, and each entry belongs to its key.
    result.verified = sums[5] == 0 && (w.rank() != 0 || sums[4] == size);
    return {result};
  }

 private:
  [[nodiscard]] static std::size_t cells_for(std::int64_t keys) {
    constexpr double load = 0.75;
    return static_cast<std::size_t>(static_cast<double>(keys) / 2 / load) + 8;
  }
};

}  // namespace nearfar::bench
