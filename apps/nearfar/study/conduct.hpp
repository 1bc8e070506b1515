/// \file
/// The order in which the points of a study are played, and when it is over.
#pragma once

#include <vector>

#include "apps/nearfar/study/output.hpp"
#include "apps/nearfar/study/plan.hpp"
#include "apps/nearfar/study/worlds.hpp"

namespace nearfar::command {

/// Plays all points that can be, as often as the plan asks, and fills `out`. Repetition by repetition, each
/// time in a random order, so that a drift of the machine hits all points alike. Throws `usage_error` if
/// there is nothing to play, and what `on` and `out` throw.
void conduct(const plan& what, const std::vector<configuration>& all, stage& on, study_output& out);

/// Prints the table of a study that is over; returns the command's status.
[[nodiscard]] int conclude(study_output& out);

/// "ecsb cohort, 4 ranks, max_local_passes 48"
[[nodiscard]] std::string text_of(const configuration& of);

}  // namespace nearfar::command
