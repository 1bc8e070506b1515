// nearfar report: hands the results files to the Python package that draws them.

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "apps/nearfar/command.hpp"
#include "apps/nearfar/launch.hpp"

namespace nearfar::command {

namespace {

/// Beside the installed command, or in the source tree that the command was built in.
std::filesystem::path find_package() {
  if (const char* chosen = std::getenv("NEARFAR_REPORT_DIR")) return chosen;
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  for (std::filesystem::path base = here; base != base.root_path(); base = base.parent_path())
    for (const char* relative : {"report", "share/nearfar/report"})
      if (std::filesystem::exists(base / relative / "nearfar_report" / "__main__.py")) return base / relative;
  throw error(
      "the Python package nearfar_report is not beside the command: set NEARFAR_REPORT_DIR to the directory "
      "that holds it");
}

struct report_options {
  std::vector<std::string> files;
  std::string output = "nearfar-report";
  std::string title;
};

int run_report(const report_options& options) {
  const std::filesystem::path package = find_package();
  std::vector<std::string> arguments{"", "-m", "nearfar_report", "--output", options.output};
  if (!options.title.empty()) arguments.insert(arguments.end(), {"--title", options.title});
  arguments.emplace_back("--");
  arguments.insert(arguments.end(), options.files.begin(), options.files.end());

  const pid_t child = fork();
  if (child < 0) throw error(fmt::format("cannot start python3: {}", std::strerror(errno)));
  if (child == 0) {
    setenv("PYTHONPATH", package.c_str(), 1);
    setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
    // Debian's own Python has Debian's pandas; another one that comes first on the path may not.
    const char* chosen = std::getenv("NEARFAR_PYTHON");
    for (const char* python : {chosen != nullptr ? chosen : "/usr/bin/python3", "python3"}) {
      arguments.front() = python;  // where Python looks for its own library
      std::vector<char*> words;
      for (std::string& argument : arguments) words.push_back(argument.data());
      words.push_back(nullptr);
      execvp(python, words.data());
    }
    _exit(127);
  }
  int ended = 0;
  while (waitpid(child, &ended, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(ended)) throw error("the report was stopped by a signal");
  if (WEXITSTATUS(ended) == 127)
    throw error(
        "python3 cannot be started: install it with pandas and matplotlib, or "
        "name one that has them in NEARFAR_PYTHON");
  return WEXITSTATUS(ended);
}

}  // namespace

void add_report(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("report", "Figures and one self-contained page from results files");
  auto options = std::make_shared<report_options>();
  command->add_option("files", options->files, "Results files, as written by --output of the benchmarks")
      ->required();
  command->add_option("--output", options->output, "Directory for the figures and index.html")
      ->capture_default_str();
  command->add_option("--title", options->title, "Title of the page");
  command->callback(
      [options, &status] { status = launch::from_environment().rank == 0 ? run_report(*options) : success; });
}

}  // namespace nearfar::command
