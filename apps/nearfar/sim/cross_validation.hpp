/// \file
/// How well a fitted machine predicts what it was not fitted to.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "apps/nearfar/shared/prediction_scope.hpp"
#include "apps/nearfar/sim/comparison.hpp"
#include "apps/nearfar/sim/machine_fit.hpp"
#include "apps/nearfar/sim/published.hpp"
#include "nearfar/simulation/machine.hpp"

namespace nearfar::command {

/// Points as a fit predicts them that knew none of the same whole.
struct fold {
  std::string by;        ///< "session" or "kind"
  std::string left_out;  ///< which of them
  comparison judged;
  comparison blind;  ///< with the machine's network, as for a day of which nothing is known
};

/// Fits without one whole after the other: without each session, and without each kind of locks. The network
/// of a job is that of the fit; that of a job that was left out is what its own points tell, because no
/// machine knows the traffic of a day. A pure function of its arguments.
[[nodiscard]] std::vector<fold> cross_validate(const simulation::machine& start, const fit_plan& plan,
                                               const published_data& data, const fit_effort& effort,
                                               const fit_progress& progress);

/// The ratios measured / simulated between which the middle 90 % of points with these deviations lie.
[[nodiscard]] simulation::prediction_interval ratios_of(std::vector<double> deviations);

/// A next point lies with equal chance between any two of n. So 90 % lie between the lowest and the highest
/// of 19, and fewer tell no interval.
inline constexpr std::size_t fewest_points = 19;

/// The intervals of all points that were left out, on days of which nothing is known. None is there where
/// sessions were left out with fewer than `fewest_points`.
using intervals = std::map<prediction_scope, simulation::prediction_interval>;
[[nodiscard]] intervals intervals_of(const std::vector<fold>& folds);

/// Throws `usage_error` for measurements that cannot tell intervals: of one session, or with too few points
/// of one node or of several. Too few beside the home leave that interval out.
void require_enough_for_intervals(const published_data& data);
/// Throws `usage_error` for intervals that a machine description cannot have.
void require_plausible(const intervals& of);

/// As tables on stdout: each fold's deviations, the intervals, and the share of the points of each fold that
/// lie in the interval that the other folds give.
void print_folds(const std::vector<fold>& folds);

}  // namespace nearfar::command
