/// \file
/// Machine description files: JSON, schema "nearfar.machine/1".
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "nearfar/simulation/machine.hpp"

namespace nearfar::command {

/// Version of the format; a reader refuses any other.
inline constexpr const char* machine_schema = "nearfar.machine/1";

/// Reads `text`. Throws `usage_error` that names `file`, line and field for whatever is missing, unknown,
/// mistyped or out of range: "x.json:12: 'near.same_cache' is negative".
[[nodiscard]] simulation::machine parse_machine(std::string_view text, const std::string& file);
[[nodiscard]] simulation::machine read_machine(const std::filesystem::path& path);

[[nodiscard]] nlohmann::ordered_json to_json(const simulation::machine& from);
/// The text of a machine file, for people: one line for each group of numbers.
[[nodiscard]] std::string to_text(const simulation::machine& from);
// For `bench::output_file`: the mark in the first line of existing machine files, and the name of their kind.
inline constexpr std::string_view machine_mark = "\"nearfar.machine/";
inline constexpr std::string_view machine_kind = "nearfar machine description";

/// The machines that the command brings with it.
[[nodiscard]] const std::vector<simulation::machine>& shipped_machines();
/// A shipped machine of that name, "this-machine" as measured into the current folder, or else the one in the
/// file of that name. Throws `usage_error`.
[[nodiscard]] simulation::machine find_machine(const std::string& name_or_file);

}  // namespace nearfar::command
