// nearfar report: hands the results files to the Python package that draws them.

#include "apps/nearfar/shared/command.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "apps/nearfar/shared/launch.hpp"
#include "apps/nearfar/shared/option_values.hpp"
#include "apps/nearfar/shared/report_package.hpp"

namespace nearfar::command {

namespace {

struct report_options {
  std::vector<std::string> files;
  std::string output = "nearfar-report";
  std::string title;
  bool text = false;
  bool csv = false;
  bool is_replaced = false;
};

int run_report(const report_options& options) {
  std::vector<std::string> arguments{"--output=" + options.output};  // a value may begin with '-'
  if (!options.title.empty()) arguments.push_back("--title=" + options.title);
  if (options.text) arguments.emplace_back("--text");
  if (options.csv) arguments.emplace_back("--csv");
  if (options.is_replaced) arguments.emplace_back("--overwrite");
  arguments.emplace_back("--");
  arguments.insert(arguments.end(), options.files.begin(), options.files.end());
  return run_report_package(arguments);
}

}  // namespace

void add_report(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("report", "Draw figures and one self-contained page from results files");
  command->footer(
      "Exit status: 0 done, 1 void samples are left out, 2 nothing was written, 3 samples are missing. "
      "docs/results-format.md describes the files.");
  auto options = std::make_shared<report_options>();
  command
      ->add_option("files", options->files,
                   "Results files that benchmarks wrote with --output; -: standard input")
      ->required();
  const std::vector<CLI::Option*> of_pages{
      command->add_option("--output", options->output, "Directory for the figures and index.html")
          ->check(directory_name())
          ->capture_default_str(),
      command->add_flag("--overwrite", options->is_replaced, "Replace a report in that directory"),
      command->add_option("--title", options->title, "Title of the page")};
  CLI::Option* const text =
      command->add_flag("--text", options->text, "Print the tables as Markdown and write nothing");
  CLI::Option* const csv =
      command->add_flag("--csv", options->csv, "Print all samples as CSV and write nothing")->excludes(text);
  for (CLI::Option* const each : of_pages) each->excludes(text)->excludes(csv);
  command->callback(
      [options, &status] { status = launch::from_environment().rank == 0 ? run_report(*options) : success; });
}

}  // namespace nearfar::command
