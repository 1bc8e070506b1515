// How the program of a rank ends, and what it leaves open.
#pragma once

#include <cstdio>

#include "rank.hpp"

namespace nearfar::program {

/// The running rank's program returns from main or exits. Called as the program.
[[noreturn]] void finish_program(int code, const void* caller);
void note_opened(std::FILE* file);
void note_closed(std::FILE* file) noexcept;

/// Makes standard input one that can be read again.
void keep_input();
/// The files that are open now stay open in all executions.
void keep_files();
/// Closes what the last execution has left open, and goes back to the begin of standard input.
void begin_files_anew() noexcept;

}  // namespace nearfar::program
