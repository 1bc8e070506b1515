// nearfar: measures, checks and plots synchronisation on near and far memory.

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "apps/nearfar/completion/candidates.hpp"
#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/help.hpp"
#include "apps/nearfar/shared/launch.hpp"
#include "apps/nearfar/shared/man_page.hpp"
#include "apps/nearfar/shared/option_values.hpp"
#include "bench/results/output_file.hpp"
#include "nearfar/memory/mpi/call.hpp"
#include "version.hpp"

namespace nearfar::command {

namespace {

/// That stdout takes no more, with the reason if one is known.
std::string lost_output(const std::string& why) {
  return fmt::format("cannot write standard output{}{}; free space or send it elsewhere",
                     why.empty() ? "" : ": ", why);
}

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
  if (how.rank == 0) remark("{}", printable(text));
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
  remark("{}{}", how.under_mpi ? fmt::format("rank {}: ", how.rank) : "", printable(text));
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

/// The subcommand that words of the command line lead to.
struct place {
  const CLI::App* at;
  std::string path;  ///< "nearfar bench ecsb"

  /// Goes on to the subcommand of that name, if there is one.
  bool enter(const std::string& word) {
    const auto named = at->get_subcommands([&](const CLI::App* each) { return each->get_name() == word; });
    if (named.empty()) return false;
    at = named.front();
    path += " " + word;
    return true;
  }
};

place start_of(const CLI::App& app) { return {&app, std::string(program_name())}; }

/// Where all words lead that name subcommands.
place place_of(const CLI::App& app, const std::vector<std::string>& words) {
  place result = start_of(app);
  for (const std::string& word : words) result.enter(word);
  return result;
}

/// The fault in the subcommands that `words` begin with, or nothing.
std::string unknown_subcommand(const CLI::App& app, const std::vector<std::string>& words) {
  place within = start_of(app);
  const char* const elsewhere =
      program_name() == "nearfar" ? "" : "; 'make build' builds the whole command, which has more";
  for (const std::string& word : words) {
    const std::vector<std::string> known = subcommand_names(*within.at);
    if (known.empty() || word.empty() || word[0] == '-') break;
    if (!within.enter(word))
      return unknown_name("subcommand", word, known,
                          fmt::format("'{} --help' lists all{}", within.path, elsewhere));
  }
  return "";
}

bool looks_like_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' &&
         (word[1] == '-' || std::isalpha(static_cast<unsigned char>(word[1])) != 0);
}

/// That an option stands before the subcommand of `words` that has it; nothing if none has it.
std::string misplaced_option(place within, const std::string& name, const std::vector<std::string>& words) {
  for (const std::string& word : words)
    if (within.enter(word) && within.at->get_option_no_throw(name) != nullptr)
      return fmt::format("option '{}' belongs to '{}': write it behind '{}'", name, within.path, word);
  return "";
}

/// The first of `words` that looks like an option and is none where it stands, in a sentence, or nothing.
std::string unknown_option(const CLI::App& app, const std::vector<std::string>& words) {
  place within = start_of(app);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") break;
    if (within.enter(word) || !looks_like_option(word)) continue;
    const std::string name = word.substr(0, word.find('='));
    if (within.at->get_option_no_throw(name) != nullptr) continue;
    const std::vector<std::string> behind(words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
    if (std::string wrong = misplaced_option(within, name, behind); !wrong.empty()) return wrong;
    return unknown_name("option", name, option_names(*within.at),
                        fmt::format("'{} --help' lists all", within.path));
  }
  return "";
}

/// The parser's error, in one sentence.
std::string text_of(const CLI::App& app, const CLI::ParseError& error) {
  std::string text = error.what();
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
    const std::vector<std::string> left = app.remaining(true);
    text = fmt::format("unexpected argument{} {}", left.size() == 1 ? "" : "s", fmt::join(left, " "));
  }
  if (text.starts_with("A ")) {
    text.front() = 'a';
  } else if (const std::string missing = " is required"; text.ends_with(missing) && !text.starts_with('-')) {
    text = fmt::format("argument '{}' is missing", text.substr(0, text.size() - missing.size()));
  }
  return text;
}

