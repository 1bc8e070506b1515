// nearfar check: locks under every schedule that MPI and C++ allow, or under many random ones.

#include "apps/nearfar/shared/command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/nearfar/check/all.hpp"
#include "apps/nearfar/check/case.hpp"
#include "apps/nearfar/check/checkable.hpp"
#include "apps/nearfar/check/diagram.hpp"
#include "apps/nearfar/check/run.hpp"
#include "apps/nearfar/check/schedule.hpp"
#include "apps/nearfar/shared/kept_work.hpp"
#include "apps/nearfar/shared/launch.hpp"
#include "apps/nearfar/shared/option_values.hpp"
#include "bench/catalogue.hpp"
#include "bench/object.hpp"
#include "bench/rw_catalogue.hpp"

namespace nearfar::command {

namespace {

/// Of random schedules, unless a limit is given.
constexpr std::uint64_t default_executions = 10000;

struct check_command_options {
  std::vector<std::string> locks;
  check_case of;
  std::vector<std::string> modes{"lazy"};
  std::string tier = "exhaustive";
  std::string near;
  std::string conflicts = "report";
  std::string promises;
  std::uint64_t executions = 0;
  double time_limit = 0;
  int jobs = 1;
  bool has_readers = false;
  bool has_nodes = false;
  bool prints_json = false;
  check_files files;
  bool all = false;
  bool quick = false;
  std::string markdown;
  std::string replay;
};

template <typename Value, std::size_t Count>
Value parse_name(const value_names<Value, Count>& names, const std::string& text, const char* option) {
  if (const auto value = value_in(names, text)) return *value;
  std::vector<std::string> known;
  for (const auto& [value, name] : names) known.emplace_back(name);
  throw usage_error(fmt::format("{} cannot be '{}'{}; it can be: {}", option, text, suggestion(text, known),
                                fmt::join(known, ", ")));
}

std::vector<checker::delivery_mode> parse_modes(const std::vector<std::string>& texts) {
  std::vector<checker::delivery_mode> modes;
  for (const std::string& text : texts) {
    if (text == "all")
      for (const auto& [mode, name] : mode_names) modes.push_back(mode);
    else
      modes.push_back(parse_name(mode_names, text, "--mode"));
  }
  std::sort(modes.begin(), modes.end());
  modes.erase(std::unique(modes.begin(), modes.end()), modes.end());
  return modes;
}

/// Throws `usage_error` for what cannot be checked.
void complete(check_command_options& options) {
  options.of.tier = parse_name(tier_names, options.tier, "--tier");
  const bool is_hash = options.of.tier == checker::search::hash;
  if (!options.near.empty()) options.of.near = parse_name(near_names, options.near, "--near");
  if (is_hash && options.near.empty()) options.of.near = checker::near_model::sequential;
  if (is_hash && options.of.near != checker::near_model::sequential)
    throw usage_error("--tier hash knows --near sequential only; leave --near out or take another tier");
  options.of.conflict = parse_name(conflict_names, options.conflicts, "--conflicts");
  if (const auto promised = parse_promises(options.promises))
    options.of.promised = *promised;
  else
    throw usage_error(fmt::format("--promises cannot be '{}'; it can be: {}, all, none", options.promises,
                                  promises_text({true, true, true, true})));
  // Two nodes unless there is one rank only.
  if (!options.has_nodes) options.of.nodes = std::clamp(options.of.ranks, 1, 2);
  if (!options.has_readers) options.of.readers = usual_readers(options.of.ranks);
  if (const std::string why = obstacle(options.of); !why.empty()) throw usage_error(why);
  constexpr double longest = 30 * 86400.0;
  // Written so that NaN is refused too.
  const bool fits = options.time_limit >= 0 && options.time_limit <= longest;
  if (!fits)
    throw usage_error(fmt::format("--time-limit must be a number of seconds, at most {}, not {}", longest,
                                  options.time_limit));
  if (options.jobs > 1 && options.of.tier != checker::search::exhaustive)
    throw usage_error(
        fmt::format("--jobs belongs to --tier exhaustive: --tier {} uses one processor", options.tier));
  const bool is_random = options.of.tier == checker::search::random;
  if (is_random && options.executions == 0 && options.time_limit == 0)
    options.executions = default_executions;
}

check_limits limits_of(const check_command_options& options) {
  check_limits within{.executions = options.executions, .jobs = options.jobs};
  if (options.time_limit > 0)
    within.time = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(options.time_limit));
  return within;
}

const checkable& find_lock(const std::string& name) {
  if (const checkable* lock = find_checkable(name)) return *lock;
  if (bench::catalogue::instance().find(name) != nullptr ||
      bench::rw_catalogue::instance().find(name) != nullptr)
    throw usage_error(fmt::format("cannot check lock '{}': it does not exist in the checked world", name));
  std::vector<std::string> names;
  std::vector<std::string> families;
  for (const checkable& one : checkables()) {
    names.push_back(one.name);
    if (one.is_recommended()) families.push_back(one.name);
  }
  for (const bench::object_kind* kind : bench::object_kinds())
    if (kind->find(name) != nullptr)
      throw usage_error(
          fmt::format("cannot check {} '{}': 'nearfar check' knows locks only: {}, and variants", kind->title,
                      name, fmt::join(families, ", ")));
  throw usage_error(
      fmt::format("unknown lock '{}'{}; 'nearfar list' shows all", name, suggestion(name, names)));
}

std::vector<const checkable*> choose_locks(const check_command_options& options) {
  std::vector<const checkable*> chosen;
  if (options.locks.empty() || options.locks == std::vector<std::string>{"all"}) {
    for (const checkable& lock : checkables())
      if (lock.is_sound && (!options.locks.empty() || lock.is_recommended()) &&
          (!options.has_readers || lock.is_shared) && (!options.of.try_first || lock.can_try))
        chosen.push_back(&lock);
    return chosen;
  }
  for (const std::string& name : options.locks) {
    const checkable& lock = find_lock(name);
    if (lock.one_node_only && options.has_nodes && options.of.nodes > 1)
      throw usage_error(fmt::format("cannot check lock '{}': it works on one node only, not on --nodes {}",
                                    name, options.of.nodes));
    if (!lock.is_shared && options.has_readers)
      throw usage_error(fmt::format(
          "cannot check lock '{}' with --readers: it is exclusive, not a reader-writer lock", name));
    if (!lock.can_try && options.of.try_first)
      throw usage_error(fmt::format("cannot check lock '{}' with --try-first: it has no try_lock", name));
    if (std::find(chosen.begin(), chosen.end(), &lock) == chosen.end()) chosen.push_back(&lock);
  }
  return chosen;
}

/// What is asked of that lock: `all`, but for what does not concern it.
check_case case_of(const check_case& all, const checkable& lock) {
  check_case of = all;
  of.lock = lock.name;
  if (lock.one_node_only) of.nodes = 1;
  if (!lock.is_shared) of.readers = 0;
  if (const std::string why = obstacle(of); !why.empty())
    throw usage_error(fmt::format("cannot check lock '{}': {}", lock.name, why));
  return of;
}

/// `common`: where a lock's case differs, its line says so.
void print_head(const check_command_options& options, const check_case& common) {
  const bool is_random = options.of.tier == checker::search::random;
  fmt::print("# nearfar check, {}: {}, near cells {}{}\n", options.tier, shape_text(common),
             name_in(near_names, options.of.near), crashes_text(options.of));
  if (options.of.conflict == checker::conflicts::enacted)
    fmt::print(
        "# conflicts are no faults here, but what comes of them is: writes come again until their flush\n");
  else if (options.of.promised != checker::promises{})
    fmt::print("# promised beyond the standard: {}\n", promises_text(options.of.promised));
  if (is_random)
    fmt::print("# random schedules from seed {}, every second one by priorities that change {} times\n",
               options.of.seed, options.of.depth);
  else
    fmt::print("# executions: {} explored to their end; pruned: found to lead to nothing new\n",
               options.of.tier == checker::search::hash ? "states" : "traces");
  fmt::print("{:<24}{:<10}{:>12}{:>12}{:>14}{:>9}  {}\n", "# lock", "mode", "executions", "pruned", "steps",
             "s", "result");
}

std::string result_text(const checked& one, const check_case& common) {
  if (one.result.found) return fmt::format("VIOLATION: {}", name(one.result.found->what));
  const bool is_random = one.of.tier == checker::search::random;
  if (one.is_undecided)
    return fmt::format("undecided: a schedule of more than {} steps", options_of(one.of).most_steps);
  std::string text = "nothing found";
  if (one.result.complete)
    text += ", complete";
  else if (!is_random)
    text += " before the limit";
  if (one.result.blocked != 0) text += fmt::format("; {} end blocked by a crash", one.result.blocked);
  if (one.of.nodes != common.nodes) text += "; on one node";
  if (one.of.readers != common.readers)
    text += fmt::format("; {} {}", one.of.readers, one.of.readers == 1 ? "reads" : "read");
  return text;
}

int run_locks(check_command_options options) {
  complete(options);
  const std::vector<checker::delivery_mode> modes = parse_modes(options.modes);
  const std::vector<const checkable*> locks = choose_locks(options);
  std::vector<check_case> cases;
  for (const checkable* lock : locks) cases.push_back(case_of(options.of, *lock));
  check_case common = options.of;
  if (!std::all_of(locks.begin(), locks.end(), [](const checkable* lock) { return lock->is_shared; }))
    common.readers = 0;
  std::optional<check_results> results;
  kept_work work([&](const std::string&) { return results ? results->keep() : std::string(); });
  {
    const auto hold = work.hold();
    results.emplace(options.files, options.prints_json);
  }
  if (!options.prints_json) print_head(options, common);
  for (std::size_t i = 0; i < locks.size(); ++i)
    for (const checker::delivery_mode mode : modes) {
      check_case& of = cases[i];
      of.mode = mode;
      const checked one = run_check(of, *locks[i], limits_of(options));
      const auto hold = work.hold();
      results->add(one);
      if (options.prints_json) continue;
      fmt::print("{:<24}{:<10}{:>12}{:>12}{:>14}{:>9.2f}  {}\n", of.lock, name_in(mode_names, mode),
                 one.result.executions, one.result.pruned, one.result.steps,
                 std::chrono::duration<double>(one.result.time).count(), result_text(one, common));
      std::fflush(stdout);
    }
  return work.finish([&] { return results->finish(); });
}

int run_replay(const check_command_options& options) {
  const recorded_schedule recorded = read_schedule(options.replay);
  const checkable& lock = find_lock(recorded.of.lock);
  if (lock.one_node_only && recorded.of.nodes > 1)
    throw usage_error(fmt::format("'{}' wants lock '{}' on {} nodes; it works on one node only",
                                  options.replay, lock.name, recorded.of.nodes));
  if (!lock.is_shared && recorded.of.readers != 0)
    throw usage_error(
        fmt::format("'{}' wants readers of lock '{}', which is exclusive", options.replay, lock.name));
  if (!lock.can_try && recorded.of.try_first)
    throw usage_error(
        fmt::format("'{}' wants attempts of lock '{}', which has no try_lock", options.replay, lock.name));
  std::optional<bench::output_file> svg;
  open_svg(svg, options.files.svg);
  const checker::replayed shown =
      replay(lock.program(recorded.of), options_of(recorded.of), recorded.found.schedule);
  fmt::print("# nearfar check --replay {}: recorded {}\n{}", options.replay, name(recorded.found.what),
             violation_text(recorded.of, shown));
  if (svg) {
    svg->write(diagram(recorded.of, shown));
    svg->commit();
  }
  if (shown.refused != 0)
    fmt::print("\n  {} of the {} recorded steps could not be taken: the lock has changed since.\n",
               shown.refused, recorded.found.schedule.size());
  if (!shown.found) {
    fmt::print("\n  The violation does not happen again: nothing found under this schedule.\n");
    return success;
  }
  fmt::print("\n  {}\n", shown.found->what == recorded.found.what
                             ? "The violation happens again."
                             : "A violation of another kind than the recorded one.");
  return failure;
}

/// Throws `usage_error` if one of `others` is given beside `option`.
void refuse_beside(const CLI::App& command, const char* option, const std::vector<std::string>& others,
                   const char* why) {
  for (const std::string& other : others)
    if (command.count(other) != 0) throw usage_error(fmt::format("{} {}: leave out {}", option, why, other));
}

int run_check_command(const CLI::App& command, check_command_options options) {
  const std::vector<std::string> bounds{"--locks",        "--ranks",
                                        "--acquisitions", "--nodes",
                                        "--mode",         "--tier",
                                        "--near",         "--seed",
                                        "--home",         "--executions",
                                        "--time-limit",   "--depth",
                                        "--step-limit",   "--max-local-passes",
                                        "--try-first",    "--conflicts",
                                        "--promises",     "--crashes",
                                        "--jobs",         "--readers"};
  options.has_nodes = command.count("--nodes") != 0;
  options.has_readers = command.count("--readers") != 0;
  if (!options.replay.empty()) {
    refuse_beside(command, "--replay", bounds, "takes everything from the file");
    refuse_beside(command, "--replay", {"--all", "--json", "--output", "--trace"}, "prints one schedule");
  }
  if (options.all) refuse_beside(command, "--all", bounds, "checks a fixed set");
  if (!options.all)
    for (const char* part : {"--quick", "--markdown"})
      if (command.count(part) != 0) throw usage_error(fmt::format("{} belongs to --all", part));
  if (launch::from_environment().rank != 0) return success;
  if (!options.replay.empty()) return run_replay(options);
  if (options.all)
    return check_all({.quick = options.quick,
                      .prints_json = options.prints_json,
                      .files = options.files,
                      .markdown = options.markdown});
  return run_locks(std::move(options));
}

void add_bounds(CLI::App& command, check_command_options& options) {
  command
      .add_option("--locks", options.locks,
                  "Names of locks and reader-writer locks as 'nearfar list' shows, separated by commas, or "
                  "'all' that are sound; "
                  "default: each family's recommended setting")
      ->delimiter(',');
  command.add_option("--ranks", options.of.ranks, "Ranks, at most 64; exhaustively 4 at most in practice")
      ->capture_default_str();
  command.add_option("--acquisitions", options.of.acquisitions, "Times that each rank acquires and releases")
      ->capture_default_str();
  command.add_option(
      "--nodes", options.of.nodes,
      "Nodes, over which the ranks are spread evenly; default: 2, and 1 for locks of one node");
  command.add_option("--readers", options.of.readers,
                     "Ranks that read, the last so many; the others write. For reader-writer locks, and only "
                     "these are then chosen; default: half of the ranks, but one at least");
  command.add_option("--home", options.of.home, "The lock's home rank")->capture_default_str();
  command.add_flag("--try-first", options.of.try_first,
                   "Acquire by try_lock first, then by lock; only locks with try_lock");
  command
      .add_option("--max-local-passes", options.of.max_local_passes,
                  "Passes within a node before another node's turn; low, so that the limit is reached")
      ->capture_default_str();
  command
      .add_option("--mode", options.modes,
                  "When an RMA operation takes effect: 'eager' at its issue, 'lazy' inside its flush only, "
                  "'progress' any time while the target is in the library; several, or 'all'")
      ->delimiter(',')
      ->capture_default_str();
  command.add_option(
      "--near", options.near,
      "What loads of near cells return: 'sequential' the last value, 'release_acquire' any that C++ "
      "allows; default: release_acquire, and sequential for --tier hash");
  command
      .add_option(
          "--conflicts", options.conflicts,
          "Accesses whose race MPI leaves undefined: 'report' them, or 'enact' what may come of them: each "
          "RMA write is written again at any step before its flush returns")
      ->capture_default_str();
  command
      .add_option("--promises", options.promises,
                  "What MPI libraries are trusted to do beyond the standard (docs/verification.md): 'none', "
                  "'all', or some of racing_gets, racing_loads, mixed_accumulates, causal_messages")
      ->capture_default_str();
  command
      .add_option(
          "--crashes", options.of.crashes,
          "Ranks that may stop for good, each at any step: what they have not flushed arrives or does "
          "not. Who then waits for one is blocked, which is counted; anything worse is a violation")
      ->capture_default_str();
  command
      .add_option(
          "--tier", options.tier,
          "'exhaustive' every trace, by source sets; 'hash' every state, slower and simpler, a check of "
          "the other; 'random' many schedules")
      ->capture_default_str();
  command.add_option("--seed", options.of.seed, "Seed of random schedules")->capture_default_str();
  command
      .add_option("--depth", options.of.depth,
                  "Changes of priority in every second random schedule; 3 to 5 find most faults")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command.add_option("--executions", options.executions,
                     "End each search after that many; default: none, and 10000 random ones");
  command.add_option("--time-limit", options.time_limit, "End each search after that many seconds");
  command
      .add_option("--jobs", options.jobs,
                  "Processors that search exhaustively; the same answer, but perhaps another violation first")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command
      .add_option(
          "--step-limit", options.of.step_limit,
          "Steps after which a schedule is cut off, and the search is undecided; default: 20000, or 200 "
          "for each acquisition if that is more")
      ->check(at_least_one());
}

}  // namespace

