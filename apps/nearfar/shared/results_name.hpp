/// \file
/// The name of a file that results are to be written to.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "apps/nearfar/shared/command.hpp"

namespace nearfar::command {

/// Throws `usage_error` for a name that promises another format than is written.
inline void check_results_name(const std::string& name) {
  if (std::filesystem::path(name).extension() == ".csv")
    throw usage_error(
        fmt::format("--output {}: results are JSON Lines; name a file .jsonl, whose samples 'nearfar report "
                    "--csv FILE' prints as CSV",
                    name));
}

}  // namespace nearfar::command
