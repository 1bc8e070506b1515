// nearfar sim compare, nearfar sim fit: a machine description against published measurements.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/kept_work.hpp"
#include "apps/nearfar/shared/launch.hpp"
#include "apps/nearfar/shared/machine_file.hpp"
#include "apps/nearfar/shared/option_values.hpp"
#include "apps/nearfar/shared/progress_bar.hpp"
#include "apps/nearfar/sim/comparison.hpp"
#include "apps/nearfar/sim/machine_fit.hpp"
#include "apps/nearfar/sim/published.hpp"
#include "apps/nearfar/sim/subcommands.hpp"
#include "apps/nearfar/study/simulated_cluster.hpp"
#include "bench/results/output_file.hpp"

namespace nearfar::command {

namespace {

struct fit_options {
  std::string machine = "coolmuc2";
  std::string upb;
  std::string ecsb;
  std::string plan;
  std::string output;
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

published_data data_of(const fit_options& options, const fit_plan& plan) {
  published_data data = read_published(read_source(options.upb, "coolmuc2/upb.csv"),
                                       read_source(options.ecsb, "coolmuc2/ecsb.csv"), plan);
  if (data.ecsb.empty() && data.upb.empty())
    throw usage_error("the plan names no measured lock; add one to compare");
  return data;
}

/// The measurements of only these locks.
published_data only(published_data data, const std::set<std::string>& locks) {
  const auto other = [&](const measured_point& point) { return !locks.contains(point.lock); };
  std::erase_if(data.ecsb, other);
  std::erase_if(data.upb, other);
  return data;
}

/// A random half of the locks, and the rest.
std::pair<std::set<std::string>, std::set<std::string>> halves(const published_data& data,
                                                               std::uint64_t seed) {
  std::set<std::string> all;
  for (const auto* points : {&data.ecsb, &data.upb})
    for (const measured_point& point : *points) all.insert(point.lock);
  std::vector<std::string> order(all.begin(), all.end());
  std::mt19937_64 random(seed);
  std::shuffle(order.begin(), order.end(), random);
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2);
  return {{order.begin(), middle}, {middle, order.end()}};
}

fit_progress progress_on(const char* what, int evaluations) {
  return [what, evaluations, line = std::make_shared<progress_line>()](int evaluation, double best) {
    line->show(fmt::format("{}: {} of at most {} evaluations, mean |ln| {:.4f}", what, evaluation,
                           evaluations, best));
    if (evaluation == evaluations) line->clear();
  };
}

void print_parameters(const std::vector<free_parameter>& free, const simulation::machine& start,
                      const simulation::machine& fitted) {
  fmt::print("# free parameters, ns: {} of them\n{:>10}{:>10}{:>10}{:>10}  meaning\n", free.size(), "start",
             "fitted", "low", "high");
  for (const free_parameter& one : free)
    fmt::print("{:>10.1f}{:>10.1f}{:>10.0f}{:>10.0f}  {}\n", field_of(start, one.fields.front()),
               field_of(fitted, one.fields.front()), one.low, one.high, one.meaning);
}

void cross_validate(const fit_options& options, const fit_plan& plan, const simulation::machine& start,
                    const published_data& data) {
  const auto [first, second] = halves(data, options.effort.simulation.seed);
  for (const auto& [fitted_on, judged_on] : {std::pair(first, second), std::pair(second, first)}) {
    const simulation::machine fitted =
        fit_machine(start, plan.free, only(data, fitted_on), options.effort,
                    progress_on("cross-validation", options.effort.evaluations));
    const published_data others = only(data, judged_on);
    fmt::print("\n# cross-validation: fitted on {}; judged on the others\n", fmt::join(fitted_on, ", "));
    print_comparison(compare(fitted, others, options.effort.simulation), others, false);
  }
}

int run_compare(const fit_options& options) {
  validate(options);
  if (launch::from_environment().rank != 0) return success;
  const simulation::machine machine = find_machine(options.machine);
  const published_data data = data_of(options, plan_of(options));
  fmt::print("# machine {}\n", machine.name);
  print_comparison(compare(machine, data, options.effort.simulation), data, true);
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
  // A file that cannot be written is noticed before the long search.
  std::optional<bench::output_file> output;
  kept_work work([&](const std::string&) -> std::string {
    if (output) output->discard();
    return {};
  });
  {
    const auto hold = work.hold();
    output.emplace(options.output, machine_mark, machine_kind, options.older);
  }
  const simulation::machine fitted =
      fit_machine(start, plan.free, data, options.effort, progress_on("fit", options.effort.evaluations));
  const std::string text = to_text(fitted);
  work.finish([&] {
    output->write(text);
    output->commit();
  });
  print_parameters(plan.free, start, fitted);
  fmt::print("\n");
  // As the file says it, which rounds.
  print_comparison(compare(parse_machine(text, options.output), data, options.effort.simulation), data, true);
  if (options.cross_validate) cross_validate(options, plan, start, data);
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
  command->add_flag("--cross-validate", options->cross_validate,
                    "Also fit on each half of the locks and judge on the other");
  command->callback([options, &status] { status = run_fit(*options); });
}

}  // namespace nearfar::command
