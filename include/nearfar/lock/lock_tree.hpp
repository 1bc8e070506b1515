/// \file
/// The elements of a machine in which ranks queue for a hierarchical lock, and how fair these are.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "nearfar/core/agreement.hpp"
#include "nearfar/lock/local_passes.hpp"
#include "nearfar/topology/level.hpp"
#include "nearfar/topology/locality.hpp"

namespace nearfar {

/// One level of queues: the ranks, or the elements inside, of each element queue in it.
struct tree_level {
  level at = level::node;
  /// The lock is handed on inside an element that many times in a row at most before another one's turn: the
  /// threshold T_L,i of Schmid, Besta, Hoefler 2016. The larger, the more throughput; the smaller, the
  /// fairer.
  int max_passes = published_local_passes;

  [[nodiscard]] friend bool operator==(const tree_level&, const tree_level&) = default;
};

/// The levels of a hierarchical lock, outermost first; above them is one queue for the whole machine. Without
/// any there is that one only, in which ranks queue.
///
/// What a level is good for: a hand-over inside an element costs less than one between two of them, and each
/// level costs an uncontended acquisition a queue more. Levels of which every element has one rank, or of
/// which an element has one element inside, are a queue for nothing.
class lock_tree {
 public:
  /// Each node's ranks queue, then the nodes.
  explicit lock_tree(int max_local_passes = published_local_passes);
  /// Throws `misuse` unless the levels are in order, outermost first, each once, and each threshold 0 to
  /// `most_passes`.
  lock_tree(std::initializer_list<tree_level> levels);
  explicit lock_tree(std::vector<tree_level> levels);

  /// The levels inside nodes on which a topology says something: between that of nodes and that of ranks, and
  /// each with other elements than the one outside it.
  [[nodiscard]] static lock_tree inside_nodes(const locality& where,
                                              int max_passes = default_max_local_passes);

  /// As users write it: "node", or "node=50/numa=10". Empty: no level. Throws `misuse` with what is wrong.
  [[nodiscard]] static lock_tree parse(const std::string& text);
  /// The same of levels inside nodes, with `max_passes` where none is said. Throws `misuse` also for levels
  /// that are not, and unless each threshold is 1 to 254.
  [[nodiscard]] static lock_tree parse_inside_nodes(const std::string& text,
                                                    int max_passes = default_max_local_passes);
  [[nodiscard]] std::string text() const;

  [[nodiscard]] const std::vector<tree_level>& levels() const noexcept { return levels_; }
  /// For comparison between ranks: each level's threshold, or -1 for a level that is not used.
  using named_levels = std::array<named_value, level_count>;
  [[nodiscard]] named_levels arguments() const noexcept;
  /// The same of what a tree of nodes would be made with, whether it can or not.
  [[nodiscard]] static named_levels arguments_of_nodes(int max_local_passes) noexcept;

  static constexpr int most_passes = 1 << 20;

  [[nodiscard]] friend bool operator==(const lock_tree&, const lock_tree&) = default;

 private:
  std::vector<tree_level> levels_;
};

namespace detail {

/// `levels`, if all of them are inside nodes, known of all ranks, and have thresholds that fit into a byte;
/// otherwise throws `misuse` or `topology_error`.
const lock_tree& checked_inside_nodes(const lock_tree& levels, const locality& where);

}  // namespace detail

}  // namespace nearfar
