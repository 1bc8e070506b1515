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

// Names for levels inside a node: all on which the topology says something, and no level.
inline constexpr const char* every_level = "all";
inline constexpr const char* no_level = "none";

/// One set of values for all locks; each takes those it has.
struct lock_parameters {
  int max_local_passes = default_max_local_passes;
  backoff pause{};
  backoff local_pause{std::chrono::nanoseconds(1024), std::chrono::nanoseconds(16384)};
  /// A lock that prefers a node's ranks lets others have it once in so many releases at random.
  int fairness_factor = 1;
  /// For which a node may keep a lock whose turns are limited by time.
  std::chrono::nanoseconds max_turn = default_max_turn;
  /// For which a rank looks before it sleeps, where it may.
  std::chrono::nanoseconds spin = default_spin;
  /// Of queues inside a node: `every_level`, `no_level`, or what `lock_tree::parse_inside_nodes` takes.
  std::string levels = every_level;

  /// Those that the point names, and the defaults of the others.
  [[nodiscard]] static lock_parameters at(const point& where);

  /// `levels`, each with its threshold, or else `max_local_passes`.
  [[nodiscard]] lock_tree levels_inside(const locality& of) const;
};

/// Why the pauses of a lock that tries again, or those of a local one, do not go together; or nothing.
[[nodiscard]] std::string refuse_pauses(const point& at);

}  // namespace nearfar::bench
