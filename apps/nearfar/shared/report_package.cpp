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
#include <string>
#include <system_error>
#include <vector>

#include "apps/nearfar/shared/command.hpp"
#include "nearfar/core/error.hpp"

namespace nearfar::command {

namespace {

/// The package adds this to its status when the command runs it, so that 0 or 1 of an interpreter that never
/// ran it is not taken for its own.
constexpr int status_base = 200;

bool holds_package(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder / "nearfar_report" / "__main__.py", ignored);
}

/// Beside the installed command, or in the source tree that the command was built in.
std::filesystem::path find_package() {
  if (const char* chosen = std::getenv("NEARFAR_REPORT_DIR")) {
    if (holds_package(chosen)) return chosen;
    throw error(
        fmt::format("no nearfar_report/__main__.py in '{}', which NEARFAR_REPORT_DIR names; unset it, or let "
                    "it name the directory of the Python package nearfar_report",
                    chosen));
  }
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  for (std::filesystem::path base = here; base != base.root_path(); base = base.parent_path())
    for (const char* relative : {"report", "share/nearfar/report"})
      if (holds_package(base / relative)) return base / relative;
  throw error(
      "the Python package nearfar_report is not beside the command; set NEARFAR_REPORT_DIR to the directory "
      "that holds it");
}

struct interpreter {
  std::string path;
  bool chosen;  ///< by the user
};

interpreter find_python() {
  if (const char* chosen = std::getenv("NEARFAR_PYTHON")) return {chosen, true};
  // Debian's own Python has Debian's pandas; another one that comes first on the path may not.
  const char* const debians = "/usr/bin/python3";
  return {access(debians, X_OK) == 0 ? debians : "python3", false};
}

/// For Python, in the process that becomes it.
void set_environment(const std::filesystem::path& package) {
  setenv("PYTHONPATH", package.c_str(), 1);
  setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
  setenv("NEARFAR_STATUS_BASE", std::to_string(status_base).c_str(), 1);
  setenv("PYTHONSAFEPATH", "1", 1);  // no module of the folder in which it is called
  unsetenv("PYTHONHOME");            // of another Python, with which this one does not start
  // A report has no use for OpenBLAS's threads, and without memory for them OpenBLAS tries for ever.
  setenv("OPENBLAS_NUM_THREADS", "1", 0);
}

/// The exit status of the package. Throws `nearfar::error` if the package did not run to its end.
int status_of_package(int ended, const interpreter& python, const std::string& module) {
  const int status = WIFEXITED(ended) ? WEXITSTATUS(ended) : of_signals + WTERMSIG(ended);
  if (status >= status_base && status <= status_base + incomplete) return status - status_base;
  if (status == 127 && python.chosen)
    throw error(fmt::format(
        "'{}' cannot be started; NEARFAR_PYTHON names it: unset it, or let it name a Python 3", python.path));
  if (status == 127)
    throw error(
        "python3 cannot be started; install it with pandas, matplotlib and scipy, or name a Python that has "
        "them in NEARFAR_PYTHON");
  if (status > of_signals && status < status_base) {
    const int number = status - of_signals;
    // A reader that closes the pipe wants no message.
    if (number != SIGPIPE) remark("signal {} ({}) ended the report", number, strsignal(number));
    return status;
  }
  throw error(
      fmt::format("'{}'{} has not run {} to its end (status {}); name a Python 3 with pandas, matplotlib and "
                  "scipy in NEARFAR_PYTHON",
                  python.path, python.chosen ? ", which NEARFAR_PYTHON names," : "", module, status));
}

}  // namespace

int run_report_package(const std::vector<std::string>& arguments, const std::string& module) {
  const std::filesystem::path package = find_package();
  const interpreter python = find_python();
  std::vector<std::string> command{python.path, "-m", module};
  command.insert(command.end(), arguments.begin(), arguments.end());

  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw error(fmt::format("cannot start python3: {}", std::strerror(errno)));
  if (child == 0) {
    // A report that is ended takes Python along.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(EXIT_FAILURE);
    set_environment(package);
    std::vector<char*> words;
    for (std::string& word : command) words.push_back(word.data());
    words.push_back(nullptr);
    execvp(words.front(), words.data());
    _exit(127);
  }
  int ended = 0;
  while (waitpid(child, &ended, 0) < 0 && errno == EINTR) {
  }
  return status_of_package(ended, python, module);
}

}  // namespace nearfar::command
