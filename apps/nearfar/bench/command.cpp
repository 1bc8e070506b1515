// nearfar bench: benchmarks in the worlds of real hardware.

#include "apps/nearfar/shared/command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "apps/nearfar/shared/help.hpp"
#include "apps/nearfar/study/options.hpp"
#include "apps/nearfar/study/plan.hpp"

namespace nearfar::command {

namespace {

struct bench_options {
  plan what;
  benchmark_request asked;
  shape_options shapes;
};

int run_bench(bench_options options) {
  if (options.asked.benchmark->is_of_teams()) options.what.world = "team";
  if (options.what.world.empty()) options.what.world = default_world();
  if (options.what.world == "simulated")
    throw usage_error(
        "world 'simulated' belongs to 'nearfar sim': use 'nearfar sim' instead of 'nearfar bench'");
  options.asked.shapes = options.shapes.on_hardware(options.what.world);
  options.what.requests = {options.asked};
  choose_mode(options.what);
  return run(options.what);
}

void add_benchmark(CLI::App& bench, int& status, const bench::benchmark& benchmark) {
  CLI::App* command = bench.add_subcommand(benchmark.name, benchmark.summary);
  auto options = std::make_shared<bench_options>();
  options->what.title = benchmark.name;
  options->asked.benchmark = &benchmark;
  if (benchmark.is_of_teams()) {
    constexpr int usual_repetitions = 6;  // the fewest that give an interval
    options->what.repetitions = usual_repetitions;
    add_list(*command, "--threads", options->shapes.ranks,
             "Numbers of threads, at most 4096 (default: 1, and one per allowed CPU)")
        ->type_name("N");
  } else {
    command->add_option("--world", options->what.world,
                        "World: mpi or threads (default: mpi under mpirun, else threads)");
    add_list(*command, "--ranks", options->shapes.ranks,
             "Number of ranks that take part, or of threads, at most 4096 (default: all ranks, or one thread "
             "per allowed processor)")
        ->type_name("N");
  }
  add_request_options(*command, options->asked, false);
  add_plan_options(*command, options->what, "Seed of the random order of points");
  if (!benchmark.is_of_teams()) add_hardware_options(*command, options->what);
  command->footer(benchmark.is_of_teams()
                      ? "Lists such as --threads 1,2,4 measure every combination. docs/numa.md explains the "
                        "options."
                      : "Lists such as --ranks 1,2,4 measure every combination. docs/sweeps.md explains the "
                        "options.");
  command->callback([options, &status] { status = run_bench(*options); });
}

}  // namespace

void add_bench(CLI::App& app, int& status) {
  CLI::App* bench = app.add_subcommand(
      "bench", fmt::format("Measure {}, in threads or on MPI under mpirun", kinds_text(naming::all)));
  for (const bench::benchmark& benchmark : bench::benchmarks()) add_benchmark(*bench, status, benchmark);
  bench->require_subcommand(0, 1);
  bench->callback([bench] {
    if (bench->get_subcommands().empty())
      throw usage_error("'nearfar bench' needs the name of a benchmark; 'nearfar bench --help' lists all");
  });
}

}  // namespace nearfar::command
