#include "apps/nearfar/shared/report_package.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "nearfar/core/error.hpp"

namespace nearfar::command {

namespace {

bool holds_package(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder / "nearfar_report" / "__main__.py", ignored);
}

/// Beside the installed command, or in the source tree that the command was built in.
std::filesystem::path find_package() {
  if (const char* chosen = std::getenv("NEARFAR_REPORT_DIR")) {
    if (holds_package(chosen)) return chosen;
    throw error(fmt::format(
        "there is no nearfar_report/__main__.py in '{}', which NEARFAR_REPORT_DIR names: it is to "
        "name the directory that holds the Python package that draws reports; unset it to use "
        "the package beside the command",
        chosen));
  }
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  for (std::filesystem::path base = here; base != base.root_path(); base = base.parent_path())
    for (const char* relative : {"report", "share/nearfar/report"})
      if (holds_package(base / relative)) return base / relative;
  throw error(
      "the Python package nearfar_report is not beside the command: set NEARFAR_REPORT_DIR to the directory "
      "that holds it");
}

}  // namespace

int run_report_package(const std::vector<std::string>& arguments, const std::string& module) {
  const std::filesystem::path package = find_package();
  std::vector<std::string> command{"", "-m", module};
  command.insert(command.end(), arguments.begin(), arguments.end());

  const char* const chosen = std::getenv("NEARFAR_PYTHON");
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw error(fmt::format("cannot start python3: {}", std::strerror(errno)));
  if (child == 0) {
    // A report that is ended takes Python along.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(EXIT_FAILURE);
    setenv("PYTHONPATH", package.c_str(), 1);
    setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
    // Debian's own Python has Debian's pandas; another one that comes first on the path may not.
    std::vector<const char*> candidates{"/usr/bin/python3", "python3"};
    if (chosen != nullptr) candidates = {chosen};
    for (const char* python : candidates) {
      command.front() = python;  // where Python looks for its own library
      std::vector<char*> words;
      for (std::string& word : command) words.push_back(word.data());
      words.push_back(nullptr);
      execvp(python, words.data());
    }
    _exit(127);
  }
  int ended = 0;
  while (waitpid(child, &ended, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(ended)) throw error("the report was stopped by a signal");
  if (WEXITSTATUS(ended) == 127 && chosen != nullptr)
    throw error(fmt::format("'{}' cannot be started, which NEARFAR_PYTHON names", chosen));
  if (WEXITSTATUS(ended) == 127)
    throw error(
        "python3 cannot be started: install it with pandas, matplotlib and scipy, or "
        "name one that has them in NEARFAR_PYTHON");
  return WEXITSTATUS(ended);
}

}  // namespace nearfar::command
