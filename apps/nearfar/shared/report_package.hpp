/// \file
/// The Python package that draws figures and pages.
#pragma once

#include <string>
#include <vector>

namespace nearfar::command {

/// Runs a module of the package, by default that of `nearfar report`, with these arguments in Python, on this
/// process's output, and returns its status. Throws `nearfar::error` if the package or Python is missing, or
/// if Python did not run it to its end.
[[nodiscard]] int run_report_package(const std::vector<std::string>& arguments,
                                     const std::string& module = "nearfar_report");

}  // namespace nearfar::command
