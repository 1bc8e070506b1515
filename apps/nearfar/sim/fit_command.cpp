// nearfar sim compare, nearfar sim fit: a machine description against published measurements.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/kept_work.hpp"
#include "apps/nearfar/shared/launch.hpp"
#include "apps/nearfar/shared/machine_file.hpp"
#include "apps/nearfar/shared/option_values.hpp"
#include "apps/nearfar/shared/progress_bar.hpp"
#include "apps/nearfar/sim/comparison.hpp"
#include "apps/nearfar/sim/cross_validation.hpp"
#include "apps/nearfar/sim/machine_fit.hpp"
#include "apps/nearfar/sim/published.hpp"
#include "apps/nearfar/sim/subcommands.hpp"
#include "apps/nearfar/study/simulated_cluster.hpp"
#include "bench/results/output_file.hpp"
#include "nearfar/lock/local_passes.hpp"

namespace nearfar::command {

namespace {

/// Of a fit that is only judged.
constexpr int evaluations_of_a_fold = 120;

struct fit_options {
  std::string machine = "coolmuc2";
  std::string upb;
  std::string ecsb;
  std::string plan;
  std::string output;
  std::string start;
  bench::older_output older;
  bool cross_validate = false;
  fit_effort effort;
};

void validate(const fit_options& options) {
  const auto require = [](bool holds, const char* text) {
    if (!holds) throw usage_error(text);
  };
  require(options.effort.evaluations > 0, "--evaluations must be 1 or more");
  require(options.effort.simulation.iterations_per_rank > 0, "--iterations must be 1 or more");
  constexpr int most_jobs = 1024;
  require(options.effort.simulation.jobs > 0 && options.effort.simulation.jobs <= most_jobs,
          "--jobs must be 1 to 1024");
  require(options.upb.empty() == options.ecsb.empty(),
          "--upb and --ecsb belong together; give both or neither");
}

fit_plan plan_of(const fit_options& options) {
  const source from = read_source(options.plan, "coolmuc2/fit.json");
  return parse_plan(from.text, from.file);
}

/// Else the simulation would complain about an option that nobody gave.
void require_room(const simulation::machine& on, const published_data& data) {
  for (const auto* points : {&data.ecsb, &data.upb}) {
    for (const measured_point& point : *points) {
      try {
        static_cast<void>(locality_of(on, point.shape));
      } catch (const usage_error& why) {
        const std::string text = why.what();
        constexpr std::string_view option = "--ranks-per-node";
        throw usage_error(
            fmt::format("{}: {}", point.place,
                        text.starts_with(option) ? "ranks_per_node" + text.substr(option.size()) : text));
      }
    }
  }
}

published_data data_of(const fit_options& options, const fit_plan& plan) {
  published_data data = read_published(read_source(options.upb, "coolmuc2/upb.csv"),
                                       read_source(options.ecsb, "coolmuc2/ecsb.csv"), plan);
  if (data.ecsb.empty() && data.upb.empty())
    throw usage_error("the plan names no measured lock; add one to compare");
  return data;
}

fit_progress progress_on(const char* what, int evaluations) {
  return [what, evaluations, line = std::make_shared<progress_line>()](int evaluation, double best) {
    line->show(fmt::format("{}: {} of at most {} evaluations, mean |ln| {:.4f}", what, evaluation,
                           evaluations, best));
    if (evaluation >= evaluations) line->clear();
  };
}

void print_parameters(const std::vector<free_parameter>& free, const simulation::machine& start,
                      const simulation::machine& fitted) {
  fmt::print("# free parameters, ns: {} of them\n{:>10}{:>10}{:>10}{:>10}  meaning\n", free.size(), "start",
             "fitted", "low", "high");
  for (const free_parameter& one : free) {
    const bool is_share = one.high <= 1;
    const int digits = is_share ? 2 : 1;
    const int digits_of_bounds = is_share ? 2 : 0;
    fmt::print("{:>10.{}f}{:>10.{}f}{:>10.{}f}{:>10.{}f}  {}\n", field_of(start, one.fields.front()), digits,
               field_of(fitted, one.fields.front()), digits, one.low, digits_of_bounds, one.high,
               digits_of_bounds, one.meaning);
  }
}

intervals judge_by_folds(const fit_options& options, const fit_plan& plan, const simulation::machine& start,
                         const published_data& data) {
  const std::vector<fold> folds = cross_validate(start, plan, data, options.effort,
                                                 progress_on("cross-validation", options.effort.evaluations));
  print_folds(folds);
  return intervals_of(folds);
}

/// A machine description that a long search will write: a file that cannot be written is noticed before.
class machine_output {
 public:
  machine_output(const std::string& path, const bench::older_output& older)
      : work_([this](const std::string&) -> std::string {
          if (file_) file_->discard();
          return {};
        }) {
    const auto hold = work_.hold();
    file_.emplace(path, machine_mark, machine_kind, older);
  }
  void write(const std::string& text) {
    work_.finish([&] {
      file_->write(text);
      file_->commit();
    });
  }

