// Loops in which a rank waits, such as a poll of a flag: a search would repeat their turns for ever.
#pragma once

#include "execution.hpp"

namespace nearfar::program {

/// If the last turns of the rank were alike and changed nothing, the rank sleeps here until something that it
/// has read changes. Where no other process can go on, it may also take further turns: the loop may count.
void sleep_if_looping(rank& self);

/// The step of the rank may begin or end its wait outside MPI.
void touch_help(footprint& to, const rank& of);

/// Keeps a step of the rank, or of one of its operations.
void note_turn(rank& of, const turn_step& one);

/// The rank has got on: what it did before is no turn of a loop that waits.
void forget_turns(rank& of) noexcept;

}  // namespace nearfar::program
