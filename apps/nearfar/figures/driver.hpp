/// \file
/// The frame of every `nearfar figures PUBLICATION`: choose parts of the publication, measure each into a
/// results file of its own in one folder, and draw the page of all files.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/nearfar/figures/claims.hpp"
#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/option_values.hpp"

namespace nearfar::command {

/// The parts that `only` names, in the publication's order; all if it names none. `name` is the member with a
/// part's name. Throws `usage_error` for an unknown name; `kind` says what a part is.
template <typename Parts, typename Name>
auto chosen_parts(const Parts& all, const std::vector<std::string>& only, std::string_view kind, Name name) {
  std::vector<std::string> known;
  for (const auto& each : all) known.emplace_back(each.*name);
  for (const std::string& one : only)
    if (std::ranges::find(known, one) == known.end()) throw usage_error(unknown_name(kind, one, known));
  std::vector<const typename Parts::value_type*> result;
  for (const auto& each : all)
    if (only.empty() || std::ranges::find(only, each.*name) != only.end()) result.push_back(&each);
  return result;
}

/// --only, with that help: the names of `all` are known to shells.
template <typename Parts, typename Name>
void add_only_option(CLI::App& command, std::vector<std::string>& only, const std::string& help,
                     const Parts& all, Name name) {
  std::vector<std::string> names;
  for (const auto& each : all) names.emplace_back(each.*name);
  complete_with(command.add_option("--only", only, help)->delimiter(','), std::move(names));
}

struct results_folder {
  std::string path;

  [[nodiscard]] std::filesystem::path file(std::string_view name) const;
  /// Whether a page can be made, and a folder for it: minutes of measuring are not to end with a page that
  /// cannot be written. A page is drawn anew if it is of results of these names that are in the folder, or if
  /// `is_replaced`. Returns the command's status, and says on stderr why it is no success.
  [[nodiscard]] int prepare(const std::vector<std::string>& names, bool is_replaced);
  /// Takes the folder away again, if `prepare` made it and nothing is in it.
  void give_up() const;
  /// Prints the verdicts, and leaves them in a file for the page. Returns its path, for the page's option
  /// --claims.
  [[nodiscard]] std::string note_claims(const std::vector<verdict_on_claim>& all) const;
  /// Draws the page. `options` and `files` are those of `nearfar report`.
  [[nodiscard]] int draw(const std::string& title, std::vector<std::string> options,
                         const std::vector<std::string>& files) const;

  bool is_new = false;
};

}  // namespace nearfar::command
