/// \file
/// The input of `nearfar sweep`: studies as their users write them down.
#pragma once

#include <string>

#include "apps/nearfar/study/plan.hpp"

namespace nearfar::command {

/// Reads a study: JSON, in which comments are allowed. docs/sweeps.md describes it. Members that the study
/// leaves open are those of `defaults`. Throws `usage_error`, which names the file and the place.
[[nodiscard]] plan read_study(const std::string& path, plan defaults);

}  // namespace nearfar::command
