// Which functions of MPI the checker has.
#pragma once

#include <string>

namespace nearfar::program {

/// A line for each function of MPI, with "yes" or "no".
[[nodiscard]] std::string list_functions();

}  // namespace nearfar::program
