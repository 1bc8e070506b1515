// nearfar list: everything that is registered.

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/nearfar/shared/benchmarks.hpp"
#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/launch.hpp"
#include "bench/catalogue.hpp"

namespace nearfar::command {

namespace {

std::string worlds_of(const bench::lock_entry& entry) {
  std::vector<const char*> worlds;
  if (entry.exists_in<mpi::world>()) worlds.push_back("mpi");
  if (entry.exists_in<threads::world>()) worlds.push_back("threads");
  if (entry.exists_in<engine::world>()) worlds.insert(worlds.end(), {"simulated", "checked"});
  return fmt::format("{}{}", fmt::join(worlds, ", "), entry.one_node_only ? "; one node" : "");
}

void print_plain() {
  for (const bench::lock_entry& entry : bench::catalogue::instance().entries())
    fmt::print("lock {}\n", entry.name);
  for (const benchmark_info& benchmark : lock_benchmarks) fmt::print("benchmark {}\n", benchmark.name);
  for (const benchmark_info& benchmark : loop_benchmarks) fmt::print("benchmark {}\n", benchmark.name);
}

void print_table() {
  fmt::print(
      "Locks. 'family' is the recommended setting, 'family.variant' another policy. Unsound ones are "
      "published "
      "forms that\nmay hang or let two ranks in: they run only when named.\n\n");
  for (const bench::lock_entry& entry : bench::catalogue::instance().entries()) {
    fmt::print("{}\n    {}\n", entry.name, entry.summary);
    fmt::print("    paper        {}\n", entry.paper);
    if (!entry.is_sound()) fmt::print("    unsound      {}\n", entry.unsound);
    fmt::print("    fairness     {}\n", entry.fairness);
    fmt::print("    far ops      {}\n", entry.cost);
    fmt::print("    parameters   {}\n",
               entry.parameters.empty() ? "none" : fmt::format("{}", fmt::join(entry.parameters, ", ")));
    fmt::print("    worlds       {}\n\n", worlds_of(entry));
  }
  fmt::print(
      "Far operations: uncontended lock and unlock; contended, each with its flush. 'At home' means to the "
      "lock's\n"
      "home rank, 'in the node' to a rank of the same node by RMA.\n\nBenchmarks of locks:\n\n");
  for (const benchmark_info& benchmark : lock_benchmarks)
    fmt::print("{:<12} {}\n", benchmark.name, benchmark.summary);
  fmt::print("\nBenchmarks of loops over containers:\n\n");
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
