/// \file
/// Variables of the environment that change what is measured.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace nearfar::command {

/// How the command treats a variable.
enum class treatment {
  ignored,   ///< removed before the library that reads it starts
  refused,   ///< the command ends, and names it, where it counts
  kept,      ///< it bends figures; the doctor warns of it
  setting,   ///< it chooses what is measured
  launchers  ///< only the launcher reads it, or sets it in every rank: of no interest
};

/// A row of the command's table of variables. The first row that fits a name counts.
struct influence {
  std::string_view name;   ///< of all that begin with it, if a * ends it
  std::string_view bends;  ///< its effect, as in "NAME=value: ..."
  treatment does;
};

struct found_variable {
  const influence* what;
  std::string name;
  std::string value;
  bool is_ignored;
};

/// The variables of the command's table that this process was started with, in the table's order: neither
/// empty ones nor those that the launcher sets.
[[nodiscard]] std::vector<found_variable> variables_found();

/// Their names and values, for records.
[[nodiscard]] nlohmann::ordered_json variables_record();

/// The first rank says, once, which variables were ignored. Commands that measure or show places call it
/// before.
void say_ignored_variables();

/// "HWLOC_SYNTHETIC describes another machine", where hwloc says that the machine is another.
[[nodiscard]] std::string other_machine_text();

}  // namespace nearfar::command
