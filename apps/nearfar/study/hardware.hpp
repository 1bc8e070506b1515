/// \file
/// The common part of the worlds of real hardware when they carry out a plan.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "apps/nearfar/shared/interruption.hpp"
#include "apps/nearfar/shared/stall_guard.hpp"
#include "apps/nearfar/study/output.hpp"
#include "apps/nearfar/study/plan.hpp"
#include "nearfar/topology/spec.hpp"

namespace nearfar::command {

/// One rank's part in one repetition. Collective.
template <world W>
[[nodiscard]] std::vector<bench::sample> play_in(W& w, const configuration& of,
                                                 const bench::heartbeat& beat) {
  return of.benchmark->runner_in<W>()(w, *of.object, of.at(), beat);
}

/// Under a lock that is not fair a rank may wait for as long as the others go on.
[[nodiscard]] std::optional<stall_limits> limits_of(const plan& what, const std::vector<configuration>& all);

[[nodiscard]] std::optional<topology_spec> topology_of(const plan& what);

// These end a run early, and rank 0 keeps the measurements. If rank 0 hangs in a call, another rank ends the
// job.
[[nodiscard]] stall_guard guard_over(study_output& output, const plan& what,
                                     std::optional<stall_limits> limits, int rank);
[[nodiscard]] interruption::keeper keeper_of(study_output& output);

/// "lock 'mcs'", for the guard.
[[nodiscard]] std::string object_text(const configuration& of);

}  // namespace nearfar::command
