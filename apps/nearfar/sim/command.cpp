// nearfar sim: the benchmark suite on a simulated cluster, in virtual time.

#include "apps/nearfar/shared/command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "apps/nearfar/shared/help.hpp"
#include "apps/nearfar/shared/launch.hpp"
#include "apps/nearfar/shared/machine_file.hpp"
#include "apps/nearfar/sim/subcommands.hpp"
#include "apps/nearfar/study/options.hpp"
#include "apps/nearfar/study/plan.hpp"
#include "apps/nearfar/study/simulated_cluster.hpp"

namespace nearfar::command {

namespace {

constexpr int default_repetitions = 3;

struct sim_options {
  plan what;
  benchmark_request asked;
  shape_options shapes;
};

int run_sim(sim_options options) {
  options.asked.shapes = options.shapes.on_clusters();
  options.what.requests = {options.asked};
  choose_mode(options.what);
  return run(options.what);
}

void add_benchmark(CLI::App& sim, int& status, const bench::benchmark& benchmark) {
  CLI::App* command = sim.add_subcommand(benchmark.name, benchmark.summary);
  auto options = std::make_shared<sim_options>();
  options->what.world = "simulated";
  options->what.title = benchmark.name;
  options->what.repetitions = default_repetitions;
  options->what.machine = default_machine;
  options->asked.benchmark = &benchmark;
  command
      ->add_option("--machine", options->what.machine,
                   "Name from 'nearfar sim machines', or a machine description file")
      ->capture_default_str();
  add_list(*command, "--nodes", options->shapes.nodes, "Number of nodes")
      ->type_name("N")
      ->capture_default_str();
  add_list(*command, "--ranks-per-node", options->shapes.ranks_per_node,
           "Number of ranks per node, at most the cores of a node")
      ->type_name("N")
      ->capture_default_str();
  add_request_options(*command, options->asked, true);
  add_plan_options(*command, options->what, "Seed of the simulation; the same seed gives the same samples");
  command->footer(
      "Lists such as --nodes 1,2,4 simulate every combination. Durations are virtual time. docs/sweeps.md "
      "explains the options, docs/simulation.md the model.");
  command->callback([options, &status] { status = run_sim(*options); });
}

int list_machines() {
  if (launch::from_environment().rank != 0) return success;
  for (const simulation::machine& machine : shipped_machines())
    fmt::print("{}\n    {}\n    one node: {}\n\n", machine.name, machine.description,
               topology_text(machine.node, 1).substr(std::string("node:1 ").size()));
  return success;
}

void add_machines(CLI::App& sim, int& status) {
  CLI::App* command =
      sim.add_subcommand("machines", "Print the machines that nearfar knows, or the description file of one");
  auto shown = std::make_shared<std::string>();
  command->add_option("machine", *shown,
                      "Machine whose description file is printed, as a start for another one");
  command->callback([shown, &status] {
    if (shown->empty())
      status = list_machines();
    else if (launch::from_environment().rank == 0)
      fmt::print("{}", to_text(find_machine(*shown)));
  });
}

}  // namespace

void add_sim(CLI::App& app, int& status) {
  CLI::App* sim = app.add_subcommand(
      "sim", fmt::format("Simulate {} on a cluster, in virtual time", kinds_text(naming::simulated)));
  sim->footer("docs/simulation.md describes the model and its machines.");
  sim->require_subcommand(1);
  for (const bench::benchmark& benchmark : bench::benchmarks())
    if (!benchmark.is_of_teams() && can_be_simulated(*benchmark.kind)) add_benchmark(*sim, status, benchmark);
  add_machines(*sim, status);
  add_sim_compose(*sim, status);
  add_sim_compare(*sim, status);
  add_sim_fit(*sim, status);
}

}  // namespace nearfar::command
