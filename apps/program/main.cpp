// nearfar-program: runs somebody's MPI program, once or in every schedule. `nearfar run` and `nearfar check
// -- PROGRAM` start it.
#include <fcntl.h>
#include <sys/personality.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "../../src/program/functions.hpp"
#include "../../src/program/report.hpp"
#include "../../src/program/search.hpp"
#include "../../src/program/shown_output.hpp"
#include "picture.hpp"

namespace {

namespace program = nearfar::program;

enum status : int { complete = 0, fault = 1, usage = 2, incomplete = 3 };

/// Addresses repeat from run to run, so that a schedule fits a program whose steps depend on them.
void fix_addresses(char** arguments) {
  const int now = personality(0xffffffff);
  if (now == -1 || (now & ADDR_NO_RANDOMIZE) != 0 || std::getenv("NEARFAR_RANDOM_ADDRESSES") != nullptr)
    return;
  if (personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE) == -1) return;
  setenv("NEARFAR_RANDOM_ADDRESSES", "kept", 1);  // not again, where the system does not permit it
  execv("/proc/self/exe", arguments);
}

struct wishes {
  program::settings how;
  program::limits within;
  std::string tier = "exhaustive";
  std::string sends = "both";
  std::string mode = "any";
  std::string promises = "racing_loads";
  std::string replay;
  std::string keep;
  std::string svg;
  std::uint64_t seed = 1;
  bool is_json = false;
  bool has_ranks = false;  ///< --ranks was given, and so on
  bool has_promises = false;
  bool has_steps = false;
  bool has_turns = false;
  bool has_freedom = false;  ///< --mode, --lag or --sends
  bool is_replaced = false;  ///< an older file of --keep or --svg
  std::vector<std::string> command;
};

[[nodiscard]] std::vector<program::freedom> passes(const wishes& from) {
  const program::freedom waiting{.sends_wait = true, .collectives_wait = true};
  const program::freedom eager{.sends_wait = false, .collectives_wait = false};
  if (from.sends == "wait") return {waiting};
  if (from.sends == "buffer") return {eager};
  return {waiting, eager};
}

void grant(wishes& to) {
  program::settings& how = to.how;
  if (to.promises == "all") to.promises = "racing_loads,plain_loads,mixed_accumulates,racing_gets";
  how.grants_racing_loads = to.promises.find("racing_loads") != std::string::npos ||
                            to.promises.find("plain_loads") != std::string::npos;
  how.grants_plain_loads = to.promises.find("plain_loads") != std::string::npos;
  how.grants_mixed_accumulates = to.promises.find("mixed_accumulates") != std::string::npos;
  how.needs_help = to.mode == "progress";
  how.grants_racing_gets = to.promises.find("racing_gets") != std::string::npos;
}

/// The picture of the schedule of a fault, or of a replay.
void draw(program::execution& in, const program::result& found, const wishes& from) {
  if (!found.found && from.replay.empty()) {
    std::fprintf(stderr, "nearfar-program: no fault: '%s' is not written\n", from.svg.c_str());
    return;
  }
  program::result shown = found;
  if (from.replay.empty()) {
    in.tell_steps(true);
    shown = program::replay(in, found.under, found.how);
    in.tell_steps(false);
    if (!shown.found) shown.found = found.found;  // a comparison of two executions found it
  }
  std::ofstream to(from.svg);
  to << program::picture_of(in, shown);
  if (!to.flush()) throw std::runtime_error("cannot write the picture to '" + from.svg + "'");
  if (!from.is_json) std::printf("  The picture of the schedule is in %s\n", from.svg.c_str());
}

