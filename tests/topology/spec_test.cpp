#include "nearfar/topology/spec.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "nearfar/core/error.hpp"
#include "nearfar/topology/level.hpp"
#include "nearfar/topology/locality.hpp"

namespace {

using nearfar::level;
using nearfar::locality;
using nearfar::topology_spec;

/// Number of ranks of each group at a level.
std::vector<int> sizes(const locality& ranks, level at) {
  std::vector<int> found;
  for (int group = 0; group < ranks.groups(at); ++group) {
    found.push_back(static_cast<int>(ranks.members(at, group).size()));
  }
  return found;
}

std::string parse_error(std::string_view text) {
  try {
    return "no error, but " + topology_spec::parse(text).to_string();
  } catch (const nearfar::topology_error& problem) {
    return problem.what();
  }
}

std::string place_error(std::string_view text, int ranks) {
  const topology_spec spec = topology_spec::parse(text);
  try {
    return "no error, but\n" + spec.place(ranks).tree_text();
  } catch (const nearfar::topology_error& problem) {
    return problem.what();
  }
}

testing::AssertionResult says(const std::string& message, const std::vector<std::string>& words) {
  if (message.find('\n') != std::string::npos) {
    return testing::AssertionFailure() << "more than one line: " << message;
  }
  for (const std::string& word : words) {
    if (message.find(word) == std::string::npos) {
      return testing::AssertionFailure() << "no \"" << word << "\" in: " << message;
    }
  }
  return testing::AssertionSuccess();
}

TEST(topology_spec, plain_text_round_trips) {
  for (const std::string text :
       {"node:2 numa:2 core:4", "node:1", "core:65536", "package:2 cache:3",
        "node:2 package:2 numa:2 cache:2 core:2", "island:2 node:3 core:2", "island:4"}) {
    const topology_spec spec = topology_spec::parse(text);
    EXPECT_EQ(spec.to_string(), text);
    EXPECT_EQ(topology_spec::parse(spec.to_string()), spec);
  }
}

TEST(topology_spec, separators_and_equal_signs_may_vary) {
  for (const std::string_view text : {"node:2,numa:2,core:4", "  node=2\tnuma:2 , core=4 ",
                                      "node:2 numa:2 core:4\n", "node:02,,numa:2,core:4,"}) {
    EXPECT_EQ(topology_spec::parse(text).to_string(), "node:2 numa:2 core:4") << text;
  }
}

TEST(topology_spec, places_is_the_product) {
  EXPECT_EQ(topology_spec::parse("node:2 numa:3 core:4").places(), 24);
  EXPECT_EQ(topology_spec::parse("node:65536 core:32767").places(), 65536 * 32767);
}

TEST(topology_spec, equal_only_if_level_and_count_are) {
  EXPECT_NE(topology_spec::parse("node:2"), topology_spec::parse("node:3"));
  EXPECT_NE(topology_spec::parse("node:2"), topology_spec::parse("numa:2"));
}

TEST(topology_spec, misspelt_levels_get_the_nearest_name) {
  EXPECT_TRUE(says(parse_error("nodes:2"), {"'nodes'", "did you mean 'node'?"}));
  EXPECT_TRUE(says(parse_error("node:2 coer:2"), {"'coer'", "did you mean 'core'?"}));
  EXPECT_TRUE(says(parse_error("node:2 NUMA:2"), {"'NUMA'", "did you mean 'numa'?"}));
  EXPECT_TRUE(says(parse_error("pakage:2"), {"'pakage'", "did you mean 'package'?"}));
  EXPECT_TRUE(says(parse_error("islands:2"), {"'islands'", "did you mean 'island'?"}));
  EXPECT_TRUE(says(parse_error("cash:2"), {"'cash'", "did you mean 'cache'?"}));
}

TEST(topology_spec, other_words_get_the_list_of_levels) {
  const std::string message = parse_error("blade:2");
  EXPECT_TRUE(says(
      message, {"topology level 'blade' is unknown; levels are island, node, package, numa, cache, core"}));
  EXPECT_EQ(message.find("did you mean"), std::string::npos) << message;
  EXPECT_TRUE(says(parse_error(":2"), {"topology level '' is unknown"}));
}

TEST(topology_spec, counts_must_be_numbers_in_range) {
  EXPECT_TRUE(says(parse_error("node"), {"'node'", "no count", "node:N"}));
  EXPECT_TRUE(says(parse_error("node: core:2"), {"'node'", "no count"}));
  EXPECT_TRUE(says(parse_error("node:x"), {"'node'", "'x'", "not a whole number"}));
  EXPECT_TRUE(says(parse_error("node:2x"), {"'2x'", "not a whole number"}));
  EXPECT_TRUE(says(parse_error("node:1.5"), {"'1.5'", "not a whole number"}));
  EXPECT_TRUE(says(parse_error("node:2:3"), {"'2:3'", "not a whole number"}));
  EXPECT_TRUE(says(parse_error("node:0"), {"'0'", "out of range", "from 1 to 65536"}));
  EXPECT_TRUE(says(parse_error("node:-1"), {"'-1'", "out of range"}));
  EXPECT_TRUE(says(parse_error("node:65537"), {"'65537'", "out of range", "from 1 to 65536"}));
  EXPECT_TRUE(says(parse_error("node:99999999999999999999"), {"out of range"}));
}

TEST(topology_spec, levels_come_once_and_outermost_first) {
  EXPECT_TRUE(says(parse_error("core:2 node:2"), {"'node' before 'core'"}));
  EXPECT_TRUE(says(parse_error("node:2 cache:2 numa:2"), {"'numa' before 'cache'"}));
  EXPECT_TRUE(says(parse_error("node:2 island:2"), {"'island' before 'node'"}));
  EXPECT_TRUE(says(parse_error("node:2 node:2"), {"'node' twice"}));
  EXPECT_TRUE(says(parse_error("node:2 core:2 node:2"), {"'node' twice"}));
}

TEST(topology_spec, an_empty_text_is_an_error) {
  EXPECT_TRUE(says(parse_error(""), {"empty", "node:2 numa:2 core:4"}));
  EXPECT_TRUE(says(parse_error(" , "), {"empty"}));
}

TEST(topology_spec, more_places_than_an_int_are_an_error) {
  EXPECT_TRUE(says(parse_error("node:65536 core:32768"), {"more than 2147483647 places"}));
}

TEST(topology_spec, messages_stay_short_and_on_one_line) {
  EXPECT_TRUE(says(parse_error("no\x01\x1b[31mde:2"), {"'no??[31mde'"}));
  EXPECT_TRUE(says(parse_error("node:2\nnode:2"), {"twice"}));
  EXPECT_LT(parse_error(std::string(10000, 'x') + ":2").size(), 200U);
}

TEST(topology_spec, ranks_fill_a_full_machine_in_order) {
  const locality ranks = topology_spec::parse("node:2 numa:2 core:2").place(8);
  EXPECT_EQ(ranks.size(), 8);
  EXPECT_EQ(sizes(ranks, level::node), (std::vector<int>{4, 4}));
  EXPECT_EQ(sizes(ranks, level::numa), (std::vector<int>{2, 2, 2, 2}));
  EXPECT_EQ(ranks.groups(level::core), 8);
  EXPECT_EQ(ranks.leader(level::node, 7), 4);
  EXPECT_EQ(ranks.leader(level::numa, 7), 6);
}

TEST(topology_spec, fewer_ranks_than_cores_are_spread_over_the_nodes) {
  const locality four = topology_spec::parse("node:2 core:4").place(4);
  EXPECT_EQ(sizes(four, level::node), (std::vector<int>{2, 2}));
  EXPECT_EQ(sizes(four, level::core), (std::vector<int>{1, 1, 1, 1}));

  const locality six = topology_spec::parse("node:2 numa:2 core:4").place(6);
  EXPECT_EQ(sizes(six, level::node), (std::vector<int>{3, 3}));
  EXPECT_EQ(sizes(six, level::numa), (std::vector<int>{2, 1, 2, 1}));
}

TEST(topology_spec, first_groups_get_the_remainder) {
  EXPECT_EQ(sizes(topology_spec::parse("node:3").place(8), level::node), (std::vector<int>{3, 3, 2}));
  EXPECT_EQ(sizes(topology_spec::parse("node:2 numa:2").place(7), level::numa),
            (std::vector<int>{2, 2, 2, 1}));
  EXPECT_EQ(sizes(topology_spec::parse("node:3 core:3").place(7), level::node), (std::vector<int>{3, 2, 2}));
}

TEST(topology_spec, without_cores_there_is_room_for_any_number_of_ranks) {
  const locality ranks = topology_spec::parse("node:2 numa:2").place(1000);
  EXPECT_EQ(sizes(ranks, level::numa), (std::vector<int>{250, 250, 250, 250}));
  EXPECT_EQ(ranks.nearest_common(0, 249), level::numa);
}

TEST(topology_spec, inner_groups_may_stay_empty) {
  const locality ranks = topology_spec::parse("node:2 numa:4").place(3);
  EXPECT_EQ(sizes(ranks, level::node), (std::vector<int>{2, 1}));
  EXPECT_EQ(sizes(ranks, level::numa), (std::vector<int>{1, 1, 1}));
}

TEST(topology_spec, levels_not_named_are_one_group_outside_and_unknown_inside) {
  EXPECT_EQ(topology_spec::parse("numa:2").place(3).tree_text(),
            "node 0: ranks 0-2\n"
            "  package 0: ranks 0-2\n"
            "    numa 0: ranks 0-1\n"
            "    numa 1: rank 2\n");
  const locality ranks = topology_spec::parse("node:2 core:2").place(3);
  EXPECT_EQ(ranks.nearest_common(0, 1), level::cache);
  EXPECT_EQ(ranks.nearest_common(0, 2), std::nullopt);
}

TEST(topology_spec, islands_hold_nodes) {
  const locality ranks = topology_spec::parse("island:2 node:2 core:2").place(7);
  EXPECT_EQ(sizes(ranks, level::island), (std::vector<int>{4, 3}));
  EXPECT_EQ(sizes(ranks, level::node), (std::vector<int>{2, 2, 2, 1}));
  EXPECT_EQ(ranks.nearest_common(0, 2), level::island);
  EXPECT_EQ(ranks.nearest_common(3, 4), std::nullopt);
  EXPECT_EQ(topology_spec::parse("island:2").place(4).tree_text(),
            "island 0: ranks 0-1\n"
            "  node 0: ranks 0-1\n"
            "island 1: ranks 2-3\n"
            "  node 0: ranks 2-3\n");
  EXPECT_TRUE(
      says(place_error("island:2 node:2", 3), {"4 nodes", "too many for 3 ranks", "at least 4 ranks"}));
}

TEST(topology_spec, islands_are_unknown_unless_they_are_named) {
  const locality ranks = topology_spec::parse("node:2 core:2").place(4);
  EXPECT_FALSE(ranks.known(level::island, 0));
  EXPECT_EQ(ranks.tree_text().find("island"), std::string::npos);
  EXPECT_EQ(topology_spec::parse("node:4 core:2").place(8).with_islands(2),
            topology_spec::parse("node:4 core:2").place(8).with_islands(1).with_islands(2));
}

TEST(topology_spec, too_many_ranks_for_the_cores_are_an_error) {
  EXPECT_EQ(
      place_error("node:2 core:1", 4),
      "topology 'node:2 core:1' has 2 cores, too few for 4 ranks: ask for at most 2 ranks or more cores");
  EXPECT_TRUE(says(place_error("core:1", 2), {"has 1 core,", "at most 1 rank or"}));
}

TEST(topology_spec, fewer_ranks_than_nodes_are_an_error) {
  EXPECT_TRUE(says(place_error("node:4 core:2", 3),
                   {"'node:4 core:2'", "4 nodes", "too many for 3 ranks", "at least 4 ranks"}));
}

TEST(topology_spec, no_ranks_are_an_error) {
  EXPECT_TRUE(says(place_error("numa:2", 0), {"'numa:2'", "cannot hold 0 ranks", "at least 1 rank"}));
  EXPECT_TRUE(says(place_error("numa:2", -3), {"-3 ranks"}));
}

}  // namespace
