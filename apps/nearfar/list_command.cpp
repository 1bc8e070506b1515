// nearfar list: everything that is registered.

#include <fmt/format.h>

#include <cctype>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/nearfar/shared/benchmarks.hpp"
#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/launch.hpp"
#include "bench/benchmark.hpp"

namespace nearfar::command {

namespace {

std::string worlds_of(const bench::object& of) {
  std::vector<const char*> worlds;
  if (of.exists_in(bench::world_kind::mpi)) worlds.push_back("mpi");
  if (of.exists_in(bench::world_kind::threads)) worlds.push_back("threads");
  if (of.exists_in(bench::world_kind::engine)) worlds.insert(worlds.end(), {"simulated", "checked"});
  return fmt::format("{}{}", fmt::join(worlds, ", "), of.one_node_only ? "; one node" : "");
}

void print_plain() {
  for (const bench::object_kind* kind : bench::object_kinds())
    for (const bench::object& each : kind->objects) fmt::print("{} {}\n", kind->name, each.name);
  for (const bench::benchmark& each : bench::benchmarks()) fmt::print("benchmark {}\n", each.name);
  for (const benchmark_info& each : loop_benchmarks) fmt::print("benchmark {}\n", each.name);
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
    print_fact("worlds", worlds_of(each));
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
               {fmt::format("{}", fmt::join(each.parameters, ", ")), worlds_of(each), cell(each.paper)});
    print_markdown_row(row);
  }
  fmt::print("\n{}\n", kind.remarks);
}

void print_markdown() {
  fmt::print(
      "# Catalogue\n\nAll that is registered, as `nearfar list --markdown` writes it. What is marked as "
      "unsound is a published form,\n"
      "kept for comparison, and runs only when it is named.\n");
  for (const bench::object_kind* kind : bench::object_kinds()) print_markdown(*kind);
  fmt::print("\n## Benchmarks\n\n| name | of | what it does |\n| --- | --- | --- |\n");
  for (const bench::benchmark& each : bench::benchmarks())
    print_markdown_row({fmt::format("`{}`", each.name), each.kind->plural, cell(each.summary)});
  for (const benchmark_info& each : loop_benchmarks)
    print_markdown_row({fmt::format("`{}`", each.name), "loops over containers", cell(each.summary)});
}

void print_table() {
  for (const bench::object_kind* kind : bench::object_kinds()) print_kind(*kind);
  fmt::print("Benchmarks of loops over containers:\n\n");
  for (const benchmark_info& benchmark : loop_benchmarks)
    fmt::print("{:<12} {}\n", benchmark.name, benchmark.summary);
}

}  // namespace

void add_list(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("list", "Every lock with paper, fairness bound, cost and parameters");
  auto plain = std::make_shared<bool>(false);
  command->add_flag("--plain", *plain, "One line for each entry: its kind and its name");
  auto markdown = std::make_shared<bool>(false);
  command->add_flag("--markdown", *markdown, "A table for each kind: docs/catalogue.md")->excludes("--plain");
  command->callback([plain, markdown, &status] {
    status = success;
    if (launch::from_environment().rank != 0) return;
    if (*plain)
      print_plain();
    else if (*markdown)
      print_markdown();
    else
      print_table();
  });
}

}  // namespace nearfar::command
