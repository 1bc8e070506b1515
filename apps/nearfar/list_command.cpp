// nearfar list: everything that is registered.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/nearfar/shared/benchmarks.hpp"
#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/help.hpp"
#include "apps/nearfar/shared/launch.hpp"
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
  return worlds;
}

/// The worlds that it can be in, in words.
std::string places_of(const bench::object& of) {
  return fmt::format("{}{}", fmt::join(worlds_of(of), ", "), of.one_node_only ? "; one node" : "");
}

void print_plain() {
  for (const bench::object_kind* kind : bench::object_kinds())
    for (const bench::object& each : kind->objects) fmt::print("{} {}\n", kind->name, each.name);
  for (const bench::benchmark& each : bench::benchmarks()) fmt::print("benchmark {}\n", each.name);
  for (const benchmark_info& each : loop_benchmarks()) fmt::print("benchmark {}\n", each.name);
}

void print_fact(const std::string& label, const std::string& text) {
  fmt::print("    {:<12} {}\n", label, text);
}

void print_kind(const bench::object_kind& kind) {
  fmt::print("{}\n\n", kind.introduction);
  for (const bench::object& each : kind.objects) {
    fmt::print("{}\n    {}\n", each.name, each.summary);
    print_fact("paper", each.paper);
    if (!each.is_sound()) print_fact("unsound", each.unsound);
    for (const auto& [label, text] : each.facts) print_fact(label, text);
    print_fact("parameters",
               each.parameters.empty() ? "none" : fmt::format("{}", fmt::join(each.parameters, ", ")));
    print_fact("worlds", places_of(each));
    fmt::print("\n");
  }
  fmt::print("{}\n\nBenchmarks of {}:\n\n", kind.remarks, kind.plural);
  for (const bench::benchmark& each : bench::benchmarks())
    if (each.kind == &kind) fmt::print("{:<12} {}\n", each.name, each.summary);
  fmt::print("\n");
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
void print_markdown(const bench::object_kind& kind) {
  std::string heading = kind.title + "s";
  heading.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(heading.front())));
  fmt::print("\n## {}\n\n{}\n\n", heading, kind.introduction);
  std::vector<std::string> head{"name", "what it is"};
  for (const auto& fact : kind.objects.front().facts) head.push_back(fact.first);
  head.insert(head.end(), {"parameters", "worlds", "paper"});
  print_markdown_row(head);
  print_markdown_row(std::vector<std::string>(head.size(), "---"));
  for (const bench::object& each : kind.objects) {
    std::vector<std::string> row{fmt::format("`{}`", each.name), cell(each.summary)};
    if (!each.is_sound()) row.back() += fmt::format("; **unsound**: {}", cell(each.unsound));
    for (const auto& fact : each.facts) row.push_back(cell(fact.second));
    row.insert(row.end(),
               {fmt::format("{}", fmt::join(each.parameters, ", ")), places_of(each), cell(each.paper)});
    print_markdown_row(row);
  }
  fmt::print("\n{}\n", kind.remarks);
}

void print_catalogue() {
  fmt::print(
      "# Catalogue\n\nEverything that is registered, as `nearfar list --markdown` writes it. An object "
      "marked as unsound is a published form,\nkept for comparison; it runs only when it is named.\n");
  for (const bench::object_kind* kind : bench::object_kinds()) print_markdown(*kind);
  fmt::print("\n## Benchmarks\n\n| name | of | what it does |\n| --- | --- | --- |\n");
  for (const bench::benchmark& each : bench::benchmarks())
    print_markdown_row({fmt::format("`{}`", each.name), each.kind->plural, cell(each.summary)});
  for (const benchmark_info& each : loop_benchmarks())
    print_markdown_row({fmt::format("`{}`", each.name), "loops over containers", cell(each.summary)});
}

void print_table() {
  for (const bench::object_kind* kind : bench::object_kinds()) print_kind(*kind);
  if (loop_benchmarks().empty()) return;
  fmt::print("Benchmarks of loops over containers:\n\n");
  for (const benchmark_info& benchmark : loop_benchmarks())
    fmt::print("{:<12} {}\n", benchmark.name, benchmark.summary);
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

json json_of(const bench::object_kind& of) {
  json objects = json::array();
  for (const bench::object& each : of.objects) objects.push_back(json_of(each));
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

void print_json() {
  json kinds = json::array();
  for (const bench::object_kind* kind : bench::object_kinds()) kinds.push_back(json_of(*kind));
  json benchmarks = json::array();
  for (const bench::benchmark& each : bench::benchmarks()) benchmarks.push_back(json_of(each));
  json loops = json::array();
  for (const benchmark_info& each : loop_benchmarks())
    loops.push_back({{"name", each.name}, {"summary", each.summary}});
  const json all{{"schema", list_schema},
                 {"library_version", version},
                 {"kinds", kinds},
                 {"benchmarks", benchmarks},
                 {"loop_benchmarks", loops}};
  fmt::print("{}\n", all.dump(2));
}

}  // namespace

void add_list(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("list", fmt::format("List {}, and all benchmarks", kinds_text(naming::all)));
  command->footer("docs/catalogue.md holds what --markdown prints.");
  auto print = std::make_shared<void (*)()>(print_table);
  std::vector<CLI::Option*> forms;
  const auto add_form = [&](const char* flag, void (*form)(), const char* meaning) {
    CLI::Option* added = command->add_flag_callback(
        flag, [print, form] { *print = form; }, meaning);
    for (CLI::Option* other : forms) added->excludes(other);
    forms.push_back(added);
  };
  add_form("--plain", print_plain, "Print kind and name of each entry, one entry per line");
  add_form("--json", print_json, "Print everything as one JSON object (docs/results-format.md)");
  add_form("--markdown", print_catalogue, "Print one table per kind, as in docs/catalogue.md");
  command->callback([print, &status] {
    status = success;
    if (launch::from_environment().rank == 0) (*print)();
  });
}

}  // namespace nearfar::command
