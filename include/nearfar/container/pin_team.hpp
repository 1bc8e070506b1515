/// \file
/// Binds the threads of a team to CPUs, so that memory near them stays near.
///
/// Source: H. Stengel, diploma thesis, Georg-Simon-Ohm-Fachhochschule Nürnberg, 2007, section 2.2.
#pragma once

#include <string>
#include <vector>

#include "nearfar/container/team.hpp"
#include "nearfar/topology/pinning.hpp"

namespace nearfar {

/// Binds member i of `threads`, the calling thread being member 0, to the CPUs that `how` gives thread i on
/// `this_machine()`. Returns the binding of each member as the system reports it afterwards: "core 3".
///
/// The binding also holds for all later teams of the calling thread, including larger ones: OpenMP ends
/// threads when a team gets smaller, and the threads that replace them are bound when they first take part in
/// a team. New threads that first meet a `#pragma omp parallel` of the user's own are not bound. The rule
/// `none` ends the binding, and gives the threads of the team all CPUs of the process again; without an
/// earlier `pin_team` it changes nothing.
///
/// Threads that the calling thread starts afterwards inherit its binding. Leave OMP_PROC_BIND and OMP_PLACES
/// unset: with them OpenMP binds by itself, and binds the calling thread before `main`, so that only its CPUs
/// are left.
///
/// Throws `topology_error` if a CPU of the rule does not exist, if the system refuses, or if the environment
/// describes another machine; an earlier rule then stays in force. Cost: one parallel region, and a system
/// call for each member.
std::vector<std::string> pin_team(const team& threads, const pinning& how);

}  // namespace nearfar
