/// \file
/// Results as text.
#pragma once

#include <vector>

#include "apps/nearfar/shared/provenance.hpp"
#include "bench/results.hpp"
#include "nearfar/topology/locality.hpp"

namespace nearfar::command {

/// Prints medians over the repetitions, one line for each lock (and scenario), to stdout. Locks are in the
/// order of the measurement.
void print_table(const std::vector<bench::sample>& samples, const measurement& of, const locality& where);

}  // namespace nearfar::command
