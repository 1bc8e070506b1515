/// \file
/// The run-time parameters of the registered locks.
#pragma once

#include <chrono>
#include <string>

#include "bench/axis.hpp"
#include "nearfar/core/backoff.hpp"
#include "nearfar/lock/cst_lock.hpp"
#include "nearfar/lock/local_passes.hpp"
#include "nearfar/lock/lock_tree.hpp"
#include "nearfar/topology/locality.hpp"

namespace nearfar::bench {

// Names for sets of levels: all levels that the topology knows, and none, beside that of nodes.
inline constexpr const char* every_level = "all";
inline constexpr const char* no_level = "none";

/// One set of values for all locks. Each lock takes the values that it uses.
struct lock_parameters {
  int max_local_passes = default_max_local_passes;
  backoff pause{};
  backoff local_pause{std::chrono::nanoseconds(1024), std::chrono::nanoseconds(16384)};
  /// A lock that prefers its node's ranks lets other nodes have it at random in one of this many releases.
  int fairness_factor = 1;
  /// Longest time for which a node keeps a lock whose turns are limited by time.
  std::chrono::nanoseconds max_turn = default_max_turn;
  /// How long a waiting rank polls before it sleeps, if it may sleep.
  std::chrono::nanoseconds spin = default_spin;
  /// Levels of queues beside that of nodes: `every_level`, `no_level`, or what
  /// `lock_tree::parse_around_nodes` accepts.
  std::string levels = every_level;

  /// The values of the point, and defaults for the others.
  [[nodiscard]] static lock_parameters at(const point& where);

  /// `levels`, each with its own threshold, or else with `max_local_passes`.
  [[nodiscard]] levels_around_nodes levels_around(const locality& of) const;
};

/// Why queues of islands would be useless, in a sentence; empty if they would not.
[[nodiscard]] std::string lacking_islands(const locality& where);

/// Why the pauses of a lock that retries, or those of its local lock, contradict each other; empty if they do
/// not.
[[nodiscard]] std::string refuse_pauses(const point& at);

}  // namespace nearfar::bench
