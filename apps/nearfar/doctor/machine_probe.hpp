/// \file
/// `nearfar doctor --machine`: what the machine at hand costs, as a machine description.
#pragma once

#include <string>

namespace nearfar::command {

/// Measures the costs of near memory, and, under mpirun on two or more ranks, those of the MPI library, which
/// takes some seconds, and writes a machine description to `file`. What cannot be measured here is
/// that of a shipped machine, and the description says so. Returns the command's status. Collective.
int probe_machine(const std::string& file);

}  // namespace nearfar::command