[[nodiscard]] int tell(program::execution& in, program::result found, const wishes& from) {
  if (found.found && found.found->kind != "uninitialised" && !found.how.empty() &&
      found.executions + found.pruned > 0 && from.replay.empty()) {
    found.how = program::shorten(in, found);
    const program::result again = program::replay(in, found.under, found.how);
    if (again.found) found.found = again.found;
    found.how = again.how;
  }
  if (from.is_json) {
    std::printf("%s\n", program::json_of(in, found).c_str());
  } else {
    if (found.found) {
      std::printf("%s", program::text_of(in, *found.found).c_str());
      std::printf("  Found in execution %llu, where standard sends %s.\n",
                  static_cast<unsigned long long>(found.found_in),
                  found.under.sends_wait ? "wait for their receives" : "are buffered");
    } else {
      std::printf(
          "%s: %llu executions, %llu pruned, %llu steps, %.2f s\n",
          found.is_complete ? "No fault in any schedule" : "No fault so far; not all schedules were tried",
          static_cast<unsigned long long>(found.executions), static_cast<unsigned long long>(found.pruned),
          static_cast<unsigned long long>(found.steps), found.seconds);
    }
  }
  if (const std::vector<std::string> relied = in.relied_on(); !from.is_json && !relied.empty()) {
    std::string names;
    for (const std::string& one : relied) names += (names.empty() ? "" : ", ") + one;
    std::printf("The program relies on promises beyond the standard: %s\n", names.c_str());
  }
  if (found.found && !from.keep.empty()) {
    program::write_schedule(from.keep, in, found);
    if (!from.is_json)
      std::printf("  The schedule is in %s: nearfar check --replay %s\n", from.keep.c_str(),
                  from.keep.c_str());
  }
  if (!from.svg.empty()) draw(in, found, from);
  if (!found.found) return found.is_complete ? complete : incomplete;
  return found.found->outcome == program::verdict::fault ? fault : incomplete;
}

[[nodiscard]] int check(wishes& from) {
  grant(from);
  program::execution in(from.how);
  program::result total;
  total.is_complete = true;
  for (const program::freedom under : passes(from)) {
    const program::result one = from.tier == "random"
                                    ? program::search_at_random(in, under, from.within, from.seed)
                                    : program::search_exhaustively(in, under, from.within);
    if (one.found && (!total.found || one.found->kind != "leak")) {
      total.found = one.found;
      total.how = one.how;
      total.under = under;
      total.found_in = total.executions + one.found_in;
    }
    total.executions += one.executions;
    total.pruned += one.pruned;
    total.steps += one.steps;
    total.seconds += one.seconds;
    total.is_complete = total.is_complete && one.is_complete;
    // A leak does not hide what the other pass finds.
    if (one.found && one.found->kind != "leak") break;
  }
  return tell(in, std::move(total), from);
}

[[nodiscard]] int run(wishes& from) {
  grant(from);
  from.how.shows_output = true;
  program::execution in(from.how);
  program::result found = program::run_once(in, passes(from).front());
  std::fflush(stdout);
  if (!found.found) return complete;
  std::fprintf(stderr, "%s", program::text_of(in, *found.found).c_str());
  return found.found->outcome == program::verdict::fault ? fault : incomplete;
}

[[nodiscard]] int replay(wishes& from) {
  program::kept_schedule kept = program::read_schedule(from.replay);
  if (from.command.empty()) {
    from.how.program = kept.how.program;
    from.how.arguments = kept.how.arguments;
  }
  if (from.has_ranks && from.how.ranks != kept.how.ranks)
    throw std::runtime_error("the schedule is one of " + std::to_string(kept.how.ranks) + " ranks, not of " +
                             std::to_string(from.how.ranks) + ": leave --ranks out");
  from.how.ranks = kept.how.ranks;
  from.how.ranks_per_node = kept.how.ranks_per_node;
  from.mode = kept.how.needs_help ? "progress" : "any";
  from.how.has_lag = kept.how.has_lag;
  if (!from.has_promises) from.promises = kept.promises;
  if (!from.has_steps) from.how.most_steps = kept.how.most_steps;
  if (!from.has_turns) from.how.most_idle_turns = kept.how.most_idle_turns;
  grant(from);
  from.how.shows_output = !from.is_json;
  program::execution in(from.how);
  in.tell_steps(true);
  program::result found = program::replay(in, kept.under, kept.steps);
  if (!from.is_json)
    for (std::size_t i = 0; i < in.size(); ++i) {
      const program::event& step = in.at(i);
      if (step.shown.text.empty()) continue;
      const std::vector<std::string> lines = program::lines_of(in, step.shown.where);
      std::printf("%4zu  rank %d %s%s%s%s\n", i + 1, step.by.rank, step.by.flight == 0 ? "" : "  its ",
                  program::text_of(step.shown).c_str(), lines.empty() ? "" : "  ",
                  lines.empty() ? "" : lines.front().c_str());
    }
  found.is_complete = false;
  return tell(in, std::move(found), from);
}

