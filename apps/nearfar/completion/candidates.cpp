#include "apps/nearfar/completion/candidates.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "apps/nearfar/shared/machine_file.hpp"
#include "apps/nearfar/shared/option_values.hpp"
#include "bench/axis.hpp"
#include "bench/benchmark.hpp"
#include "bench/object.hpp"

namespace nearfar::command {

namespace {

/// Shells that take '=' for a word of its own hand it over as one.
std::vector<std::string> without_equal_signs(const std::vector<std::string>& words) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] != "=")
      result.push_back(words[i]);
    else if (i + 1 == words.size())
      result.emplace_back();
  }
  return result;
}

void add_choices(const std::vector<bench::axis>& of, std::string_view option, std::vector<std::string>& to) {
  for (const bench::axis& each : of)
    if (each.option() == option || each.alias == option)
      for (const std::string& choice : each.choices)
        if (std::find(to.begin(), to.end(), choice) == to.end()) to.push_back(choice);
}

/// The names that a description lists, one a line: "  lazy  inside its flush".
std::vector<std::string> listed_in(const std::string& description) {
  std::vector<std::string> result;
  for (std::size_t begin = description.find("\n  "); begin != std::string::npos;
       begin = description.find("\n  ", begin + 1)) {
    const std::size_t name = begin + 3;
    const std::size_t end = description.find("  ", name);
    if (end == std::string::npos || description.find('\n', name) < end) continue;
    result.push_back(description.substr(name, end - name));
  }
  if (result.empty()) return result;
  const std::string first = description.substr(0, description.find('\n'));
  for (const char* word : {"all", "none"})
    if (first.find(fmt::format("'{}'", word)) != std::string::npos) result.emplace_back(word);
  return result;
}

std::vector<std::string> machine_names() {
  std::vector<std::string> result;
  for (const simulation::machine& each : shipped_machines()) result.push_back(each.name);
  return result;
}

/// Kinds, objects and benchmarks.
std::vector<std::string> entries_of_list() {
  std::vector<std::string> result;
  for (const bench::object_kind* kind : bench::object_kinds()) {
    result.push_back(kind->plural);
    for (std::string& name : kind->names()) result.push_back(std::move(name));
  }
  for (const bench::benchmark& each : bench::benchmarks()) result.push_back(each.name);
  return result;
}

/// Of a subcommand's argument that is no option.
std::vector<std::string> arguments_of(const CLI::App& of) {
  if (of.get_name() == "list") return entries_of_list();
  if (of.get_name() == "completion") return {"bash", "zsh", "fish"};
  if (of.get_name() == "machines") return machine_names();
  return {};
}

std::vector<std::string> worlds_of(const std::string& subcommand, const CLI::App* parent) {
  if (subcommand == "list") return {"mpi", "threads", "simulated", "checked"};
  if (subcommand == "sweep") return {"mpi", "threads", "simulated"};
  if (parent != nullptr && parent->get_name() == "figures") return {"simulated", "mpi"};
  return {"mpi", "threads"};
}

/// Those that are known by name, of an option of that subcommand: a benchmark's are of its kind of objects.
std::vector<std::string> values_of(const std::string& option, const CLI::App& of) {
  const std::string& subcommand = of.get_name();
  std::vector<std::string> result;
  if (const CLI::Option* const known = of.get_option_no_throw(option)) {
    result = completed_names(known);
    if (result.empty()) result = listed_in(known->get_description());
  }
  if (!result.empty()) return result;
  const auto& all = bench::benchmarks();
  const auto named =
      std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == subcommand; });
  for (const bench::object_kind* kind : bench::object_kinds()) {
    if (named != all.end() && named->kind != kind) continue;
    if (option == "--" + kind->plural)
      for (std::string& name : kind->names()) result.push_back(std::move(name));
    add_choices(kind->parameters, option, result);
  }
  for (const bench::benchmark& each : all)
    if (named == all.end() || each.name == subcommand) add_choices(each.axes, option, result);
  if (option == "--world") result = worlds_of(subcommand, of.get_parent());
  if (option == "--pin") result = {"none", "compact", "scatter", "cache", "numa"};
  if (option == "--placement") result = {"first-touch", "interleave", "bind:0"};
  if (option == "--init") result = {"parallel", "serial"};
  if (option == "--format") result = {"table", "osu"};
  if (option == "--machine") {
    result = machine_names();
    result.insert(result.begin(), "this-machine");
  }
  return result;
}

/// Those that what was typed begins, with what stands before the last comma of it.
std::vector<std::string> fitting(std::vector<std::string> values, std::string_view typed,
                                 const std::string& before) {
  const std::size_t comma = typed.rfind(',');
  const std::string_view done = comma == std::string_view::npos ? "" : typed.substr(0, comma + 1);
  const std::string_view begun = typed.substr(done.size());
  std::vector<std::string> result;
  for (const std::string& value : values)
    if (value.starts_with(begun)) result.push_back(std::string(before).append(done).append(value));
  return result;
}

}  // namespace

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> result;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) result.push_back("--" + name);
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_snames()) result.push_back("-" + name);
  return result;
}

std::vector<std::string> completion_candidates(const CLI::App& app, const std::vector<std::string>& words) {
  const std::vector<std::string> typed = without_equal_signs(words);
  const CLI::App* within = &app;
  std::string expects_value;  // the option before the last word
  for (std::size_t i = 0; i + 1 < typed.size(); ++i) {
    const std::string& word = typed[i];
    const CLI::Option* option = word.starts_with("--") ? within->get_option_no_throw(word) : nullptr;
    expects_value = option != nullptr && option->get_items_expected_max() > 0 ? word : "";
    for (const CLI::App* each : within->get_subcommands({}))
      if (each->get_name() == word) within = each;
  }
  const std::string last = typed.empty() ? "" : typed.back();
  if (!expects_value.empty()) return fitting(values_of(expects_value, *within), last, "");
  if (const std::size_t equals = last.find('='); last.starts_with("--") && equals != std::string::npos) {
    const std::string option = last.substr(0, equals);
    return fitting(values_of(option, *within), last.substr(equals + 1), option + "=");
  }
  std::vector<std::string> names;
  if (last.starts_with("-")) {
    names = option_names(*within);
  } else {
    for (const CLI::App* each : within->get_subcommands({}))
      if (!each->get_group().empty()) names.push_back(each->get_name());
    if (within == &app && typed.size() < 2) names.emplace_back("help");
    for (std::string& name : arguments_of(*within)) names.push_back(std::move(name));
  }
  return fitting(std::move(names), last, "");
}

}  // namespace nearfar::command