/// "help bench ecsb" asks for the same as "bench ecsb --help".
std::vector<std::string> with_help_as_option(std::vector<std::string> words) {
  if (words.empty() || words.front() != "help") return words;
  words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

int parse_and_run(const launch& how, int argc, char** argv) {
  CLI::App app(fmt::format("Measure synchronisation on near and far memory: {}.", kinds_text(naming::all)),
               std::string(program_name()));
  app.formatter(help_formatter());
  app.set_version_flag("-V,--version", fmt::format("{} {} ({})", program_name(), version, commit),
                       "Print the version and the commit, and exit");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "Print the help of every subcommand and exit");
  app.footer(
      "Exit status: 0 done and complete, 1 a fault or a regression was found or output was lost, 2 wrong "
      "usage or input, 3 incomplete (a limit, missing samples, undecided), 128 + n signal n. "
      "docs/scripting.md has the table. README.md shows examples; docs/catalogue.md lists all objects.");
  int status = success;
  add_subcommands(app, status);
  refuse_careless_values(app);

  const std::vector<std::string> words = with_help_as_option(std::vector<std::string>(argv + 1, argv + argc));
  hand_over(words);
  // Shells call this (nearfar completion). The words need not be complete, nor right.
  if (!words.empty() && words.front() == "complete") {
    for (const std::string& each : completion_candidates(app, {words.begin() + 1, words.end()}))
      fmt::print("{}\n", each);
    return success;
  }
  // The build calls this.
  if (words == std::vector<std::string>{"man"}) {
    fmt::print("{}", man_page(app));
    return success;
  }
  if (!how.left_behind.empty())
    remark("{} is ignored, as the launcher that set it is gone", printable(how.left_behind));
  std::string wrong = unknown_subcommand(app, words);
  if (wrong.empty()) wrong = unknown_option(app, words);
  if (wrong.empty()) wrong = missing_value(app, words);
  if (wrong.empty()) wrong = empty_item(app, words);
  if (!wrong.empty()) return report_arguments(how, wrong);
  try {
    std::vector<std::string> last_first(words.rbegin(), words.rend());
    app.parse(last_first);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
      if (how.rank == 0) app.exit(error);
      return success;
    }
    return report_arguments(
        how, fmt::format("{}; see '{} --help'", text_of(app, error), place_of(app, words).path));
  }
  return status;
}

}  // namespace

}  // namespace nearfar::command

namespace {

using namespace nearfar;

/// Whether the subcommand is the one that checks, which has other options than those that measure.
bool checks(int argc, char** argv) { return argc > 1 && std::string_view(argv[1]) == "check"; }

/// The advice in the command's words, if the library names an option that only programs have.
std::string without_options_of_cpp(std::string_view text, bool is_check) {
  for (const std::string_view cure : {": raise nearfar::", ": lower nearfar::"})
    if (const std::size_t at = text.find(cure); at != std::string_view::npos)
      return fmt::format("{}; use fewer ranks, {}", text.substr(0, at),
                         is_check ? "a smaller --capacity, or a shorter --plan"
                                  : "or a smaller --lock-count, --keys or --capacity");
  return std::string(text);
}

/// Makes writes fail that would end the process: no signal tells that a reader has gone, or that a file is
/// larger than allowed, and what is incomplete can be kept or removed.
void ignore_signals_of_writes() {
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
}

/// Ends as a program does that nobody reads from any more, without a message.
[[noreturn]] void end_without_reader() {
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
  std::_Exit(command::of_signals + SIGPIPE);
}

/// The end of a command whose standard output takes no more, for that reason if one is known.
int end_without_output(const command::launch& how, int why) {
  if (why == EPIPE && !mpi::is_active()) end_without_reader();
  return command::report_alone(how, command::lost_output(why != 0 ? std::strerror(why) : ""));
}

/// Puts /dev/null in the place of closed standard streams, so that no file that is opened later gets their
/// numbers. Whatever is written to stdout fails as before, and is reported as lost.
void fill_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0) continue;  // NOLINT(*-vararg)
    const int access = stream == STDERR_FILENO ? O_WRONLY : O_RDONLY;
    // The system gives the lowest free number, which is this stream's.
    [[maybe_unused]] const int same = open("/dev/null", access);  // NOLINT(*-vararg)
  }
}

/// `has_said`: becomes true where it has said that stdout takes no more.
int run(const command::launch& how, int argc, char** argv, bool& has_said) {
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
  } catch (const bench::lost_file& error) {
    return command::report(how, error.what(), command::failure);
  } catch (const out_of_memory& error) {
    return command::report(how, without_options_of_cpp(error.what(), checks(argc, argv)), command::bad_input);
  } catch (const error& error) {
    return command::report(how, error.what(), command::bad_input);
  } catch (const std::bad_alloc&) {
    return command::report_alone(
        how,
        checks(argc, argv)
            ? "out of memory; use a smaller --ranks, --acquisitions, --capacity or --jobs, or a shorter "
              "--plan"
            : "out of memory; use fewer or smaller objects, such as a smaller --ranks, --keys or --lengths");
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::resource_unavailable_try_again)
      return command::report_alone(
          how, fmt::format("cannot start a thread: {}; raise the limits on processes and memory (ulimit -u, "
                           "ulimit -d, ulimit -v)",
                           error.code().message()));
    if (std::ferror(stdout) == 0) return command::report_alone(how, error.what());
    has_said = true;
    return end_without_output(how, error.code().value());
  } catch (const std::exception& error) {
    return command::report_alone(how, error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  fill_closed_streams();
  ignore_signals_of_writes();
  const command::launch how = command::launch::from_environment();
  bool has_said = false;
  const int status = run(how, argc, argv, has_said);
  errno = 0;
  if (has_said || (std::fflush(stdout) == 0 && std::ferror(stdout) == 0)) return status;
  // A write that failed earlier has left no reason in errno.
  return end_without_output(how, errno);
}