/// An error, or nothing.
[[nodiscard]] std::string is_list_of_promises(const std::string& text) {
  if (text.empty() || text == "none" || text == "all") return {};
  std::istringstream in(text);
  for (std::string one; std::getline(in, one, ',');)
    if (std::find(std::begin(program::promise_names), std::end(program::promise_names), one) ==
        std::end(program::promise_names))
      return "'" + one +
             "' is no promise: racing_loads, plain_loads, mixed_accumulates, racing_gets, all or none";
  return {};
}

/// An error, or nothing.
[[nodiscard]] std::string is_limit(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return value >= 0 && *end == '\0' ? std::string()
                                    : "'" + text + "' is no limit: give a number, or 0 for none";
}

[[nodiscard]] std::string is_above_zero(const std::string& text) {
  return is_limit(text).empty() && std::strtod(text.c_str(), nullptr) > 0
             ? std::string()
             : "'" + text + "' is no number above 0";
}

void add_options(CLI::App& to, wishes& from) {
  to.add_option("--ranks,-n", from.how.ranks, "Number of ranks (default: 2)")
      ->check(CLI::Range(1, program::most_ranks));
  to.add_option("--node", from.how.ranks_per_node, "Ranks on each node (default: all)")
      ->check(CLI::Range(1, program::most_ranks));
  to.add_option("--steps", from.how.most_steps, "Steps of one execution (default: 20000)")
      ->check(is_above_zero, "NUMBER");
  to.add_option("--turns", from.how.most_idle_turns,
                "Turns of a loop in which nothing changes, before it is a hang (default: 300)")
      ->check(CLI::Range(1, 1'000'000'000));
  to.add_option("--promises", from.promises,
                "Promises beyond the standard, with commas, or all or none (default: racing_loads)")
      ->check(is_list_of_promises, "PROMISES");
  to.add_option("--mode", from.mode, "any, or progress: RMA does not reach a rank that loops outside MPI")
      ->check(CLI::IsMember({"any", "progress"}));
  to.add_flag("--lag", from.how.has_lag, "Try also that MPI_Test tells of a complete request later");
  to.add_option("--sends", from.sends, "Standard sends: wait, buffer or both (default: both)")
      ->check(CLI::IsMember({"wait", "buffer", "both"}));
  to.add_option("command", from.command, "The program and its arguments, after --");
}

/// The status of a command that has printed all that it had to say.
[[nodiscard]] int with_output_written(int status) {
  errno = 0;
  const bool is_written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (is_written && program::lost_output() == 0) return status;
  if (program::lost_output() != 0) errno = program::lost_output();
  std::fprintf(stderr, "nearfar-program: cannot write standard output: %s; free space or send it elsewhere\n",
               std::strerror(errno != 0 ? errno : EIO));
  return fault;
}

/// A sentence about a file that cannot be written, or nothing: a long search must not end with one.
[[nodiscard]] std::string problem_of_files(const wishes& from) {
  namespace files = std::filesystem;
  std::error_code code;
  for (const std::string& one : {from.keep, from.svg}) {
    if (one.empty()) continue;
    const files::file_status found = files::symlink_status(one, code);
    if (found.type() != files::file_type::not_found && found.type() != files::file_type::regular)
      return "'" + one + "' is no ordinary file: choose another name";
    if (found.type() == files::file_type::regular && !from.is_replaced)
      return "'" + one + "' exists: choose another name, or replace it with --overwrite";
    const std::string folder = files::absolute(one, code).parent_path();
    if (access(folder.c_str(), W_OK | X_OK) != 0)
      return "cannot write '" + one + "': " + std::strerror(errno) + " (its folder)";
  }
  const auto name_of = [&code](const std::string& one) {
    return one.empty() ? files::path() : files::weakly_canonical(one, code);
  };
  for (const std::string& other : {from.keep, from.replay})
    if (!from.svg.empty() && name_of(other) == name_of(from.svg))
      return "'" + from.svg + "' cannot be the schedule and its picture: choose two names";
  return {};
}

[[nodiscard]] int carry_out(wishes& from, bool runs) {
  if (!from.command.empty()) {
    from.how.program = from.command.front();
    from.how.arguments.assign(from.command.begin() + 1, from.command.end());
  } else if (from.replay.empty()) {
    std::fprintf(stderr,
                 "nearfar-program: name the program after --, as in: nearfar %s --ranks 3 -- ./program 100\n",
                 runs ? "run" : "check");
    return usage;
  }
  if (!from.replay.empty() && from.has_freedom) {
    std::fprintf(stderr,
                 "nearfar-program: a schedule has its own --mode, --lag and --sends: leave them out\n");
    return usage;
  }
  if (const std::string problem = problem_of_files(from); !problem.empty()) {
    std::fprintf(stderr, "nearfar-program: %s\n", problem.c_str());
    return usage;
  }
  if (runs) return run(from);
  return from.replay.empty() ? check(from) : replay(from);
}

}  // namespace

int main(int count, char** arguments) {
  fix_addresses(arguments);
  // A file that is opened later would take the place of a closed standard output.
  if (fcntl(STDOUT_FILENO, F_GETFD) == -1) {
    std::fprintf(stderr, "nearfar-program: cannot write standard output: it is closed; send it elsewhere\n");
    return fault;
  }
  CLI::App app{"Runs MPI programs that nearfar-cc or nearfar-c++ has compiled, in the model checker"};
  app.require_subcommand(0, 1);
  wishes from;
  bool lists = false;
  app.add_flag("--list-mpi", lists, "List the functions of MPI that the checker has");
  CLI::App* const run_command = app.add_subcommand("run", "Run the program once");
  add_options(*run_command, from);
  run_command->add_flag("--list-mpi", lists, "List the functions of MPI that the checker has");
  CLI::App* const check_command = app.add_subcommand("check", "Check the program in every schedule");
  add_options(*check_command, from);
  check_command->add_option("--tier", from.tier, "exhaustive or random (default: exhaustive)")
      ->check(CLI::IsMember({"exhaustive", "random"}));
  check_command
      ->add_option("--executions", from.within.executions, "Executions of each search (default: no limit)")
      ->check(is_limit, "NUMBER");
  check_command->add_option("--time-limit", from.within.seconds, "Seconds of each search (default: no limit)")
      ->check(is_limit, "NUMBER");
  check_command->add_option("--seed", from.seed, "Seed of the random tier (default: 1)");
  check_command->add_option("--keep", from.keep, "File for the schedule of a fault");
  check_command->add_option("--svg", from.svg,
                            "File for a picture of the fault's schedule, or of the replay");
  check_command->add_flag("--overwrite", from.is_replaced, "Replace older files of --keep and --svg");
  check_command->add_option("--replay", from.replay,
                            "File of a schedule to repeat, with the program's output");
  check_command->add_flag("--json", from.is_json, "Print the result as JSON");
  try {
    app.parse(count, arguments);
  } catch (const CLI::Success& asked) {
    return with_output_written(app.exit(asked));
  } catch (const CLI::ParseError& wrong) {
    std::fprintf(stderr, "nearfar-program: %s; --help lists the options\n", wrong.what());
    return usage;
  }
  try {
    if (lists) {
      std::printf("%s", program::list_functions().c_str());
      return with_output_written(complete);
    }
    if (app.get_subcommands().empty()) {
      std::fprintf(stderr, "nearfar-program: name a subcommand: run or check; --help lists the options\n");
      return usage;
    }
    const auto has = [check_command](const char* option) { return check_command->count(option) > 0; };
    from.has_ranks = has("--ranks");
    from.has_promises = has("--promises");
    from.has_steps = has("--steps");
    from.has_turns = has("--turns");
    from.has_freedom = has("--mode") || has("--lag") || has("--sends");
    if ((has("--keep") && from.keep.empty()) || (has("--svg") && from.svg.empty())) {
      std::fprintf(stderr, "nearfar-program: --keep and --svg need the name of a file\n");
      return usage;
    }
    return with_output_written(carry_out(from, run_command->parsed()));
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "nearfar-program: %s\n", problem.what());
    return usage;
  }
}
