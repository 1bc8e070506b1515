/// \file
/// Other people's MPI programs: the words of the command line that another program carries out.
#pragma once

#include <string>
#include <vector>

namespace nearfar::command {

/// Whether the words are for nearfar-program: `run ...`, `check ... -- PROGRAM`, `check --replay` of its
/// schedules.
[[nodiscard]] bool is_for_program(const std::vector<std::string>& words);
/// Becomes nearfar-program. Throws `error` if it cannot.
[[noreturn]] void become_runner(const std::vector<std::string>& words);

}  // namespace nearfar::command
