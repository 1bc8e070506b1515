/// \file
/// The order in which the points of a study are played, and when it is over.
#pragma once

#include <vector>

#include "apps/nearfar/study/output.hpp"
#include "apps/nearfar/study/plan.hpp"
#include "apps/nearfar/study/worlds.hpp"
#include "nearfar/core/error.hpp"

namespace nearfar::command {

/// Plays all points that can be, as often as the plan asks, fills `out` and prints its tables. Repetition by
/// repetition, each time in a random order, so that a drift of the machine hits all points alike. Returns the
/// command's status. Throws `usage_error` if there is nothing to play, and what `on` and `out` throw; what
/// was measured before is printed then, too, unless the job has to end for it.
[[nodiscard]] int conduct(const plan& what, const std::vector<configuration>& all, stage& on,
                          study_output& out);

/// Whether other ranks cannot be told any more: a wait that lasts too long, a call of MPI that failed.
[[nodiscard]] bool ends_job(const error& failed);

/// "ecsb cohort, 4 ranks, max_local_passes 48"
[[nodiscard]] std::string text_of(const configuration& of);

}  // namespace nearfar::command
