/// \file
/// Results as text.
#pragma once

#include <string>
#include <vector>

#include "bench/results.hpp"
#include "nearfar/topology/locality.hpp"

namespace nearfar::command {

/// Prints medians over the repetitions, one line for each lock (and scenario), to stdout.
void print_table(const std::vector<bench::sample>& samples, const std::string& benchmark,
                 const locality& where);

}  // namespace nearfar::command
