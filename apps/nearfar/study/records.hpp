/// \file
/// The parts of records that configurations determine.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "apps/nearfar/study/plan.hpp"
#include "bench/results/results.hpp"
#include "nearfar/topology/locality.hpp"

namespace nearfar::command {

/// Fills in what the benchmark does not know of its sample, except for the world and the machine.
void complete(bench::sample& sample, const configuration& of, const locality& where, int repetition);

/// Fields of the provenance: the statements of the benchmarks and the names of the objects, for readers that
/// do not know them, and the bounds of a steady run.
[[nodiscard]] nlohmann::ordered_json statements_of(const std::vector<const configuration*>& all);

}  // namespace nearfar::command
