#include "bench/kinds/locks/upb.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/kinds/locks/lock_catalogue.hpp"

namespace nearfar::bench {
namespace {

std::vector<std::string> names(const upb_cast& cast) {
  std::vector<std::string> result;
  for (const upb_scenario& scenario : cast.scenarios()) result.emplace_back(scenario.name);
  std::sort(result.begin(), result.end());
  return result;
}

locality place(const char* topology, int ranks) { return topology_spec::parse(topology).place(ranks); }

TEST(upb, two_nodes_of_two_ranks_play_all_scenarios) {
  EXPECT_EQ(names(upb_cast(place("node:2", 4))),
            (std::vector<std::string>{"1a", "1b", "1c", "2a", "2b", "2c", "3a", "3b", "3c"}));
}

TEST(upb, smaller_worlds_play_what_they_can) {
  EXPECT_EQ(names(upb_cast(place("node:1", 1))), (std::vector<std::string>{"1a"}));
  EXPECT_EQ(names(upb_cast(place("node:1", 2))), (std::vector<std::string>{"1a", "1b", "2a", "2b"}));
  EXPECT_EQ(names(upb_cast(place("node:2", 2))), (std::vector<std::string>{"1a", "1c", "3c"}));
}

// Table 4.1 of the thesis: the digit is the predecessor's distance from the acquiring rank, the letter the
// home's.
TEST(upb, scenarios_are_what_their_names_say) {
  const locality where = place("node:2", 4);
  const upb_cast cast(where);
  for (const upb_scenario& scenario : upb_scenarios) {
    const int acquirer = *cast.rank(scenario.acquirer);
    const int predecessor = *cast.rank(scenario.predecessor);
    const auto distance = [&](int from) {
      if (from == acquirer) return 0;
      return where.same(level::node, from, acquirer) ? 1 : 2;
    };
    EXPECT_EQ(scenario.name[0] - '1', distance(predecessor)) << scenario.name;
    EXPECT_EQ(scenario.name[1] - 'a', distance(0)) << scenario.name;
  }
}

TEST(upb, every_scenario_leaves_the_locks_as_the_next_needs_them) {
  for (std::size_t i = 1; i < upb_scenarios.size(); ++i)
    EXPECT_EQ(upb_scenarios[i].predecessor, upb_scenarios[i - 1].acquirer) << upb_scenarios[i].name;
}

TEST(upb, runs_every_lock_free) {
  threads::run(4,
               [](threads::world& w) {
                 upb_locks<threads::world> benchmark(w, *catalogue::instance().find("cohort"), {}, 20, 7);
                 const std::vector<sample> samples = benchmark.run();
                 ASSERT_EQ(samples.size(), 9U);
                 for (const sample& one : samples) {
                   EXPECT_TRUE(one.verified) << *one.scenario;
                   EXPECT_EQ(one.iterations, 20);
                   EXPECT_EQ(one.count("contended"), 0);
                   EXPECT_EQ(one.count("acquire_timed"), 7);
                 }
                 EXPECT_EQ(samples.front().iterations_per_rank, w.rank() == 0
                                                                    ? (std::vector<std::int64_t>{20, 0, 0, 0})
                                                                    : std::vector<std::int64_t>());
               },
               {.topology = topology_spec::parse("node:2")});
}

}  // namespace
}  // namespace nearfar::bench
