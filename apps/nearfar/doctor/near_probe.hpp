/// \file
/// The cost of moving a cache line on this machine.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "nearfar/simulation/machine.hpp"

namespace nearfar::command {

/// The time that one call of `batch(n)`, divided by n, takes in nanoseconds: the median of several batches
/// long enough to be timed, so that a burst of other load on the machine does not decide it.
[[nodiscard]] double median_ns(const std::function<void(int n)>& batch);

/// Sets what can be measured; returns the names of the fields that were.
std::vector<std::string> probe_near(simulation::near_costs& costs);

}  // namespace nearfar::command
