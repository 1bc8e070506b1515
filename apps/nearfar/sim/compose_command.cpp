// nearfar sim compose: the best composition of locks for a machine.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/kept_work.hpp"
#include "apps/nearfar/shared/launch.hpp"
#include "apps/nearfar/shared/machine_file.hpp"
#include "apps/nearfar/shared/progress_bar.hpp"
#include "apps/nearfar/sim/compositions.hpp"
#include "apps/nearfar/sim/subcommands.hpp"
#include "apps/nearfar/study/options.hpp"
#include "apps/nearfar/study/plan.hpp"
#include "apps/nearfar/study/simulated_cluster.hpp"
#include "nearfar/lock/lock_tree.hpp"
#include "nearfar/topology/spec.hpp"
#include "version.hpp"

namespace nearfar::command {

namespace {

/// Version of what --json prints.
constexpr const char* compositions_schema = "nearfar.compositions/1";

struct compose_options {
  std::string machine = default_machine;
  std::string nodes = "2";
  shape_options shapes{.ranks = {}, .nodes = {}, .ranks_per_node = {}};
  std::vector<std::string> locks;
  std::vector<std::string> levels;
  std::string max_local_passes;
  std::string duration;
  std::uint64_t seed = 1;
  bool prints_json = false;
};

/// The compositions of two and of more levels.
std::vector<std::string> composed_locks() {
  std::vector<std::string> names;
  for (const bench::object& each : bench::locks().objects)
    if (each.is_sound() && (each.family() == "cohort" || each.family() == "clof")) names.push_back(each.name);
  return names;
}

/// From one rank up to one for each core of a node, each time twice as many.
std::vector<std::string> doubled_ranks(const simulation::machine& machine) {
  const int cores = topology_spec::parse(topology_text(machine.node, 1)).places();
  std::vector<std::string> result;
  for (int ranks = 1; ranks < cores; ranks *= 2) result.push_back(std::to_string(ranks));
  result.push_back(std::to_string(cores));
  return result;
}

/// Each level that divides nodes differently from the level outside it, where all ranks are there.
std::vector<std::string> dividing_levels(const locality& where) {
  std::vector<std::string> result;
  const lock_tree distinguished = lock_tree::inside_nodes(where);
  for (const tree_level& each : distinguished.levels()) result.emplace_back(name(each.at));
  if (result.empty()) result.emplace_back("none");
  return result;
}

benchmark_request request_of(const compose_options& options, const simulation::machine& machine) {
  shape_options shapes = options.shapes;
  shapes.nodes = {options.nodes};
  if (shapes.ranks_per_node.empty()) shapes.ranks_per_node = doubled_ranks(machine);
  benchmark_request asked{.benchmark = bench::find_benchmark("ecsb"),
                          .objects = options.locks.empty() ? composed_locks() : options.locks,
                          .values = {{"levels", options.levels}},
                          .shapes = shapes.on_clusters()};
  const auto give = [&](const char* axis, const std::string& text) {
    if (!text.empty()) asked.values[axis] = {text};
  };
  give("max_local_passes", options.max_local_passes);
  give("duration", options.duration);
  const shape& most = *std::ranges::max_element(asked.shapes, {}, &shape::ranks_per_node);
  const locality where = locality_of(machine, {.nodes = most.nodes, .ranks_per_node = most.ranks_per_node});
  if (options.levels.empty()) asked.values["levels"] = dividing_levels(where);
  return asked;
}

/// Leaves out what nobody named and what cannot run. Throws `usage_error` for what was named.
std::vector<configuration> playable(std::vector<configuration> all, const simulation::machine& machine) {
  const shape& most = std::ranges::max_element(all, {}, [](const configuration& each) {
                        return each.where.ranks_per_node;
                      })->where;
  const locality where = locality_of(machine, {.nodes = most.nodes, .ranks_per_node = most.ranks_per_node});
  std::erase_if(all, [&](const configuration& each) {
    const bench::object& of = *each.object;
    std::string why;
    if (!of.exists_in(bench::world_kind::engine)) why = "it does not exist in the simulation";
    if (of.one_node_only && most.nodes > 1)
      why = fmt::format("it works on one node only, and there are {} nodes", most.nodes);
    if (why.empty()) why = bench::locks().lacking(of, each.at(), where);
    if (!why.empty() && each.is_named)
      throw usage_error(fmt::format("cannot run lock '{}': {}", of.name, why));
    return !why.empty();
  });
  if (all.empty())
    throw usage_error("none of the chosen locks can run here; 'nearfar list' shows the worlds of each");
  return all;
}

/// Throws `usage_error` for an option that no chosen lock has.
void refuse_unused(const std::vector<configuration>& all, const char* option, const char* parameter) {
  if (std::ranges::none_of(all, [&](const configuration& each) { return each.parameters.has(parameter); }))
    throw usage_error(fmt::format("none of the chosen locks has {}; leave it out", option));
}

void print_judged(std::vector<composition> all, const simulation::machine& machine, const configuration& of,
                  const compose_options& options) {
  judge(all);
  const double duration = of.axes.real("duration");
  if (options.prints_json) {
    nlohmann::ordered_json result{{"schema", compositions_schema}, {"library_version", version},
                                  {"machine", machine.name},       {"nodes", of.where.nodes},
                                  {"duration", duration},          {"seed", options.seed}};
    result.update(json_of(all));
    fmt::print("{}\n", result.dump(2));
    return;
  }
  fmt::print(
      "# machine {}, {} nodes, ECSB of {} s in virtual time, seed {}\n"
      "# ns: from one acquisition to the next, by ranks per node; cv: variation of progress with the most "
      "ranks\n"
      "# low, high: throughput / best fair throughput, averaged; low weights few ranks, high many\n{}",
      machine.name, of.where.nodes, duration, options.seed, table_of(all));
}

int run_compose(const compose_options& options) {
  if (launch::from_environment().rank != 0) return success;
  const simulation::machine machine = find_machine(options.machine);
  plan what;
  what.world = "simulated";
  what.requests = {request_of(options, machine)};
  const std::vector<configuration> all = playable(configurations_of(what), machine);
  if (!options.levels.empty()) refuse_unused(all, "--levels", "levels");
  if (!options.max_local_passes.empty()) refuse_unused(all, "--max-local-passes", "max_local_passes");
  std::vector<composition> judged;
  kept_work work([&](const std::string&) -> std::string {
    if (judged.empty()) return {};
    print_judged(judged, machine, all.front(), options);
    static_cast<void>(std::fflush(stdout));
    return fmt::format("only the first compositions were simulated, {} of them", judged.size());
  });
  std::set<std::string> unsound;
  for (const configuration& each : all)
    if (!each.object->is_sound() && unsound.insert(each.object->name).second)
      remark("lock '{}' is unsound and may hang or give wrong results: {}", each.object->name,
             each.object->unsound);
  work.run([&] {
    progress_bar bar(all.size());
    simulate_compositions(
        machine, all, options.seed,
        [&](const configuration& next) {
          bar.step(fmt::format("{} with {} ranks a node", next.object->name, next.where.ranks_per_node));
        },
        [&](composition one) {
          const auto hold = work.hold();
          judged.push_back(std::move(one));
        });
    bar.clear();
  });
  work.finish([&] { print_judged(std::move(judged), machine, all.front(), options); });
  return success;
}

}  // namespace

void add_sim_compose(CLI::App& sim, int& status) {
  CLI::App* command = sim.add_subcommand(
      "compose", "Find the best composition of locks for a machine, at low and high contention");
  auto options = std::make_shared<compose_options>();
  command
      ->add_option("--machine", options->machine,
                   "Name from 'nearfar sim machines', or a machine description file")
      ->capture_default_str();
  command->add_option("--nodes", options->nodes, "Number of nodes")->type_name("N")->capture_default_str();
  add_list(*command, "--ranks-per-node", options->shapes.ranks_per_node,
           "Numbers of ranks per node (default: 1, 2, 4, ... up to all cores)")
      ->type_name("N");
  add_list(*command, "--locks", options->locks,
           "Names from 'nearfar list', or 'all' (default: every sound cohort and clof)")
      ->type_name("NAME");
  add_list(*command, "--levels", options->levels,
           "Levels inside nodes for clof and hmcs, one run each (default: each that divides a node)")
      ->type_name("NAME");
  command
      ->add_option("--max-local-passes", options->max_local_passes,
                   "Consecutive hand-overs within a node before another node gets the lock")
      ->type_name("N")
      ->default_str("254");
  command->add_option("--duration", options->duration, "Virtual seconds of each run")
      ->type_name("N")
      ->default_str("0.02");
  command->add_option("--seed", options->seed, "Seed of the simulation; the same seed gives the same result")
      ->capture_default_str();
  command->add_flag("--json", options->prints_json, "Print one JSON object (docs/results-format.md)");
  command->footer("docs/simulation.md explains the scores.");
  command->callback([options, &status] { status = run_compose(*options); });
}

}  // namespace nearfar::command
