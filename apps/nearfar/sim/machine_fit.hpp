/// \file
/// Search for the physical costs with which a simulated machine comes nearest to measurements.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "apps/nearfar/sim/comparison.hpp"
#include "apps/nearfar/sim/published.hpp"
#include "nearfar/simulation/machine.hpp"

namespace nearfar::command {

struct fit_effort {
  simulation_effort simulation;
  int evaluations = 400;  ///< simulations of all points
};

/// Called after each evaluation with its number and the best mean deviation so far.
using fit_progress = std::function<void(int evaluation, double best)>;

/// A machine and the networks of the measured jobs.
struct fitted_machine {
  simulation::machine machine;
  std::map<std::string, job_network> networks;
};

/// The machine near `start` with the least `comparison::mean_deviation`, found by a pattern search over the
/// logarithms of the free parameters, begun anew near the best for as long as evaluations are left. Fits the
/// networks of the jobs before each finer step, which counts as `network_evaluations`. The intervals of its
/// predictions are not known. A pure function of its arguments.
[[nodiscard]] fitted_machine fit_machine(const simulation::machine& start,
                                         const std::vector<free_parameter>& free, const published_data& data,
                                         const fit_effort& effort, const fit_progress& progress);

/// The value of a number of the machine. Throws `usage_error` for a field that is none.
[[nodiscard]] double field_of(const simulation::machine& machine, const std::string& name);

}  // namespace nearfar::command
