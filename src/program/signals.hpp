// Signals in the program of a rank.
#pragma once

namespace nearfar::program {

/// Makes a crash of a rank a fault of the program, and finds a rank that computes without end.
void catch_signals();

}  // namespace nearfar::program