void add_check(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "check", "Check locks under every schedule and delivery of RMA that MPI and C++ allow");
  auto options = std::make_shared<check_command_options>();
  options->promises = promises_text(options->of.promised);
  add_bounds(*command, *options);
  command->add_flag("--json", options->prints_json, "Print records (JSON Lines) in place of text");
  command->add_option("--output", options->files.output, "Write the records to this file too");
  command->add_option("--trace", options->files.trace,
                      "Write the schedule of the first violation to this file");
  command->add_option("--svg", options->files.svg, "Draw the first violation, or the replayed schedule");
  command->add_option("--replay", options->replay, "Run the schedule in this file again");
  command->add_flag(
      "--all", options->all,
      "Every lock with 2 x 2, 2 x 4, 3 x 2 and 4 x 1 ranks x acquisitions under every mode, and "
      "reader-writer locks with 2w+1r x 1, 1w+2r x 1, 2w+2r x 1, 3w+1r x 1 and 1w+1r x 2");
  command->add_flag("--quick", options->quick, "With --all: the part for continuous integration");
  command->add_option("--markdown", options->markdown,
                      "With --all: put the table into this file, between its markers");
  command->footer(
      "Exit status: 0 nothing found, 1 a violation, 2 bad input, 3 undecided. docs/verification.md "
      "explains.");
  command->callback([command, options, &status] { status = run_check_command(*command, *options); });
}

}  // namespace nearfar::command
