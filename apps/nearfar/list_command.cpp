// nearfar list: everything that is registered.

#include <fmt/format.h>

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
  command->callback([plain, &status] {
    status = success;
    if (launch::from_environment().rank != 0) return;
    *plain ? print_plain() : print_table();
  });
}

}  // namespace nearfar::command
