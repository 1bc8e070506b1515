/// \file
/// The files of machines/, embedded at build time, so that the command finds them wherever it runs.
#pragma once

#include <span>
#include <string_view>

namespace nearfar::command {

struct shipped_file {
  std::string_view path;  ///< below machines/
  std::string_view text;
};

[[nodiscard]] std::span<const shipped_file> shipped_files();

}  // namespace nearfar::command
