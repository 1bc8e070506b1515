// nearfar: measures, checks and plots synchronisation on near and far memory.

#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/nearfar/completion/candidates.hpp"
#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/launch.hpp"
#include "apps/nearfar/shared/option_values.hpp"
#include "nearfar/memory/mpi/call.hpp"
#include "version.hpp"

namespace nearfar::command {

namespace {

/// Without an exception where there is no stderr.
void say(const std::string& line) { std::fputs(line.c_str(), stderr); }

/// On one line, whatever a user's words hold.
std::string printable(std::string_view text) {
  std::string shown(text);
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; },
      '?');
  return shown;
}

/// One line on stderr for an error that every rank has.
void say_once(const launch& how, std::string_view text) {
  if (how.rank == 0) say(fmt::format("nearfar: {}\n", printable(text)));
}

/// The same; every rank ends with the same status.
int report(const launch& how, std::string_view text, int status) {
  say_once(how, text);
  if (mpi::is_active()) MPI_Finalize();
  return status;
}

/// One line on stderr for an error of this rank alone. Others may wait for it in MPI, where only an abort
/// reaches them.
int report_alone(const launch& how, std::string_view text) {
  say(fmt::format("nearfar: {}{}\n", how.under_mpi ? fmt::format("rank {}: ", how.rank) : "",
                  printable(text)));
  if (mpi::is_active()) MPI_Abort(MPI_COMM_WORLD, failure);
  return failure;
}

/// An error in the arguments. Throws `usage_error` on all ranks if they have different ones.
int report_arguments(const launch& how, std::string_view text) {
  std::optional<mpi_session> session;
  if (how.under_mpi && how.ranks > 1) session.emplace();
  // Before the session ends, where ranks wait for each other: a launcher kills all ranks as soon as one of
  // them has ended with an error.
  say_once(how, text);
  return bad_input;
}

std::vector<std::string> subcommand_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

/// What is wrong with the subcommands that `words` begin with, or nothing.
std::string unknown_subcommand(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* within = &app;
  std::string path(program_name());
  const char* const elsewhere =
      program_name() == "nearfar" ? "" : ", and the whole command, nearfar, has more: make build";
  for (const std::string& word : words) {
    const std::vector<std::string> known = subcommand_names(*within);
    if (known.empty() || word.empty() || word[0] == '-') break;
    if (std::find(known.begin(), known.end(), word) == known.end())
      return fmt::format("unknown subcommand '{}'{}; '{} --help' lists them{}", word, suggestion(word, known),
                         path, elsewhere);
    within = within->get_subcommand(word);
    path += " " + word;
  }
  return "";
}

int parse_and_run(const launch& how, int argc, char** argv) {
  CLI::App app("Measures, checks and plots synchronisation on near and far memory.",
               std::string(program_name()));
  app.set_version_flag("--version", fmt::format("{} {} ({})", program_name(), version, commit));
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "Help of all subcommands");
  int status = success;
  add_subcommands(app, status);
  refuse_careless_values(app);

  const std::vector<std::string> words(argv + 1, argv + argc);
  // What shells call (nearfar completion): words that need not be complete, nor right.
  if (!words.empty() && words.front() == "complete") {
    for (const std::string& each : completion_candidates(app, {words.begin() + 1, words.end()}))
      fmt::print("{}\n", each);
    return success;
  }
  if (!how.left_behind.empty())
    say(fmt::format("nearfar: {} is ignored, as the launcher that set it is gone\n",
                    printable(how.left_behind)));
  std::string wrong = unknown_subcommand(app, words);
  if (wrong.empty()) wrong = empty_item(app, words);
  if (!wrong.empty()) return report_arguments(how, wrong);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
      if (how.rank == 0) app.exit(error);
      return success;
    }
    return report_arguments(
        how, fmt::format("{}; see 'nearfar --help' or 'nearfar SUBCOMMAND --help'", error.what()));
  }
  return status;
}

}  // namespace

}  // namespace nearfar::command

namespace {

using namespace nearfar;

/// What is to be done in the command's words, where the library names an option that only programs have.
std::string without_options_of_cpp(std::string_view text) {
  for (const std::string_view cure : {": raise nearfar::", ": lower nearfar::"})
    if (const std::size_t at = text.find(cure); at != std::string_view::npos)
      return fmt::format("{}: take fewer ranks, or a smaller --lock-count, --keys, --capacity or the like",
                         text.substr(0, at));
  return std::string(text);
}

int run(const command::launch& how, int argc, char** argv) {
  try {
    return command::parse_and_run(how, argc, argv);
  } catch (const mpi::mpi_error& error) {
    return command::report_alone(how, error.what());
  } catch (const stalled& error) {
    return command::report_alone(how, error.what());
  } catch (const command::ranks_apart& error) {
    // Each is alone and speaks for itself: where a shell was opened under the launcher, no other rank is
    // running.
    return command::report({}, error.what(), command::bad_input);
  } catch (const transport_error& error) {
    return command::report(how, error.what(), command::failure);
  } catch (const out_of_memory& error) {
    return command::report(how, without_options_of_cpp(error.what()), command::bad_input);
  } catch (const error& error) {
    return command::report(how, error.what(), command::bad_input);
  } catch (const std::bad_alloc&) {
    return command::report_alone(how, "out of memory: ask for less, of what there are many, or large ones");
  } catch (const std::exception& error) {
    return command::report_alone(how, error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int status = run(command::launch::from_environment(), argc, argv);
  errno = 0;
  if (status != command::success || (std::fflush(stdout) == 0 && std::ferror(stdout) == 0)) return status;
  // What failed before has left no reason any more.
  std::fprintf(stderr, "nearfar: the output could not be written%s%s\n", errno != 0 ? ": " : "",
               errno != 0 ? std::strerror(errno) : "");
  return command::failure;
}
