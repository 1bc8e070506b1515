// Signals in the program of a rank.
#pragma once

#include <atomic>

namespace nearfar::program {

/// A rank has taken no step for long, and is to be given up at its next access.
extern std::atomic<bool> is_spent;
/// Gives the running rank up, whose access is at `place`.
[[noreturn]] void give_up_spent(const void* place);

/// Makes a crash of a rank a fault of the program, and finds a rank that computes without end.
void catch_signals();

}  // namespace nearfar::program
