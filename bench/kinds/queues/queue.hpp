/// \file
/// The queue benchmark: every rank pushes and pops at random, or some ranks push and the others pop.
///
/// Source: A. Paznikov, A. Burachenko, D. Derzhavin, "A distributed lock-free queue in the remote memory
/// access model" (in Russian), 2023, with the phases that are timed there. There each rank performs 10,000
/// operations (`operations`). By default the ranks run for a time, so that no rank runs alone at the end.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/benchmark.hpp"
#include "bench/kinds/queues/queue_catalogue.hpp"
#include "bench/latencies.hpp"
#include "bench/results/results.hpp"
#include "bench/timed_benchmark.hpp"

namespace nearfar::bench {

/// The benchmark's description.
struct queue_benchmark {
  static benchmark statement() {
    constexpr double most_batch = 1000;
    constexpr double most_capacity = 6e4;  // the worlds have memory for this
    constexpr double most_operations = 1e9;
    return {.name = "queue",
            .title = "Distributed queue",
            .summary = "FIFO queue over the memory of all ranks: pushes and pops",
            .source = "Paznikov, Burachenko, Derzhavin 2023",
            .kind = &queues(),
            .axes = {{.name = "pushes",
                      .unit = "%",
                      .meaning = "Percentage of pushes among the operations of ranks that push and pop",
                      .standard = 50.0,
                      .most = 100},
                     {.name = "producers",
                      .unit = "%",
                      .meaning = "Percentage of ranks that only push while the rest only pop; 0: all do both",
                      .standard = 0.0,
                      .most = 99},
                     {.name = "capacity",
                      .meaning = "Capacity per rank; total capacity of spsc_queue and ticket_queue.at_home",
                      .standard = std::int64_t{1000},
                      .least = 2,
                      .most = most_capacity},
                     {.name = "batch",
                      .meaning = "Largest number of values that an operation moves; each value counts",
                      .standard = std::int64_t{1},
                      .least = 1,
                      .most = most_batch},
                     draw_axis("Seed of the operations that each rank draws"),
                     {.name = "operations",
                      .meaning = "Operations of each rank, in place of a duration; 0: run for the duration",
                      .standard = std::int64_t{0},
                      .most = most_operations,
                      .is_effort = true},
                     duration_axis(0.002)},
            .columns = with_latencies(
                with_latencies(
                    {time_per_operation, operations,
                     phase("push_time", "push", "Push", [](const sample& s) { return s.count("push_time"); }),
                     phase("find_tail_time", "tail", "Search of the tail",
                           [](const sample& s) { return s.count("find_tail_time"); }),
                     phase("pop_time", "pop", "Pop", [](const sample& s) { return s.count("pop_time"); }),
                     phase("find_head_time", "head", "Search of the head",
                           [](const sample& s) { return s.count("find_head_time"); }),
                     phase("announce_time", "tell", "Announcement",
                           [](const sample& s) { return s.count("announce_time"); })},
                    "read", "pops", standing::recorded),
                "write", "pushes", standing::recorded),
            .seconds = [](const point& at) { return at.whole("operations") != 0 ? 0 : at.real("duration"); },
            .objects =
                [](const point& at) {
                  // In the kilobytes that a lock is reckoned with; at most 64 bytes for each element.
                  constexpr std::int64_t elements_of_a_kilobyte = 16;
                  return at.whole("capacity") / elements_of_a_kilobyte + 1;
                }};
  }

  template <world W>
  [[nodiscard]] static std::vector<sample> run(W& w, const object& of, const point& at, const heartbeat&) {
    const std::unique_ptr<any_queue<W>> queue = queue_catalogue::instance().find(of.name)->factory<W>()(
        w, 0, {.capacity = static_cast<std::size_t>(at.whole("capacity"))});
    // A rank that only pushes, or only pops, does nothing else than try again.
    const queue_role role = queue->role_of(w.rank());
    const bool does_both = (at.real("producers") == 0 || w.size() == 1) && role.pushes && role.pops;
    const std::int64_t of_each_rank = at.whole("operations");
    // A rank that only pops must come to its end even if no more values are pushed.
    const bool counts_vain = does_both || of_each_rank != 0;
    const queue_counts mine =
        queue->run(w, {.times = times_of(std::chrono::duration<double>(at.real("duration"))),
                       .operations = of_each_rank,
                       .push_share = push_share(at, w.rank(), w.size()),
                       .batch = static_cast<std::size_t>(at.whole("batch")),
                       .counts_vain = counts_vain,
                       .seed = static_cast<std::uint64_t>(at.whole("draw"))});

    sample result =
        sample_of_loop(w, "queue", queues().name, of.name,
                       mine.pushes + mine.pops + (counts_vain ? mine.empty + mine.full : 0), mine);
    const linked_queue_phases phases = mine.phases.value_or(linked_queue_phases{});
    const auto sums = w.sum_over_ranks({mine.pushes, mine.pops, mine.empty, mine.full, phases.push.count(),
                                        phases.find_tail.count(), phases.pop.count(),
                                        phases.find_head.count(), phases.announce.count()});
    if (of_each_rank != 0) result.in_first_half.reset();  // the half is known only at the end
    result.counts = {{"pushes", sums[0]}, {"pops", sums[1]}, {"empty", sums[2]}, {"full", sums[3]}};
    const auto mean = [&](std::int64_t sum, std::int64_t count) {
      const bool is_known = mine.phases && count != 0;
      return or_null(is_known ? std::optional(static_cast<double>(sum) / static_cast<double>(count))
                              : std::nullopt);
    };
    const std::int64_t pushes = sums[0] + sums[3];
    const std::int64_t pops = sums[1] + sums[2];
    result.counts["push_time"] = mean(sums[4], pushes);
    result.counts["find_tail_time"] = mean(sums[5], pushes);
    result.counts["pop_time"] = mean(sums[6], pops);
    result.counts["find_head_time"] = mean(sums[7], pops);
    result.counts["announce_time"] = mean(sums[8], sums[0] + sums[1]);
    note_latencies(w, result, "read", mine.pop_latency);
    note_latencies(w, result, "write", mine.push_latency);
    // Every value came out once, and the values of each rank came in order.
    result.verified = mine.faults == 0 && result.iterations != 0;
    return {result};
  }

 private:
  [[nodiscard]] static double push_share(const point& at, int rank, int ranks) {
    constexpr double percent = 100;
    const double share = at.real("producers") / percent;
    if (share == 0 || ranks == 1) return at.real("pushes") / percent;
    const long producers = std::clamp(std::lround(share * ranks), 1L, ranks - 1L);
    return rank >= ranks - producers ? 1 : 0;
  }

  [[nodiscard]] static column phase(const char* name, const char* head, const char* title,
                                    std::optional<double> (*of)(const sample&)) {
    return {.name = name,
            .head = head,
            .title = title,
            .unit = "ns",
            .meaning = "mean time of an operation in this phase",
            .of = of};
  }
};

}  // namespace nearfar::bench