 private:
  std::optional<bench::output_file> file_;
  kept_work work_;
};

int run_compare(const fit_options& options) {
  validate(options);
  if (launch::from_environment().rank != 0) return success;
  simulation::machine machine = find_machine(options.machine);
  const fit_plan plan = plan_of(options);
  const published_data data = data_of(options, plan);
  require_room(machine, data);
  std::optional<simulation::machine> start;
  if (options.cross_validate) {
    start = options.start.empty()
                ? parse_machine(read_source("", "coolmuc2/start.json").text, "machines/coolmuc2/start.json")
                : find_machine(options.start);
    require_room(*start, data);
  }
  std::optional<machine_output> output;
  if (!options.output.empty()) {
    // Before hours of fits.
    require_enough_for_intervals(data);
    output.emplace(options.output, options.older);
  }
  fmt::print("# machine {}\n# local passes: {}, as published\n", machine.name, published_local_passes);
  const auto networks = networks_of(machine, data, options.effort.simulation);
  print_comparison(compare(machine, data, options.effort.simulation, factors_of(networks)), data, true);
  print_networks(networks);
  if (start) {
    const intervals of = judge_by_folds(options, plan, *start, data);
    for (const prediction_scope where : prediction_scopes)
      interval_of(machine, where) = of.contains(where) ? of.at(where) : simulation::prediction_interval{};
    if (output) {
      require_plausible(of);
      output->write(to_text(machine));
    }
  }
  return success;
}

int run_fit(const fit_options& options) {
  validate(options);
  if (launch::from_environment().rank != 0) return success;
  const simulation::machine start = find_machine(options.machine);
  const fit_plan plan = plan_of(options);
  if (plan.free.empty())
    throw usage_error("the plan has no free parameters to fit; add one to free_parameters");
  const published_data data = data_of(options, plan);
  require_room(start, data);
  machine_output output(options.output, options.older);
  const fitted_machine fitted =
      fit_machine(start, plan.free, data, options.effort, progress_on("fit", options.effort.evaluations));
  const std::string text = to_text(fitted.machine);
  output.write(text);
  print_parameters(plan.free, start, fitted.machine);
  fmt::print(
      "# measured_low, measured_high: not known yet; 'nearfar sim compare --cross-validate --output FILE' "
      "finds "
      "them\n\n");
  // As the file says it, which rounds.
  print_comparison(compare(parse_machine(text, options.output), data, options.effort.simulation,
                           factors_of(fitted.networks)),
                   data, true);
  print_networks(fitted.networks);
  if (options.cross_validate) judge_by_folds(options, plan, start, data);
  return success;
}

void add_shared_options(CLI::App& command, fit_options& options) {
  command
      .add_option("--machine", options.machine,
                  "Name from 'nearfar sim machines', or a machine description file")
      ->capture_default_str();
  command.add_option("--upb", options.upb, "Measured UPB, a CSV file (default: machines/coolmuc2/upb.csv)");
  command.add_option("--ecsb", options.ecsb,
                     "Measured ECSB, a CSV file (default: machines/coolmuc2/ecsb.csv)");
  command.add_option(
      "--plan", options.plan,
      "Names of measured locks, and free parameters, a JSON file (default: machines/coolmuc2/fit.json)");
  command.add_option("--seed", options.effort.simulation.seed, "Seed of the simulations")
      ->capture_default_str();
  command
      .add_option("--iterations", options.effort.simulation.iterations_per_rank,
                  "Iterations of each rank in a simulated ECSB")
      ->capture_default_str();
  command
      .add_option("--jobs", options.effort.simulation.jobs,
                  "Number of threads; it does not change the results")
      ->capture_default_str();
}

}  // namespace

void add_sim_compare(CLI::App& sim, int& status) {
  CLI::App* command =
      sim.add_subcommand("compare", "Compare a machine description with measurements of the real machine");
  auto options = std::make_shared<fit_options>();
  add_shared_options(*command, *options);
  options->effort.evaluations = evaluations_of_a_fold;
  CLI::Option* const fits =
      command
          ->add_flag("--cross-validate", options->cross_validate,
                     "Also fit without each session and each kind of locks, and judge there")
          ->disable_flag_override();
  command
      ->add_option("--start", options->start,
                   "With --cross-validate: machine from which each fit begins (default: "
                   "machines/coolmuc2/start.json)")
      ->needs(fits);
  CLI::Option* const output =
      command
          ->add_option("--output", options->output,
                       "With --cross-validate: machine description file to write, with the intervals")
          ->needs(fits);
  add_overwrite_option(*command, options->older)->needs(output);
  command
      ->add_option("--evaluations", options->effort.evaluations,
                   "With --cross-validate: largest number of simulations for each fit")
      ->needs(fits)
      ->capture_default_str();
  command->callback([options, &status] { status = run_compare(*options); });
}

void add_sim_fit(CLI::App& sim, int& status) {
  CLI::App* command = sim.add_subcommand(
      "fit", "Fit a machine description's physical costs to measurements of the real machine");
  auto options = std::make_shared<fit_options>();
  add_shared_options(*command, *options);
  command->add_option("--output", options->output, "Machine description file to write")->required();
  add_overwrite_option(*command, options->older);
  command
      ->add_option("--evaluations", options->effort.evaluations,
                   "Largest number of simulations of all measured points")
      ->capture_default_str();
  command
      ->add_flag("--cross-validate", options->cross_validate,
                 "Also fit without each session and each kind of locks, and judge there")
      ->disable_flag_override();
  command->callback([options, &status] { status = run_fit(*options); });
}

}  // namespace nearfar::command
