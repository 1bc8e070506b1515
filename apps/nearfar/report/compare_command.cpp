// nearfar compare: hands two results files to the Python package that judges what changed.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/launch.hpp"
#include "apps/nearfar/shared/option_values.hpp"
#include "apps/nearfar/shared/report_package.hpp"

namespace nearfar::command {

namespace {

struct compare_options {
  std::string before;
  std::string after;
  double bound = 5;  ///< percent
  bool as_json = false;
};

int run_compare(const compare_options& options) {
  std::vector<std::string> arguments{fmt::format("--bound={}", options.bound)};
  if (options.as_json) arguments.emplace_back("--json");
  arguments.insert(arguments.end(), {"--", options.before, options.after});
  return run_report_package(arguments, "nearfar_report.compare");
}

}  // namespace

void add_compare(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("compare", "Compare the times of two results files; exit status 1 for a regression");
  command->footer(
      "Exit status: 0 no regression, 1 a regression, 2 nothing was compared, 3 configurations or samples are "
      "missing. docs/results-format.md describes the verdicts.");
  auto options = std::make_shared<compare_options>();
  command->add_option("before", options->before, "Results file of the reference; -: standard input")
      ->required();
  command->add_option("after", options->after, "Results file to judge")->required();
  command
      ->add_option("--bound", options->bound,
                   "Slowdown in percent above which a change is a regression, 0 to 1000")
      ->check(number(0, 1000))
      ->capture_default_str();
  command->add_flag("--json", options->as_json, "Print one JSON object per line instead of a table");
  command->callback([options, &status] {
    status = launch::from_environment().rank == 0 ? run_compare(*options) : success;
  });
}

}  // namespace nearfar::command
