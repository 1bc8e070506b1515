// nearfar list: everything that is registered.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/help.hpp"
#include "apps/nearfar/shared/launch.hpp"
#include "apps/nearfar/shared/option_values.hpp"
#include "bench/benchmark.hpp"
#include "version.hpp"

namespace nearfar::command {

namespace {

/// Version of what --json prints.
constexpr const char* list_schema = "nearfar.list/1";

std::vector<std::string> worlds_of(const bench::object& of) {
  std::vector<std::string> worlds;
  if (of.exists_in(bench::world_kind::mpi)) worlds.emplace_back("mpi");
  if (of.exists_in(bench::world_kind::threads)) worlds.emplace_back("threads");
  if (of.exists_in(bench::world_kind::engine)) worlds.insert(worlds.end(), {"simulated", "checked"});
  if (of.exists_in(bench::world_kind::team)) worlds.emplace_back("team");
  return worlds;
}

/// The entries that the user wants to see; all without names and world.
class selection {
 public:
  selection(std::vector<std::string> names, std::string world)
      : names_(std::move(names)), world_(std::move(world)) {
    std::vector<std::string> known;
    for (const bench::object_kind* kind : bench::object_kinds()) {
      known.insert(known.end(), {kind->plural, kind->name});
      for (const bench::object& each : kind->objects) known.push_back(each.name);
    }
    for (const bench::benchmark& each : bench::benchmarks()) known.push_back(each.name);
    for (const std::string& name : names_)
      if (std::ranges::find(known, name) == known.end())
        throw usage_error(unknown_name("entry", name, known, "'nearfar list --plain' shows all"));
  }

  /// The kind with all that it says of itself.
  [[nodiscard]] bool takes(const bench::object_kind& kind) const {
    return names_.empty() ? !objects_of(kind).empty() : names_kind(kind);
  }
  /// Of a family, the family's name stands for all of them.
  [[nodiscard]] bool takes(const bench::object_kind& kind, const bench::object& of) const {
    if (!is_there(of)) return false;
    return names_.empty() || names_kind(kind) || names(of.name) || names(of.family());
  }
  [[nodiscard]] bool takes(const bench::benchmark& of) const {
    return std::ranges::any_of(of.kind->objects, [&](const bench::object& each) { return is_there(each); }) &&
           (names_.empty() || names(of.name) || names_kind(*of.kind));
  }
  [[nodiscard]] std::vector<const bench::object*> objects_of(const bench::object_kind& kind) const {
    std::vector<const bench::object*> taken;
    for (const bench::object& each : kind.objects)
      if (takes(kind, each)) taken.push_back(&each);
    return taken;
  }
  [[nodiscard]] std::vector<const bench::benchmark*> benchmarks() const {
    std::vector<const bench::benchmark*> taken;
    for (const bench::benchmark& each : bench::benchmarks())
      if (takes(each)) taken.push_back(&each);
    return taken;
  }

 private:
  [[nodiscard]] bool is_there(const bench::object& of) const {
    const std::vector<std::string> worlds = worlds_of(of);
    return world_.empty() || std::ranges::find(worlds, world_) != worlds.end();
  }
  [[nodiscard]] bool names(const std::string& name) const {
    return std::ranges::find(names_, name) != names_.end();
  }

  [[nodiscard]] bool names_kind(const bench::object_kind& of) const {
    return names(of.plural) || names(of.name);
  }

  std::vector<std::string> names_;
  std::string world_;
};

/// The worlds that it can be in, in words.
std::string places_of(const bench::object& of) {
  return fmt::format("{}{}", fmt::join(worlds_of(of), ", "), of.one_node_only ? "; one node" : "");
}

void print_plain(const selection& shown) {
  for (const bench::object_kind* kind : bench::object_kinds())
    for (const bench::object* each : shown.objects_of(*kind)) fmt::print("{} {}\n", kind->name, each->name);
  for (const bench::benchmark* each : shown.benchmarks()) fmt::print("benchmark {}\n", each->name);
}

void print_fact(const std::string& label, const std::string& text) {
  fmt::print("    {:<12} {}\n", label, text);
}

void print_object(const bench::object& of) {
  fmt::print("{}\n    {}\n", of.name, of.summary);
  print_fact("paper", of.paper);
  if (!of.is_sound()) print_fact("unsound", of.unsound);
  for (const auto& [label, text] : of.facts) print_fact(label, text);
  print_fact("parameters",
             of.parameters.empty() ? "none" : fmt::format("{}", fmt::join(of.parameters, ", ")));
  print_fact("worlds", places_of(of));
  fmt::print("\n");
}

void print_kind(const bench::object_kind& kind, const selection& shown) {
  const bool is_whole = shown.takes(kind);
  if (is_whole) fmt::print("{}\n\n", kind.introduction);
  for (const bench::object* each : shown.objects_of(kind)) print_object(*each);
  if (is_whole) fmt::print("{}\n\nBenchmarks of {}:\n\n", kind.remarks, kind.plural);
  bool has_some = false;
  for (const bench::benchmark* each : shown.benchmarks())
    if (each->kind == &kind) {
      fmt::print("{:<12} {}\n", each->name, each->summary);
      has_some = true;
    }
  if (is_whole || has_some) fmt::print("\n");
}

/// Of a cell of a table in Markdown, in which a bar would end it and an asterisk begin emphasis.
std::string cell(const std::string& text) {
  std::string result;
  for (const char each : text) {
    if (each == '|' || each == '*' || each == '<') result += '\\';
    result += each;
  }
  return result;
}

void print_markdown_row(const std::vector<std::string>& cells) {
  fmt::print("| {} |\n", fmt::join(cells, " | "));
}

/// All objects of a kind say the same of themselves, in the same order.
void print_markdown(const bench::object_kind& kind, const selection& shown) {
  if (shown.objects_of(kind).empty()) return;
  std::string heading = kind.title + "s";
  heading.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(heading.front())));
  fmt::print("\n## {}\n\n{}\n\n", heading, kind.introduction);
  std::vector<std::string> head{"name", "what it is"};
  for (const auto& fact : kind.objects.front().facts) head.push_back(fact.first);
  head.insert(head.end(), {"parameters", "worlds", "paper"});
  print_markdown_row(head);
  print_markdown_row(std::vector<std::string>(head.size(), "---"));
  for (const bench::object* one : shown.objects_of(kind)) {
    const bench::object& each = *one;
    std::vector<std::string> row{fmt::format("`{}`", each.name), cell(each.summary)};
    if (!each.is_sound()) row.back() += fmt::format("; **unsound**: {}", cell(each.unsound));
    for (const auto& fact : each.facts) row.push_back(cell(fact.second));
    row.insert(row.end(),
               {fmt::format("{}", fmt::join(each.parameters, ", ")), places_of(each), cell(each.paper)});
    print_markdown_row(row);
  }
  fmt::print("\n{}\n", kind.remarks);
}

