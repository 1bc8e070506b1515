/// \file
/// The farm benchmark: uneven tasks that create further tasks, distributed over all ranks until none is left.
///
/// Source: nearfar's; the tasks after Olivier et al. 2006 (bench/kinds/farms/task_tree.hpp).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/benchmark.hpp"
#include "bench/kinds/farms/by_counter.hpp"
#include "bench/kinds/farms/by_master.hpp"
#include "bench/kinds/farms/by_queue.hpp"
#include "bench/kinds/farms/task_tree.hpp"
#include "bench/object.hpp"
#include "bench/results/results.hpp"
#include "bench/timed_benchmark.hpp"

namespace nearfar::bench {

/// The benchmark's description.
struct farm {
  static benchmark statement() {
    constexpr double most_trees = 1e5;
    constexpr double most_work = 1e9;
    constexpr double most_begets = 499;
    return {.name = "farm",
            .title = "Task farm",
            .summary = "uneven tasks that create subtasks, shared by all ranks until none is left",
            .source = "tasks after Olivier et al. 2006 (UTS)",
            .kind = &farms(),
            .axes = {{.name = "work",
                      .unit = "us",
                      .meaning = "Mean duration of a task",
                      .standard = 10.0,
                      .most = most_work},
                     {.name = "begets",
                      .meaning = "Tasks of 1000 that create two subtasks each; near 500 some trees are huge",
                      .standard = std::int64_t{490},
                      .most = most_begets},
                     draw_axis("Seed of the task trees"),
                     {.name = "trees",
                      .meaning = "Task trees that each rank starts with",
                      .standard = std::int64_t{20},
                      .least = 1,
                      .most = most_trees,
                      .is_effort = true}},
            .columns = {time_per_task, efficiency}};
  }

  template <world W>
  [[nodiscard]] static std::vector<sample> run(W& w, const object& of, const point& at,
                                               const heartbeat& beat) {
    constexpr double microsecond = 1000;
    const farm_plan plan{
        .tree = task_tree(static_cast<std::uint64_t>(at.whole("draw")),
                          std::chrono::nanoseconds(static_cast<std::int64_t>(at.real("work") * microsecond)),
                          static_cast<std::uint64_t>(at.whole("begets"))),
        .trees_per_rank = static_cast<std::uint64_t>(at.whole("trees")),
        .beat = beat};
    const farm_counts mine = of.name == "queue"     ? farm_by_queue(w, plan)
                             : of.name == "counter" ? farm_by_counter(w, plan)
                                                    : farm_by_master(w, plan);
    const farm_counts expected = expected_of(plan, w.rank(), w.size());

    sample result;
    result.benchmark = "farm";
    result.kind = farms().name;
    result.object = of.name;
    result.iterations_per_rank = w.gather_to_first(mine.tasks);
    for (const std::int64_t span : w.gather_to_first(mine.span.count()))
      result.duration = std::max(result.duration, std::chrono::nanoseconds(span));
    const auto sums = w.sum_over_ranks(
        {mine.tasks, mine.work.count(), expected.tasks, static_cast<std::int64_t>(mine.sum - expected.sum)});
    result.iterations = sums[0];
    const double all = static_cast<double>(result.duration.count()) * w.size();
    result.counts = {
        {"efficiency", or_null(all > 0 ? std::optional(static_cast<double>(sums[1]) / all) : std::nullopt)},
        {"work", sums[1]}};
    // Each task ran exactly once.
    result.verified = sums[0] == sums[2] && sums[3] == 0 && sums[0] > 0;
    return {result};
  }

 private:
  inline static const column time_per_task =
      with_meaning(time_per_acquisition, "median time from one task to the next over all ranks");
  inline static const column efficiency{.name = "efficiency",
                                        .head = "eff. %",
                                        .title = "Efficiency",
                                        .unit = "%",
                                        .meaning = "percentage of all ranks' time spent in tasks",
                                        .of = [](const sample& s) -> std::optional<double> {
                                          constexpr double percent = 100;
                                          const auto share = s.count("efficiency");
                                          return share ? std::optional(*share * percent) : std::nullopt;
                                        }};
};

}  // namespace nearfar::bench
