/// \file
/// Input files that users name.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "apps/nearfar/shared/command.hpp"

namespace nearfar::command {

/// Throws `usage_error` for devices, pipes and sockets, of which a reader may not see the end.
inline void refuse_irregular(const std::string& file) {
  std::error_code ignored;
  if (std::filesystem::is_other(file, ignored))
    throw usage_error(fmt::format("cannot read '{}': it is not a regular file: choose another name", file));
}

}  // namespace nearfar::command
