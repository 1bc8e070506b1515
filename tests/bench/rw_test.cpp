// The benchmarks of reader-writer locks, maps, queues and farms: they notice errors, and count events.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/benchmark.hpp"
#include "bench/draws.hpp"
#include "bench/kinds/farms/task_tree.hpp"
#include "bench/kinds/maps/any_map.hpp"
#include "bench/kinds/queues/any_queue.hpp"
#include "bench/kinds/rw_locks/rw_benchmarks.hpp"
#include "bench/kinds/rw_locks/rw_catalogue.hpp"
#include "bench/latencies.hpp"
#include "bench/results/latency_histogram.hpp"
#include "nearfar/memory/threads/world.hpp"
#include "nearfar/topology/spec.hpp"

namespace nearfar::bench {
namespace {

using std::chrono::nanoseconds;

TEST(rw_lock_parameters, give_numa_domains_the_limit_of_nodes_unless_they_have_their_own) {
  point at;
  at.set("max_local_passes", std::int64_t{7});
  EXPECT_EQ(rw_lock_parameters::at(at).max_numa_passes, rw_lock_parameters::as_nodes);
  at.set("max_numa_passes", std::int64_t{3});
  EXPECT_EQ(rw_lock_parameters::at(at).max_numa_passes, 3);
  EXPECT_EQ(rw_lock_parameters::at(at).max_local_passes, 7);
  for (const object& each : rw_locks().objects) {
    EXPECT_EQ(each.takes("max_numa_passes"), each.name == "rma_rw.numa") << each.name;
    EXPECT_EQ(each.takes("max_island_passes"), each.name == "rma_rw.island") << each.name;
  }
}

TEST(latency_histogram, has_quantiles_within_three_percent) {
  latency_histogram of;
  for (int i = 1; i <= 100'000; ++i) of.add(nanoseconds(i));
  EXPECT_EQ(latency_histogram::count(of.counts()), 100'000);
  for (const double share : {0.01, 0.5, 0.99, 1.0}) {
    const double exact = 100'000 * share;
    EXPECT_NEAR(latency_histogram::quantile(of.counts(), share), exact, 0.035 * exact) << share;
  }
}

TEST(latency_histogram, quantiles_are_the_nearest_of_few) {
  latency_histogram of;
  for (const int span : {3, 1, 2}) of.add(nanoseconds(span));
  EXPECT_EQ(latency_histogram::quantile(of.counts(), 0.5), 2);
  EXPECT_EQ(latency_histogram::quantile(of.counts(), 0.99), 3);
  latency_histogram hundred;
  for (int i = 0; i < 100; ++i) hundred.add(nanoseconds(i < 93 ? 1 : 2));
  EXPECT_EQ(latency_histogram::quantile(hundred.counts(), 0.93), 1) << "0.93 is a little more than it says";
  EXPECT_EQ(latency_histogram::quantile(hundred.counts(), 0.94), 2);
}

TEST(latency_histogram, knows_exactly_the_ends_and_the_sum) {
  latency_histogram of;
  for (const int span : {70'001, 1'003, 500'009}) of.add(nanoseconds(span));
  EXPECT_EQ(of.shortest(), nanoseconds(1'003));
  EXPECT_EQ(of.longest(), nanoseconds(500'009));
  EXPECT_EQ(of.sum(), nanoseconds(571'013));
}

TEST(latency_turns, are_the_first_and_one_of_each_interval) {
  const auto turns_of = [](std::int64_t interval) {
    latency_turns turns(interval);
    std::string found;
    for (int i = 0; i < 7; ++i) found += turns.is_next() ? 'x' : '.';
    return found;
  };
  EXPECT_EQ(turns_of(0), ".......");
  EXPECT_EQ(turns_of(1), "xxxxxxx");
  EXPECT_EQ(turns_of(3), "x..x..x");
}

TEST(latency_histogram, takes_any_span) {
  latency_histogram of;
  EXPECT_EQ(latency_histogram::quantile(of.counts(), 0.5), 0);
  of.add(nanoseconds(-5));
  of.add(nanoseconds(0));
  EXPECT_EQ(latency_histogram::quantile(of.counts(), 1), 0);
  of.add(nanoseconds::max());
  EXPECT_GT(latency_histogram::quantile(of.counts(), 1), 3.6e12) << "an hour and more";
}

TEST(draws, are_the_same_for_a_seed_and_differ_between_ranks) {
  draws one(1, 0);
  draws same(1, 0);
  draws other_rank(1, 1);
  draws other_seed(2, 0);
  const auto first = one.next();
  EXPECT_EQ(first, same.next());
  EXPECT_NE(first, other_rank.next());
  EXPECT_NE(first, other_seed.next());
}

TEST(zipf_draws, are_in_proportion) {
  constexpr std::uint64_t keys = 100;
  constexpr int times = 200'000;
  for (const double skew : {0.0, 0.5, 0.99}) {
    const zipf_draws drawn(keys, skew);
    draws random(1, 0);
    std::vector<double> counts(keys);
    for (int i = 0; i < times; ++i) ++counts.at(drawn(random));
    double sum = 0;
    for (std::uint64_t k = 1; k <= keys; ++k) sum += 1 / std::pow(static_cast<double>(k), skew);
    // The method is exact for the first two and close for the others.
    for (const std::size_t k : {std::size_t{0}, std::size_t{1}, std::size_t{50}}) {
      const double expected = times / std::pow(static_cast<double>(k + 1), skew) / sum;
      EXPECT_NEAR(counts[k], expected, 0.25 * expected) << skew << ": " << k;
    }
  }
}

sample run_on_threads(const rw_lock_entry& entry, double writer_share) {
  sample result;
  threads::options chosen;
  chosen.topology = topology_spec::parse(entry.one_node_only ? "node:1" : "node:2");
  threads::run(
      4,
      [&](threads::world& w) {
        sample mine = run_rw(w, "rw_ecsb", entry, {}, std::chrono::duration<double>(0.05), writer_share,
                             rw_work::none, 1);
        if (w.rank() == 0) result = mine;
      },
      chosen);
  return result;
}

TEST(rw_benchmarks, count_what_was_drawn_and_verify_it) {
  for (const rw_lock_entry& entry : rw_catalogue::instance().entries()) {
    if (!entry.exists_in<threads::world>()) continue;
    for (const double share : {0.0, 0.25, 1.0}) {
      const sample result = run_on_threads(entry, share);
      EXPECT_TRUE(result.verified) << entry.name;
      EXPECT_EQ(*result.count("reads") + *result.count("writes"), static_cast<double>(result.iterations));
      EXPECT_EQ(result.count("read_p50").has_value(), *result.count("reads") > 0);
      EXPECT_EQ(result.count("write_p99").has_value(), *result.count("writes") > 0);
      EXPECT_EQ(*result.count("writes") > 0, share > 0);
      const auto writes = result.counts["writes_per_rank"].get<std::vector<std::int64_t>>();
      EXPECT_EQ(writes.size(), 4U) << entry.name;
      EXPECT_EQ(std::reduce(writes.begin(), writes.end()), result.counts["writes"]) << entry.name;
      EXPECT_EQ(write_variation.value_of(result).has_value(), share > 0) << entry.name;
      EXPECT_EQ(*result.count("reads") > 0, share < 1);
    }
  }
}

TEST(rw_benchmarks, tell_how_evenly_ranks_write) {
  sample of;
  of.counts = {{"writes", 12}, {"writes_per_rank", {4, 4, 4}}};
  of.iterations_per_rank = {1, 2, 30};
  EXPECT_EQ(write_variation.value_of(of), 0.0) << "reads do not count";
  of.counts["writes_per_rank"] = {0, 4, 8};
  EXPECT_EQ(write_variation.value_of(of), 1.0);
}

TEST(rw_benchmarks, say_where_the_limit_of_readers_is_raised) {
  const auto raised_with = [](const char* lock, int max_readers) {
    sample result;
    threads::run(4, [&](threads::world& w) {
      const sample mine =
          run_rw(w, "rw_ecsb", *rw_catalogue::instance().find(lock), {.turns = {.max_readers = max_readers}},
                 std::chrono::duration<double>(0.01), 0.25, rw_work::none, 1);
      if (w.rank() == 0) result = mine;
    });
    return std::pair(result.count("raised"), result.count("max_readers_in_effect"));
  };
  EXPECT_EQ(raised_with("rma_rw", 3), std::pair(std::optional(1.0), std::optional(4.0)));
  EXPECT_EQ(raised_with("rma_rw", 5), std::pair(std::optional(0.0), std::optional(5.0)));
  EXPECT_FALSE(raised_with("cohort_rw", 3).first.has_value());
}

TEST(dht, runs_and_verifies_every_map) {
  const benchmark& of = *find_benchmark("dht");
  for (const object& map : maps().objects)
    for (const double skew : {0.0, 0.9}) {
      point at;
      at.set("writers", 20.0);
      at.set("keys", std::int64_t{64});
      at.set("skew", skew);
      at.set("draw", std::int64_t{1});
      at.set("duration", 0.05);
      sample result;
      threads::run(3, [&](threads::world& w) {
        const sample mine = of.runner_in<threads::world>()(w, map, at, [] {}).front();
        if (w.rank() == 0) result = mine;
      });
      EXPECT_TRUE(result.verified) << map.name;
      EXPECT_GT(*result.count("found"), 0) << map.name;
      EXPECT_TRUE(result.count("refused").has_value()) << "so small a table is full now and then";
    }
}

TEST(queue_benchmark, runs_and_verifies_every_queue) {
  const benchmark& of = *find_benchmark("queue");
  for (const object& queue : queues().objects) {
    if (!queue.exists_in(world_kind::threads)) continue;
    for (const auto& [producers, batch, operations] :
         {std::tuple(0.0, std::int64_t{1}, std::int64_t{0}), {50.0, 1, 0}, {0.0, 3, 0}, {0.0, 1, 200}}) {
      point at;
      at.set("pushes", 50.0);
      at.set("producers", producers);
      at.set("capacity", std::int64_t{8});
      at.set("batch", batch);
      at.set("draw", std::int64_t{1});
      at.set("operations", operations);
      at.set("duration", 0.05);
      sample result;
      threads::run(4, [&](threads::world& w) {
        const sample mine = of.runner_in<threads::world>()(w, queue, at, [] {}).front();
        if (w.rank() == 0) result = mine;
      });
      EXPECT_TRUE(result.verified) << queue.name;
      EXPECT_GT(*result.count("pushes"), 0) << queue.name;
      EXPECT_GT(*result.count("pops"), 0) << queue.name;
      if (operations != 0) {
        // Ranks other than the producer and the consumer of a queue for these two are idle.
        for (const std::int64_t mine : result.iterations_per_rank)
          EXPECT_TRUE(mine == operations || mine == 0) << queue.name << ": " << mine;
        EXPECT_FALSE(result.in_first_half.has_value());
      }
      EXPECT_EQ(result.count("find_head_time").has_value(), queue.name.starts_with("lock")) << queue.name;
    }
  }
}

TEST(farm, has_every_task_done_once) {
  const benchmark& of = *find_benchmark("farm");
  for (const object& farm : farms().objects)
    for (const int ranks : {1, 2, 4}) {
      point at;
      at.set("work", 0.5);
      at.set("begets", std::int64_t{480});
      at.set("draw", std::int64_t{1});
      at.set("trees", std::int64_t{20});
      sample result;
      threads::run(ranks, [&](threads::world& w) {
        const sample mine = of.runner_in<threads::world>()(w, farm, at, [] {}).front();
        if (w.rank() == 0) result = mine;
      });
      EXPECT_TRUE(result.verified) << farm.name;
      EXPECT_GT(result.iterations, 20 * ranks) << farm.name;
      const auto idle = std::count(result.iterations_per_rank.begin(), result.iterations_per_rank.end(), 0);
      if (farm.name == "master" && ranks > 1) {
        EXPECT_EQ(result.iterations_per_rank.front(), 0);
      }
      EXPECT_LT(idle, ranks) << farm.name;
    }
}
TEST(farm, has_the_same_tasks_whoever_does_them) {
  const farm_plan plan{.tree = task_tree(1, std::chrono::nanoseconds(10), 490), .trees_per_rank = 6};
  const farm_counts alone = expected_of(plan, 0, 1);
  farm_counts together;
  const farm_plan half{.tree = plan.tree, .trees_per_rank = 3};
  for (const int rank : {0, 1}) {
    const farm_counts its = expected_of(half, rank, 2);
    together.tasks += its.tasks;
    together.sum += its.sum;
  }
  EXPECT_EQ(alone.tasks, together.tasks);
  EXPECT_EQ(alone.sum, together.sum);
  EXPECT_GT(alone.tasks, 6);
}

TEST(queue_check, finds_what_is_lost_doubled_or_out_of_order) {
  threads::run(1, [](threads::world& w) {
    const auto faults_of = [&w](const std::vector<std::uint64_t>& popped) {
      queue_check check(0);
      for (int i = 0; i < 3; ++i) check.pushed(1);
      for (const std::uint64_t value : popped) check.popped(value);
      return check.faults(w);
    };
    EXPECT_EQ(faults_of({0, 1, 2}), 0);
    EXPECT_GT(faults_of({0, 1}), 0) << "lost";
    EXPECT_GT(faults_of({0, 1, 2, 2}), 0) << "twice";
    EXPECT_GT(faults_of({0, 2, 1}), 0) << "out of order";
    EXPECT_GT(faults_of({0, 1, 3}), 0) << "never pushed";
  });
}

}  // namespace
}  // namespace nearfar::bench
