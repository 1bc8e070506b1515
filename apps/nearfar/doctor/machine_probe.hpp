/// \file
/// `nearfar doctor --machine`: the costs of the machine at hand, as a machine description.
#pragma once

#include <string>

#include "bench/results/output_file.hpp"

namespace nearfar::command {

/// Measures the costs of near memory and, under mpirun on two or more ranks, those of the MPI library, which
/// takes some seconds. Writes a machine description to `file`; `older` says what becomes of one that is
/// there. Costs that cannot be measured here are those of a shipped machine, and the description says so.
/// Returns the command's status. Collective.
int probe_machine(const std::string& file, const bench::older_output& older);

}  // namespace nearfar::command
