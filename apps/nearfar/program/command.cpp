// nearfar run, and nearfar check -- PROGRAM: other people's MPI programs. nearfar-program carries them out:
// it loads the programs, which would find the MPI library of this command otherwise.

#include "apps/nearfar/program/command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "apps/nearfar/shared/command.hpp"

namespace nearfar::command {

namespace {

/// Beside this command, or where NEARFAR_PROGRAM_RUNNER says.
std::string find_runner() {
  if (const char* chosen = std::getenv("NEARFAR_PROGRAM_RUNNER")) return chosen;
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "nearfar-program";
}

/// Whether the file is a schedule of somebody's program, rather than one of an object of this command.
/// A file that is not regular is none: a pipe would block here, and the caller refuses it.
bool is_schedule_of_program(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  std::ifstream in(path);
  std::string begin(256, '\0');
  in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin.find("nearfar program schedule") != std::string::npos;
}

/// The word behind an option, as `--replay FILE` or `--replay=FILE`, or nothing.
std::string value_of(const std::vector<std::string>& words, const std::string& option) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == option && i + 1 < words.size()) return words[i + 1];
    if (words[i].rfind(option + "=", 0) == 0) return words[i].substr(option.size() + 1);
  }
  return {};
}

}  // namespace

bool is_for_program(const std::vector<std::string>& words) {
  if (words.empty()) return false;
  if (words.front() == "run") return true;
  if (words.front() != "check") return false;
  const std::string replay = value_of(words, "--replay");
  return std::find(words.begin(), words.end(), "--") != words.end() ||
         (!replay.empty() && is_schedule_of_program(replay));
}

void become_runner(const std::vector<std::string>& words) {
  const std::string runner = find_runner();
  std::vector<std::string> copy{runner};
  copy.insert(copy.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  for (std::string& word : copy) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(runner.c_str(), arguments.data());
  throw error(
      fmt::format("cannot start {}, which checks programs ({}); build the target nearfar_program, or set "
                  "NEARFAR_PROGRAM_RUNNER to its path",
                  runner, std::strerror(errno)));
}

void add_run(CLI::App& app, int& /*status*/) {
  // Its words go to nearfar-program as they are; this is for the help.
  CLI::App* command = app.add_subcommand("run", "Run an MPI program in the model checker, once");
  command->prefix_command();
  command->footer("nearfar run --ranks 4 -- ./program 100; docs/checking-a-program.md explains.");
}

}  // namespace nearfar::command
