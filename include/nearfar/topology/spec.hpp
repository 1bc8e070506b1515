/// \file
/// A made-up topology, written as text: "node:2 numa:2 core:4", or "island:2 node:4".
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "nearfar/topology/level.hpp"
#include "nearfar/topology/locality.hpp"

namespace nearfar {

/// The shape of a virtual machine, for tests, experiments and the simulator: how many groups of each named
/// level lie in one group of the next level outside.
class topology_spec {
 public:
  /// Largest number of groups of one level inside one enclosing group.
  static constexpr int max_count = 65536;

  /// Reads "node:2 numa:2 core:4": levels outermost first, each at most once, counts from 1 to `max_count`,
  /// separated by blanks or commas; '=' may stand for ':'. Throws `topology_error`; its one-line text says
  /// what is wrong and how to write it.
  [[nodiscard]] static topology_spec parse(std::string_view text);

  /// Number of groups of the innermost named level: the product of all counts.
  [[nodiscard]] int places() const noexcept { return places_; }

  /// Places ranks 0 to `ranks` - 1 on this shape in order. At each level, outermost first, the ranks form
  /// contiguous blocks as even as possible; if they do not divide evenly, the first groups have one rank
  /// more.
  ///
  /// A level that is not named is one group (id 0) if a level inside it is named, and unknown otherwise. Two
  /// levels differ: a node is always known, and islands are unknown unless they are named. If cores are
  /// named, each has at most one rank. Throws `topology_error` for fewer than 1 rank, for fewer ranks than
  /// nodes, and for more ranks than cores.
  [[nodiscard]] locality place(int ranks) const;

  /// The canonical text that parses to this spec: "node:2 numa:2 core:4".
  [[nodiscard]] std::string to_string() const;

  [[nodiscard]] friend bool operator==(const topology_spec&, const topology_spec&) = default;

 private:
  topology_spec() = default;

  [[nodiscard]] int count(level at) const noexcept { return counts_[index(at)]; }
  [[nodiscard]] level innermost() const noexcept;

  std::array<int, level_count> counts_{};  // by level; 0: not named
  int places_ = 1;
};

}  // namespace nearfar
