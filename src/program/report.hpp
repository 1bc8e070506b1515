// Reports for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "execution.hpp"
#include "search.hpp"

namespace nearfar::program {

/// "put.c:31 (main)", for the innermost place of a site and those that called it.
[[nodiscard]] std::vector<std::string> lines_of(execution& in, const site& where);

/// The fault with its places and lines.
[[nodiscard]] std::string text_of(execution& in, const fault& what);
/// The same as JSON, with the schedule that leads to it.
[[nodiscard]] std::string json_of(execution& in, const result& what);

/// The text of a step with the function of MPI that it belongs to.
[[nodiscard]] std::string text_of(const shown_event& step);

/// A file that `--replay` reads.
void write_schedule(const std::string& path, execution& in, const result& what);
struct kept_schedule {
  settings how;
  std::string promises;  ///< as --promises takes them
  freedom under;
  schedule steps;
};
/// Throws `std::runtime_error` if the file is none.
[[nodiscard]] kept_schedule read_schedule(const std::string& path);

}  // namespace nearfar::program
