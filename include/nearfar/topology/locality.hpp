/// \file
/// Which ranks are near each other: every rank's group at every level of locality.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nearfar/topology/level.hpp"

namespace nearfar {

/// The id of an unknown group, for example because the rank is not bound.
inline constexpr int unknown_id = -1;

/// Where one rank is: the raw id of its group at each level, indexed by `index(level)`. An id is unique only
/// inside the enclosing group (numa 0 of node 0 is not numa 0 of node 1). `unknown_id` where not known, as
/// islands are unless somebody names them.
using place = std::array<int, level_count>;

/// Which of the ranks 0 to size() - 1 are near each other. A value: copyable, comparable, immutable after
/// construction, so any number of threads may read it.
///
/// Groups nest: two ranks are in one group of a level if their ids agree at that level and at every level
/// outside it. Ranks with an unknown id at a level form one group of that level inside the enclosing group.
///
/// Members that take a rank or a group throw `topology_error` if there is no such rank or group.
class locality {
 public:
  /// One place per rank, rank 0 first. Throws `topology_error` if `places` is empty, if an id is below
  /// `unknown_id`, or if a rank's node is unknown: whether two ranks share memory must never be a guess.
  explicit locality(const std::vector<place>& places);

  /// Places `ranks` ranks on one node, with every other level unknown. Throws `topology_error` if `ranks` <
  /// 1.
  [[nodiscard]] static locality single_node(int ranks);

  /// The same ranks on the same nodes, which form islands: the first `nodes_per_island` nodes are the first
  /// island, and so on; the last one may have fewer. The nodes get their numbers as raw ids. Throws
  /// `topology_error` if `nodes_per_island` < 1.
  [[nodiscard]] locality with_islands(int nodes_per_island) const;

  /// Number of ranks, at least 1.
  [[nodiscard]] int size() const noexcept { return size_; }

  /// Number of groups at a level, at least 1. Where no island is known there is one.
  [[nodiscard]] int groups(level at) const noexcept;

  /// The group of `rank` at a level: 0 to groups(at) - 1, numbered over all nodes in the order of the groups'
  /// lowest ranks.
  [[nodiscard]] int group(level at, int rank) const;

  /// The ranks of a group, ascending. Valid as long as this object.
  [[nodiscard]] std::span<const int> members(level at, int group) const;

  /// The lowest rank of the group that `rank` is in.
  [[nodiscard]] int leader(level at, int rank) const;

  /// Whether two ranks are in one group of a level. True also where both ids are unknown in one enclosing
  /// group; ask `known` or `nearest_common` where that matters.
  [[nodiscard]] bool same(level at, int a, int b) const;

  /// Whether the id of `rank` at a level is known, that is, not `unknown_id`.
  [[nodiscard]] bool known(level at, int rank) const;

  /// The innermost level that two ranks are known to share: levels where their ids are unknown do not count.
  /// Empty if the ranks are on different nodes, and not known to share an island.
  [[nodiscard]] std::optional<level> nearest_common(int a, int b) const;

  /// The levels as an indented tree with the ranks, one group a line, each line ended by a newline. Groups
  /// have the raw ids of the places. Levels unknown for all ranks are left out.
  [[nodiscard]] std::string tree_text() const;

  [[nodiscard]] friend bool operator==(const locality&, const locality&) = default;

 private:
  struct tier {
    std::vector<int> group_of;              // by rank
    std::vector<int> raw_id;                // by group
    std::vector<std::vector<int>> members;  // by group, ascending

    [[nodiscard]] friend bool operator==(const tier&, const tier&) = default;
  };

  [[nodiscard]] const tier& at_level(level at) const noexcept { return tiers_[index(at)]; }
  [[nodiscard]] std::size_t checked(int rank) const;
  [[nodiscard]] const std::vector<int>& members_around(level at, int rank) const;
  void print_group(std::string& text, std::span<const level> shown, int rank, std::size_t depth) const;

  int size_ = 0;
  std::array<tier, level_count> tiers_;  // by level
};

}  // namespace nearfar
