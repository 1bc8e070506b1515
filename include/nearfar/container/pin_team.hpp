/// \file
/// Binds the threads of a team to CPUs, so that memory which was near them stays near.
///
/// Source: H. Stengel, diploma thesis, Georg-Simon-Ohm-Fachhochschule Nürnberg, 2007, section 2.2.
#pragma once

#include <string>
#include <vector>

#include "nearfar/container/team.hpp"
#include "nearfar/topology/pinning.hpp"

namespace nearfar {

/// Binds member i of `threads`, the calling thread being member 0, to the CPUs that `how` gives thread i on
/// `this_machine()`. Returns the binding of each member as the system tells it afterwards: "core 3".
///
/// This also holds for all later teams of the calling thread, larger ones too: OpenMP ends threads when a
/// team gets smaller, and those it makes in their place are bound when they first take part in a team. Not
/// bound are new threads that first meet a `#pragma omp parallel` of the user's own. The rule `none` ends
/// this, and gives the threads of the team all CPUs of the process back; without an earlier `pin_team` it
/// changes nothing.
///
/// Threads that the calling thread starts afterwards inherit its binding. Leave OMP_PROC_BIND and OMP_PLACES
/// unset: OpenMP then binds by itself, the calling thread before `main`, whose CPUs are all that is left.
///
/// Throws `topology_error` if a CPU of the rule is not there, if the system refuses, or if the environment
/// describes another machine; an earlier rule holds on then. Cost: one parallel region,
/// and a system call for each member.
std::vector<std::string> pin_team(const team& threads, const pinning& how);

}  // namespace nearfar
