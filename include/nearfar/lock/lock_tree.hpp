/// \file
/// The levels of machine elements in which ranks queue for a hierarchical lock, and their fairness
/// thresholds.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "nearfar/core/agreement.hpp"
#include "nearfar/lock/local_passes.hpp"
#include "nearfar/topology/level.hpp"
#include "nearfar/topology/locality.hpp"

namespace nearfar {

/// One level of queues. In each element of the level a queue holds its ranks, or the elements inside it.
struct tree_level {
  level at = level::node;
  /// How often in a row the lock is handed on inside an element before another element's turn: the threshold
  /// T_L,i of Schmid, Besta, Hoefler 2016. A larger value gives more throughput, a smaller one is fairer.
  int max_passes = published_local_passes;

  [[nodiscard]] friend bool operator==(const tree_level&, const tree_level&) = default;
};

struct levels_around_nodes;

/// The levels of a hierarchical lock, outermost first. Above them is one queue for the whole machine. Without
/// levels all ranks queue in that one.
///
/// A hand-over inside an element costs less than one between two elements, but each level adds a queue to an
/// uncontended acquisition. A level is useless if each of its elements has one rank, or one element inside.
class lock_tree {
 public:
  /// Two levels of queues: the ranks of each node, then the nodes.
  explicit lock_tree(int max_local_passes = published_local_passes);
  /// Throws `misuse` unless the levels are in order, outermost first, each once, and each threshold 0 to
  /// `most_passes`.
  lock_tree(std::initializer_list<tree_level> levels);
  explicit lock_tree(std::vector<tree_level> levels);

  /// The levels inside nodes that the topology distinguishes: between the levels of nodes and of ranks, each
  /// with other elements than the level outside it.
  [[nodiscard]] static lock_tree inside_nodes(const locality& where,
                                              int max_passes = default_max_local_passes);

  /// Parses what users write: "node", or "node=50/numa=10". Empty: no level. The exception `misuse` says what
  /// is wrong.
  [[nodiscard]] static lock_tree parse(const std::string& text);
  /// The same for levels inside nodes, with `max_passes` for levels without a threshold. Also throws `misuse`
  /// for levels that are not inside a node, and unless each threshold is 1 to 254.
  [[nodiscard]] static lock_tree parse_inside_nodes(const std::string& text,
                                                    int max_passes = default_max_local_passes);
  /// The levels above and inside nodes that the topology distinguishes.
  [[nodiscard]] static levels_around_nodes around_nodes(const locality& where,
                                                        int max_passes = default_max_local_passes);
  /// As `parse_inside_nodes`, with the level of islands as well: "island=20/numa=10".
  [[nodiscard]] static levels_around_nodes parse_around_nodes(const std::string& text,
                                                              int max_passes = default_max_local_passes);
  [[nodiscard]] std::string text() const;

  [[nodiscard]] const std::vector<tree_level>& levels() const noexcept { return levels_; }
  /// For comparison between ranks: the threshold of each level, or -1 for an unused level.
  using named_levels = std::array<named_value, level_count>;
  [[nodiscard]] named_levels arguments() const noexcept;
  /// The same for the tree that `lock_tree(max_local_passes)` would make, whether or not it is a valid one.
  [[nodiscard]] static named_levels arguments_of_nodes(int max_local_passes) noexcept;

  static constexpr int most_passes = 1 << 20;

  [[nodiscard]] friend bool operator==(const lock_tree&, const lock_tree&) = default;

 private:
  std::vector<tree_level> levels_;
};

/// The levels of a lock that has queues of nodes in any case.
struct levels_around_nodes {
  std::optional<tree_level> island;  ///< above nodes
  lock_tree inside;
};

namespace detail {

/// Returns `levels` if all of them are inside nodes, known for all ranks, and have thresholds that fit into a
/// byte. Otherwise throws `misuse` or `topology_error`.
const lock_tree& checked_inside_nodes(const lock_tree& levels, const locality& where);

/// Returns `of` if it is the level of islands, known for all ranks, with a threshold that fits into a byte.
/// Otherwise throws `misuse` or `topology_error`.
const tree_level& checked_islands(const tree_level& of, const locality& where);

}  // namespace detail

}  // namespace nearfar
