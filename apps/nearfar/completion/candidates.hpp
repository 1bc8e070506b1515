/// \file
/// The possible completions of the word that a user is typing.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace nearfar::command {

/// The words that the last of `words` may become, of those that follow "nearfar": subcommands, options, and
/// values of options, within a list those after its last comma. Empty where only files would do.
[[nodiscard]] std::vector<std::string> completion_candidates(const CLI::App& app,
                                                             const std::vector<std::string>& words);

/// The long options of a subcommand, each with its dashes.
[[nodiscard]] std::vector<std::string> option_names(const CLI::App& app);

}  // namespace nearfar::command
