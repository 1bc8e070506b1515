// nearfar sweep: a whole study from one file, which goes on where it was ended.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/help.hpp"
#include "apps/nearfar/shared/launch.hpp"
#include "apps/nearfar/shared/option_values.hpp"
#include "apps/nearfar/study/conduct.hpp"
#include "apps/nearfar/study/options.hpp"
#include "apps/nearfar/study/plan.hpp"
#include "apps/nearfar/study/simulated_cluster.hpp"
#include "apps/nearfar/study/study_input.hpp"

namespace nearfar::command {

namespace {

struct sweep_options {
  std::string study;
  plan what;
  // Where these are empty, the file's values count.
  std::optional<int> repetitions;
  std::optional<double> precision;
  std::optional<std::uint64_t> seed;
  bool only_list = false;
};

/// The points of the study, with an empty shape where no ranks are named yet. Throws `usage_error`, which
/// names the study.
std::vector<configuration> points_of(const std::string& study, plan what) {
  for (benchmark_request& each : what.requests)
    if (each.shapes.empty()) each.shapes = {shape{}};
  try {
    return configurations_of(what);
  } catch (const usage_error& wrong) {
    throw usage_error(fmt::format("'{}': {}", study, wrong.what()));
  }
}

int list_points(const plan& what, const std::vector<configuration>& all) {
  if (launch::from_environment().rank != 0) return success;
  double seconds = 0;
  for (const configuration& each : all) {
    fmt::print("{}\n", text_of(each));
    seconds += each.seconds() * what.repetitions;
  }
  fmt::print("# {} point{}, {} repetition{}", all.size(), all.size() == 1 ? "" : "s", what.repetitions,
             what.repetitions == 1 ? "" : "s");
  if (what.world != "simulated") fmt::print(", {:.0f} s of timed loops", seconds);
  fmt::print("\n");
  return success;
}

int run_sweep(const sweep_options& options) {
  plan what = read_study(options.study, options.what);
  if (what.machine.empty() && what.world == "simulated") what.machine = default_machine;
  if (options.repetitions) what.repetitions = *options.repetitions;
  if (options.precision) what.precision = *options.precision;
  if (options.seed) what.seed = *options.seed;
  what.title = "sweep";
  what.mode = output_mode::growing;
  check(what);
  const std::vector<configuration> all = points_of(options.study, what);
  if (options.only_list) return list_points(what, all);
  if (what.output.empty())
    throw usage_error(
        "'nearfar sweep' needs --output RESULTS.jsonl, to which it appends and from which it goes on");
  return run(what);
}

}  // namespace

void add_sweep(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "sweep",
      fmt::format("Measure a study of {}; continue it after an interruption", kinds_text(naming::all)));
  command->footer("docs/sweeps.md describes study files and the options.");
  auto options = std::make_shared<sweep_options>();
  command->add_option("study", options->study, "Study file (JSON, see docs/sweeps.md)")->required();
  CLI::Option* const output =
      command->add_option("--output", options->what.output,
                          "Results file (JSON Lines); repetitions that it holds are not run again");
  add_older_options(*command, output, options->what.older, "Add to a file that holds other points only");
  command->add_option(
      "--world", options->what.world,
      "World: mpi, threads or simulated (default: the study's, else mpi under mpirun, else threads)");
  command->add_option("--machine", options->what.machine,
                      "Machine of the simulated world, as for 'nearfar sim'");
  command->add_option("--repetitions", options->repetitions, "Largest number of repetitions of each point");
  command->add_option("--precision", options->precision,
                      "Stop a point once its 95 % interval is within this share of its median; 0: never");
  command->add_option("--seed", options->seed, "Seed of the random order of points, and of the simulation");
  command->add_flag("--list", options->only_list, "Print the points of the study and measure nothing");
  add_verbose_option(*command, options->what);
  add_hardware_options(*command, options->what);
  command->callback([options, &status] { status = run_sweep(*options); });
}

}  // namespace nearfar::command