void print_catalogue(const selection& shown) {
  fmt::print(
      "# Catalogue\n\nEverything that is registered, as `nearfar list --markdown` writes it. An object "
      "marked as unsound is a published form,\nkept for comparison; it runs only when it is named.\n");
  for (const bench::object_kind* kind : bench::object_kinds()) print_markdown(*kind, shown);
  fmt::print("\n## Benchmarks\n\n| name | of | what it does |\n| --- | --- | --- |\n");
  for (const bench::benchmark* each : shown.benchmarks())
    print_markdown_row({fmt::format("`{}`", each->name), each->kind->plural, cell(each->summary)});
}

void print_table(const selection& shown) {
  for (const bench::object_kind* kind : bench::object_kinds()) print_kind(*kind, shown);
}

using json = nlohmann::ordered_json;

/// With all that can be chosen, and not only what tells figures apart.
json json_of(const std::vector<bench::axis>& axes) {
  json all = json::array();
  for (const bench::axis& each : axes) {
    json one = each;
    one.update({{"option", each.option()},
                {"allowed", each.allowed()},
                {"default", bench::json_of(each.standard)},
                {"default_simulated", bench::json_of(each.simulated.value_or(each.standard))}});
    all.push_back(std::move(one));
  }
  return all;
}

json json_of(const bench::object& of) {
  json facts = json::object();
  for (const auto& [label, text] : of.facts) facts[label] = text;
  return {{"name", of.name},
          {"family", of.family()},
          {"summary", of.summary},
          {"paper", of.paper},
          {"unsound", of.is_sound() ? json(nullptr) : json(of.unsound)},
          {"facts", facts},
          {"parameters", of.parameters},
          {"worlds", worlds_of(of)},
          {"one_node_only", of.one_node_only}};
}

json json_of(const bench::object_kind& of, const selection& shown) {
  json objects = json::array();
  for (const bench::object* each : shown.objects_of(of)) objects.push_back(json_of(*each));
  return {{"name", of.name},
          {"option", "--" + of.plural},
          {"title", of.title},
          {"parameters", json_of(of.parameters)},
          {"objects", objects}};
}

json json_of(const bench::benchmark& of) {
  json one = of;
  one["axes"] = json_of(of.axes);
  json named{{"name", of.name}};
  named.update(one);
  return named;
}

void print_json(const selection& shown) {
  json kinds = json::array();
  for (const bench::object_kind* kind : bench::object_kinds())
    if (!shown.objects_of(*kind).empty()) kinds.push_back(json_of(*kind, shown));
  json benchmarks = json::array();
  for (const bench::benchmark* each : shown.benchmarks()) benchmarks.push_back(json_of(*each));
  const json all{
      {"schema", list_schema}, {"library_version", version}, {"kinds", kinds}, {"benchmarks", benchmarks}};
  fmt::print("{}\n", all.dump(2));
}

}  // namespace

void add_list(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("list", fmt::format("List {}, and all benchmarks", kinds_text(naming::all)));
  command->footer("docs/catalogue.md holds what --markdown prints.");
  auto names = std::make_shared<std::vector<std::string>>();
  auto world = std::make_shared<std::string>();
  command->add_option("names", *names,
                      "Kinds such as locks, objects, families and benchmarks (default: all)");
  command->add_option("--world", *world, "Only what exists in that world: mpi, threads, simulated or checked")
      ->check(one_of({"mpi", "threads", "simulated", "checked"}));
  auto print = std::make_shared<void (*)(const selection&)>(print_table);
  std::vector<CLI::Option*> forms;
  const auto add_form = [&](const char* flag, void (*form)(const selection&), const char* meaning) {
    CLI::Option* added = command->add_flag_callback(
        flag, [print, form] { *print = form; }, meaning);
    for (CLI::Option* other : forms) added->excludes(other);
    forms.push_back(added);
  };
  add_form("--plain", print_plain, "Print kind and name of each entry, one entry per line");
  add_form("--json", print_json, "Print everything as one JSON object (docs/results-format.md)");
  add_form("--markdown", print_catalogue, "Print one table per kind, as in docs/catalogue.md");
  command->callback([print, names, world, &status] {
    status = success;
    const selection shown(*names, *world);
    if (launch::from_environment().rank == 0) (*print)(shown);
  });
}

}  // namespace nearfar::command
