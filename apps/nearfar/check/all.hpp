/// \file
/// Every registered lock, every shape, every mode, and every queue, map and channel with its usual plan, as
/// one table.
#pragma once

#include <string>

#include "apps/nearfar/check/results.hpp"

namespace nearfar::command {

struct check_all_options {
  bool quick = false;
  bool prints_json = false;
  check_files files;
  /// A file in which the table takes the place of the one between the markers; empty: none.
  std::string markdown;
};

/// Returns the command's status.
[[nodiscard]] int check_all(const check_all_options& options);

}  // namespace nearfar::command
