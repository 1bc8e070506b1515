/// \file
/// The search for the best lock of a simulated machine among compositions of locks, at low and at high
/// contention.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/nearfar/study/plan.hpp"
#include "nearfar/simulation/machine.hpp"

namespace nearfar::command {

/// One composition with one number of ranks, all of which acquire without pause.
struct contention_point {
  int ranks_per_node = 0;
  int ranks = 0;
  double ns = 0;              ///< from one acquisition to the next over all ranks
  double cv = 0;              ///< variation of the ranks' progress
  double followed_other = 0;  ///< share of acquisitions that followed another rank's
  bool is_steady = true;      ///< the run was long enough (`bench::is_steady`)

  /// Whether the ranks progressed alike, and the holder changed at least half as often as in a random order:
  /// the rule of "Which lock for me?" in reports.
  [[nodiscard]] bool is_fair() const noexcept;
};

/// A lock, with its levels inside nodes.
struct composition {
  std::string lock;
  std::string levels;                ///< empty: the lock takes none
  std::vector<contention_point> at;  ///< by number of ranks, ascending
  double low = 0;                    ///< score at low contention: see `judge`
  double high = 0;                   ///< score at high contention

  /// With the most ranks. With a rank on each of two nodes the one at home is ahead under any lock.
  [[nodiscard]] bool is_fair() const { return at.back().is_fair(); }
  /// With each number of ranks.
  [[nodiscard]] bool is_steady() const noexcept;
};

/// Simulates every configuration of the ECSB once, composition by composition: configurations that differ in
/// the number of ranks only are one. Calls `step` before each configuration, and `complete` with each
/// composition. Throws what the simulation throws, and `nearfar::error` for a lock that does not exclude.
void simulate_compositions(const simulation::machine& machine, const std::vector<configuration>& all,
                           std::uint64_t seed, const std::function<void(const configuration&)>& step,
                           const std::function<void(composition)>& complete);

/// Sets the scores. With each number of ranks the throughput counts as a share of the best fair
/// composition's. The score is the mean of these shares: at high contention each has the number of ranks as
/// its weight, at low contention the inverse. If no composition is fair, the shares are those of the best of
/// all. Sorts: the fair first, and among these the best at high contention.
void judge(std::vector<composition>& all);

/// The fair composition, steady with each number of ranks, that has the best of these scores; null without
/// one.
[[nodiscard]] const composition* best_of(const std::vector<composition>& all, double composition::*score);

/// As a table, and as an object of schema "nearfar.compositions/1" without what the caller adds.
[[nodiscard]] std::string table_of(const std::vector<composition>& all);
[[nodiscard]] nlohmann::ordered_json json_of(const std::vector<composition>& all);

}  // namespace nearfar::command
