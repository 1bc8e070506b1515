// nearfar sim: the benchmark suite on a simulated cluster, in virtual time.

#include "apps/nearfar/shared/command.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "apps/nearfar/shared/benchmarks.hpp"
#include "apps/nearfar/shared/launch.hpp"
#include "apps/nearfar/shared/machine_file.hpp"
#include "apps/nearfar/shared/suite.hpp"
#include "apps/nearfar/sim/simulated.hpp"
#include "nearfar/simulation/cluster.hpp"
#include "nearfar/topology/spec.hpp"

namespace nearfar::command {

namespace {

/// Virtual seconds: some ten thousand acquisitions of the slower locks.
constexpr double default_duration = 0.02;
constexpr int default_repetitions = 3;
/// In virtual time every lock of the UPB costs the same.
constexpr int default_lock_count = 50;

struct sim_options : suite_options {
  std::string machine;
  cluster_shape shape;
};

std::string topology_text(const simulation::node_shape& node, int nodes) {
  std::string text = fmt::format("node:{}", nodes);
  if (node.package > 0) text += fmt::format(" package:{}", node.package);
  if (node.numa > 0) text += fmt::format(" numa:{}", node.numa);
  if (node.cache > 0) text += fmt::format(" cache:{}", node.cache);
  return text + fmt::format(" core:{}", node.core);
}

int run_sim(sim_options options) {
  complete(options);
  if (launch::from_environment().rank != 0) return success;
  const simulation::machine machine = find_machine(options.machine);
  const locality where = locality_of(machine, options.shape);
  const auto locks = choose_locks<engine::world>(options, where, true);
  suite_output output(options);
  output.open({.benchmark = options.benchmark,
               .world = "simulated",
               .topology = where.tree_text(),
               .binding = {},
               .oversubscribed = false,
               .seed = options.seed,
               .start_time = utc_time(),
               .machine = to_json(machine)},
              machine.name, locks, where);
  output.end_if_lost();
  for (int repetition = 0; repetition < options.repetitions; ++repetition) {
    // A cluster for each lock and repetition: no result depends on what else was asked for.
    for (const bench::lock_entry* lock : locks) {
      simulation::run(
          machine, where,
          [&](engine::world& w) {
            suite<engine::world>(w, options, w.rank() == 0 ? &output : nullptr)
                .measure({lock}, repetition, repetition + 1);
          },
          {.seed = seed_of(options.seed, repetition), .bytes = bytes_for_locks(options.lock_count)});
      output.end_if_lost();
    }
  }
  output.close();
  output.end_if_lost();
  return output.report();
}

void add_benchmark(CLI::App& sim, int& status, const benchmark_info& benchmark) {
  CLI::App* command = sim.add_subcommand(benchmark.name, benchmark.summary);
  auto options = std::make_shared<sim_options>();
  options->benchmark = benchmark.name;
  options->duration = default_duration;
  options->repetitions = default_repetitions;
  options->lock_count = default_lock_count;
  options->machine = "coolmuc2";
  command
      ->add_option("--machine", options->machine,
                   "Name as 'nearfar sim machines' shows, or a machine description file")
      ->capture_default_str();
  command->add_option("--nodes", options->shape.nodes, "Nodes of the cluster")->capture_default_str();
  command
      ->add_option("--ranks-per-node", options->shape.ranks_per_node,
                   "Ranks on each node, at most one on each of the machine's cores")
      ->capture_default_str();
  add_suite_options(*command, *options, "Seed of the simulation; the same seed gives the same samples");
  command->footer("Durations are virtual time; docs/simulation.md describes the model.");
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
  CLI::App* command = sim.add_subcommand("machines", "The machines that nearfar knows; or one as a file");
  auto shown = std::make_shared<std::string>();
  command->add_option("machine", *shown, "Print this machine's description file, to start one's own from");
  command->callback([shown, &status] {
    if (shown->empty())
      status = list_machines();
    else if (launch::from_environment().rank == 0)
      fmt::print("{}", to_text(find_machine(*shown)));
  });
}

}  // namespace

locality locality_of(const simulation::machine& machine, cluster_shape shape) {
  constexpr int most_ranks = 65536;
  if (shape.nodes < 1) throw usage_error(fmt::format("--nodes must be 1 or more, not {}", shape.nodes));
  if (shape.ranks_per_node < 1)
    throw usage_error(fmt::format("--ranks-per-node must be 1 or more, not {}", shape.ranks_per_node));
  const int cores = topology_spec::parse(topology_text(machine.node, 1)).places();
  if (shape.ranks_per_node > cores)
    throw usage_error(fmt::format("--ranks-per-node {} does not fit machine '{}', which has {} cores a node",
                                  shape.ranks_per_node, machine.name, cores));
  if (shape.nodes > most_ranks / shape.ranks_per_node)
    throw usage_error(fmt::format("{} nodes of {} ranks are more than {} ranks", shape.nodes,
                                  shape.ranks_per_node, most_ranks));
  return topology_spec::parse(topology_text(machine.node, shape.nodes))
      .place(shape.nodes * shape.ranks_per_node);
}

std::size_t bytes_for_locks(int count) {
  constexpr std::size_t at_least = std::size_t{1} << 20U;
  constexpr std::size_t of_one_lock = std::size_t{4} << 10U;
  return std::max(at_least, static_cast<std::size_t>(count) * of_one_lock);
}

std::uint64_t seed_of(std::uint64_t seed, int repetition) {
  // SplitMix64's output function.
  std::uint64_t mixed = seed + 0x9E3779B97F4A7C15ULL * (static_cast<std::uint64_t>(repetition) + 1);
  mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBULL;
  return mixed ^ (mixed >> 31U);
}

void add_sim(CLI::App& app, int& status) {
  CLI::App* sim = app.add_subcommand(
      "sim", "Measure locks on a simulated cluster, in virtual time; fit its description to measurements");
  sim->require_subcommand(1);
  for (const benchmark_info& benchmark : lock_benchmarks) add_benchmark(*sim, status, benchmark);
  add_machines(*sim, status);
  add_sim_compare(*sim, status);
  add_sim_fit(*sim, status);
}

}  // namespace nearfar::command
