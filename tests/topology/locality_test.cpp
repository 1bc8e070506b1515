#include "nearfar/topology/locality.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nearfar/core/error.hpp"
#include "nearfar/topology/level.hpp"

namespace {

using nearfar::level;
using nearfar::locality;
using nearfar::place;

std::vector<int> members(const locality& ranks, level at, int group) {
  const std::span<const int> found = ranks.members(at, group);
  return {found.begin(), found.end()};
}

/// Two nodes; ranks dealt to them in turn, so that groups are not contiguous.
locality dealt() {
  return locality({{-1, 7, 0, 0, 0, 0},
                   {-1, 3, 0, 0, 0, 0},
                   {-1, 7, 0, 0, 1, 0},
                   {-1, 3, 0, 1, 0, 0},
                   {-1, 7, 0, 0, 1, 1}});
}

std::string message_of(const std::vector<place>& places) {
  try {
    (void)locality(places);
  } catch (const nearfar::topology_error& problem) {
    return problem.what();
  }
  return "no error";
}

TEST(level, names_go_there_and_back) {
  for (const level at : nearfar::all_levels) {
    EXPECT_EQ(nearfar::level_from_name(nearfar::name(at)), at);
  }
  EXPECT_EQ(nearfar::name(level::island), "island");
  EXPECT_EQ(nearfar::name(level::node), "node");
  EXPECT_EQ(nearfar::name(level::package), "package");
  EXPECT_EQ(nearfar::name(level::numa), "numa");
  EXPECT_EQ(nearfar::name(level::cache), "cache");
  EXPECT_EQ(nearfar::name(level::core), "core");
}

TEST(level, other_names_are_no_levels) {
  EXPECT_EQ(nearfar::level_from_name("Core"), std::nullopt);
  EXPECT_EQ(nearfar::level_from_name("cores"), std::nullopt);
  EXPECT_EQ(nearfar::level_from_name(""), std::nullopt);
}

TEST(locality, groups_are_numbered_by_lowest_rank) {
  const locality ranks = dealt();
  EXPECT_EQ(ranks.size(), 5);
  ASSERT_EQ(ranks.groups(level::node), 2);
  EXPECT_EQ(ranks.group(level::node, 0), 0);  // raw id 7, but it has rank 0
  EXPECT_EQ(ranks.group(level::node, 1), 1);
  EXPECT_EQ(members(ranks, level::node, 0), (std::vector<int>{0, 2, 4}));
  EXPECT_EQ(members(ranks, level::node, 1), (std::vector<int>{1, 3}));
}

TEST(locality, equal_ids_in_different_enclosing_groups_are_different_groups) {
  const locality ranks = dealt();
  EXPECT_FALSE(ranks.same(level::package, 0, 1));  // package 0 of either node
  EXPECT_EQ(ranks.groups(level::package), 2);
  EXPECT_FALSE(ranks.same(level::cache, 1, 3));  // cache 0 of numa 0 and of numa 1
  EXPECT_FALSE(ranks.same(level::core, 0, 2));   // core 0 of cache 0 and of cache 1
  EXPECT_EQ(ranks.groups(level::core), 5);
}

TEST(locality, the_leader_is_the_lowest_rank_of_the_group) {
  const locality ranks = dealt();
  EXPECT_EQ(ranks.leader(level::node, 4), 0);
  EXPECT_EQ(ranks.leader(level::node, 3), 1);
  EXPECT_EQ(ranks.leader(level::cache, 4), 2);
  EXPECT_EQ(ranks.leader(level::core, 4), 4);
}

TEST(locality, nearest_common_is_the_innermost_shared_level) {
  const locality ranks = dealt();
  EXPECT_EQ(ranks.nearest_common(0, 1), std::nullopt);
  EXPECT_EQ(ranks.nearest_common(0, 2), level::numa);
  EXPECT_EQ(ranks.nearest_common(2, 4), level::cache);
  EXPECT_EQ(ranks.nearest_common(1, 3), level::package);
  EXPECT_EQ(ranks.nearest_common(3, 3), level::core);
}

TEST(locality, unknown_ids_make_one_group_in_each_enclosing_group) {
  const locality ranks(
      {{-1, 0, 0, 0, 0, 0}, {-1, 0, 0, 0, -1, -1}, {-1, 0, 0, 0, -1, -1}, {-1, 0, -1, -1, -1, -1}});
  EXPECT_TRUE(ranks.same(level::cache, 1, 2));
  EXPECT_TRUE(ranks.same(level::core, 1, 2));
  EXPECT_FALSE(ranks.same(level::cache, 0, 1));
  EXPECT_FALSE(ranks.same(level::package, 2, 3));
  EXPECT_EQ(ranks.groups(level::core), 3);
  EXPECT_TRUE(ranks.known(level::numa, 1));
  EXPECT_FALSE(ranks.known(level::cache, 1));
}

TEST(locality, unknown_levels_are_not_known_to_be_shared) {
  const locality ranks({{-1, 0, 0, 0, -1, -1}, {-1, 0, 0, 0, -1, -1}, {-1, 0, -1, -1, -1, -1}});
  EXPECT_EQ(ranks.nearest_common(0, 1), level::numa);
  EXPECT_EQ(ranks.nearest_common(0, 2), level::node);
}

TEST(locality, a_single_node_knows_nothing_but_the_node) {
  const locality ranks = locality::single_node(3);
  EXPECT_EQ(ranks.size(), 3);
  EXPECT_EQ(ranks.groups(level::node), 1);
  EXPECT_EQ(ranks.nearest_common(0, 2), level::node);
  EXPECT_EQ(ranks.leader(level::core, 2), 0);
  EXPECT_EQ(ranks.tree_text(), "node 0: ranks 0-2\n");
}

/// Three nodes on two islands, of which the second one comes first. The nodes have equal ids on both.
locality on_islands() {
  return locality(
      {{5, 0, -1, -1, -1, 0}, {3, 0, -1, -1, -1, 0}, {5, 0, -1, -1, -1, 1}, {3, 1, -1, -1, -1, 0}});
}

TEST(locality, islands_hold_nodes) {
  const locality ranks = on_islands();
  ASSERT_EQ(ranks.groups(level::island), 2);
  EXPECT_EQ(members(ranks, level::island, 0), (std::vector<int>{0, 2}));
  EXPECT_EQ(members(ranks, level::island, 1), (std::vector<int>{1, 3}));
  EXPECT_EQ(ranks.groups(level::node), 3);
  EXPECT_FALSE(ranks.same(level::node, 0, 1));  // node 0 of either island
  EXPECT_EQ(ranks.leader(level::island, 3), 1);
  EXPECT_EQ(ranks.nearest_common(1, 3), level::island);
  EXPECT_EQ(ranks.nearest_common(0, 2), level::node);
  EXPECT_EQ(ranks.nearest_common(0, 1), std::nullopt);
  EXPECT_EQ(ranks.tree_text(),
            "island 5: ranks 0,2\n"
            "  node 0: ranks 0,2\n"
            "    core 0: rank 0\n"
            "    core 1: rank 2\n"
            "island 3: ranks 1,3\n"
            "  node 0: rank 1\n"
            "    core 0: rank 1\n"
            "  node 1: rank 3\n"
            "    core 0: rank 3\n");
}

TEST(locality, islands_that_nobody_named_change_nothing) {
  const locality ranks = dealt();
  EXPECT_EQ(ranks.groups(level::island), 1);
  EXPECT_FALSE(ranks.known(level::island, 0));
  EXPECT_EQ(ranks.leader(level::island, 3), 0);
  EXPECT_EQ(ranks.nearest_common(0, 1), std::nullopt);
}

TEST(locality, islands_of_so_many_nodes) {
  // Ranks dealt to five nodes, of which two form an island and the last one is alone.
  std::vector<place> places;
  for (int rank = 0; rank < 10; ++rank) places.push_back({-1, 10 * (rank % 5), 0, -1, -1, rank / 5});
  const locality nodes(places);
  const locality ranks = nodes.with_islands(2);
  ASSERT_EQ(ranks.groups(level::island), 3);
  EXPECT_EQ(members(ranks, level::island, 0), (std::vector<int>{0, 1, 5, 6}));
  EXPECT_EQ(members(ranks, level::island, 2), (std::vector<int>{4, 9}));
  for (const level at : nearfar::all_levels) {
    if (at == level::island) continue;
    EXPECT_EQ(ranks.groups(at), nodes.groups(at));
    for (int rank = 0; rank < 10; ++rank) {
      EXPECT_EQ(ranks.group(at, rank), nodes.group(at, rank)) << name(at);
      EXPECT_EQ(ranks.known(at, rank), nodes.known(at, rank)) << name(at);
    }
  }
  // Equal ids of nodes on different islands stay different nodes.
  const locality merged = on_islands().with_islands(3);
  EXPECT_EQ(merged.groups(level::island), 1);
  EXPECT_EQ(merged.groups(level::node), 3);
  EXPECT_TRUE(merged.known(level::island, 0));
  EXPECT_THROW((void)nodes.with_islands(0), nearfar::topology_error);
}

TEST(locality, the_tree_shows_raw_ids_and_rank_ranges) {
  EXPECT_EQ(dealt().tree_text(),
            "node 7: ranks 0,2,4\n"
            "  package 0: ranks 0,2,4\n"
            "    numa 0: ranks 0,2,4\n"
            "      cache 0: rank 0\n"
            "        core 0: rank 0\n"
            "      cache 1: ranks 2,4\n"
            "        core 0: rank 2\n"
            "        core 1: rank 4\n"
            "node 3: ranks 1,3\n"
            "  package 0: ranks 1,3\n"
            "    numa 0: rank 1\n"
            "      cache 0: rank 1\n"
            "        core 0: rank 1\n"
            "    numa 1: rank 3\n"
            "      cache 0: rank 3\n"
            "        core 0: rank 3\n");
}

TEST(locality, the_tree_leaves_out_levels_unknown_for_all_only) {
  const locality ranks(
      {{-1, 0, -1, 0, -1, 1}, {-1, 0, -1, 0, -1, -1}, {-1, 0, -1, 0, -1, -1}, {-1, 0, -1, 2, -1, 0}});
  EXPECT_EQ(ranks.tree_text(),
            "node 0: ranks 0-3\n"
            "  numa 0: ranks 0-2\n"
            "    core 1: rank 0\n"
            "    core unknown: ranks 1-2\n"
            "  numa 2: rank 3\n"
            "    core 0: rank 3\n");
}

TEST(locality, is_a_value) {
  const locality ranks = dealt();
  locality copy = ranks;
  EXPECT_EQ(copy, ranks);
  copy = locality::single_node(5);
  EXPECT_NE(copy, ranks);
  EXPECT_NE(locality({{-1, 0, 0, 0, 0, -1}}), locality({{-1, 0, 0, 0, 0, 0}}));
}

TEST(locality, refuses_places_that_make_no_sense) {
  EXPECT_NE(message_of({}).find("at least one rank"), std::string::npos);
  EXPECT_NE(message_of({{-1, 0, 0, 0, 0, 0}, {-1, -1, 0, 0, 0, 0}}).find("rank 1 has no node"),
            std::string::npos);
  EXPECT_NE(message_of({{-1, 0, 0, -2, 0, 0}}).find("rank 0 has numa id -2"), std::string::npos);
  EXPECT_THROW((void)locality::single_node(0), nearfar::topology_error);
}

TEST(locality, refuses_ranks_and_groups_that_are_not_there) {
  const locality ranks = dealt();
  EXPECT_THROW((void)ranks.group(level::node, 5), nearfar::topology_error);
  EXPECT_THROW((void)ranks.leader(level::node, -1), nearfar::topology_error);
  EXPECT_THROW((void)ranks.same(level::core, 0, 5), nearfar::topology_error);
  EXPECT_THROW((void)ranks.nearest_common(0, 5), nearfar::topology_error);
  EXPECT_THROW((void)ranks.members(level::node, 2), nearfar::topology_error);
  EXPECT_THROW((void)ranks.members(level::node, -1), nearfar::topology_error);
}

}  // namespace
