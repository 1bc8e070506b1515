// nearfar check: locks, queues, maps and channels under every schedule that MPI and C++ allow, or under many
// random ones.

#include "apps/nearfar/shared/command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/nearfar/check/all.hpp"
#include "apps/nearfar/check/case.hpp"
#include "apps/nearfar/check/checkable.hpp"
#include "apps/nearfar/check/diagram.hpp"
#include "apps/nearfar/check/plan.hpp"
#include "apps/nearfar/check/results.hpp"
#include "apps/nearfar/check/run.hpp"
#include "apps/nearfar/check/schedule.hpp"
#include "apps/nearfar/shared/kept_work.hpp"
#include "apps/nearfar/shared/launch.hpp"
#include "apps/nearfar/shared/option_values.hpp"
#include "bench/object.hpp"
#include "nearfar/lock/local_passes.hpp"

namespace nearfar::command {

namespace {

/// Of random schedules, unless a limit is given.
constexpr std::uint64_t default_executions = 10000;
/// Of the usual plan of a queue, a map or a channel, unless a limit is given: some have millions.
constexpr std::uint64_t executions_of_usual_plan = 20000;

struct check_command_options {
  std::array<std::vector<std::string>, checked_kinds.size()> names;  ///< of each kind
  check_case of;
  std::string plan;
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
  bool has_ranks = false;
  bool has_local_passes = false;
  /// Says itself what to search, so that unsound objects are not checked in the way that tells.
  bool chooses_search = false;
  bool prints_json = false;
  check_files files;
  bool all = false;
  bool quick = false;
  std::string markdown;
  std::string replay;

  [[nodiscard]] const std::vector<std::string>& names_of(checked_kind kind) const {
    return names.at(static_cast<std::size_t>(kind));
  }
};

template <typename Value, std::size_t Count>
Value parse_name(const value_names<Value, Count>& names, const std::string& text, const char* option) {
  if (const auto value = value_in(names, text)) return *value;
  std::vector<std::string> known;
  for (const auto& [value, name] : names) known.emplace_back(name);
  throw usage_error(unknown_name(option, text, known));
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
    throw usage_error(fmt::format("--promises '{}' is unknown; choose some of {}, or all, or none",
                                  options.promises, promises_text({true, true, true, true})));
  // Two nodes unless there is one rank only.
  if (!options.has_nodes) options.of.nodes = std::clamp(options.of.ranks, 1, 2);
  if (!options.has_readers) options.of.readers = usual_readers(options.of.ranks);
  // A plan says itself how many ranks there are.
  if (const std::string why = options.plan.empty() ? obstacle(options.of) : ""; !why.empty())
    throw usage_error(why);
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

/// Whether the object is unsound and is to show it.
bool is_to_tell(const check_command_options& options, const checkable& object) {
  return object.has_telling_plan() && !options.chooses_search;
}

check_limits limits_of(const check_command_options& options, const checkable& object, const check_case& of) {
  check_limits within{.executions = options.executions, .jobs = options.jobs};
  const bool is_usual_plan = of.kind != checked_kind::lock && options.plan.empty();
  if (is_usual_plan && options.executions == 0 && options.time_limit == 0)
    within.executions = is_to_tell(options, object) ? most_executions_until_told : executions_of_usual_plan;
  if (options.time_limit > 0)
    within.time = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(options.time_limit));
  return within;
}

std::string option_of(checked_kind kind) { return fmt::format("--{}", plural(kind)); }

/// Throws `usage_error` that names the kind of which there is one of that name, if there is.
[[noreturn]] void refuse_unknown(const std::string& name, checked_kind kind) {
  const std::string_view title = nearfar::command::name(kind);
  for (const checked_kind other : checked_kinds)
    if (find_checkable(name, other) != nullptr)
      throw usage_error(fmt::format("'{}' is a {}, not a {}: give it to {}", name,
                                    nearfar::command::name(other), title, option_of(other)));
  std::vector<std::string> names;
  for (const checkable& one : checkables(kind)) names.push_back(one.name);
  for (const bench::object_kind* known : bench::object_kinds())
    if (known->find(name) != nullptr)
      throw usage_error(
          fmt::format("cannot check {} '{}': it does not exist in the checked world", known->title, name));
  throw usage_error(unknown_name(title, name, names, "'nearfar list' shows all"));
}

const checkable& find_object(const std::string& name, checked_kind kind) {
  const checkable* const object = find_checkable(name, kind);
  if (object == nullptr) refuse_unknown(name, kind);
  if (!object->absent.empty())
    throw usage_error(
        fmt::format("cannot check {} '{}': {}", nearfar::command::name(kind), name, object->absent));
  return *object;
}

/// The reason, in a sentence, why an object cannot do what the user asks of all objects; or nothing.
std::string lacking(const checkable& object, const check_command_options& options) {
  if (object.one_node_only && options.has_nodes && options.of.nodes > 1)
    return fmt::format("cannot check {} '{}': it works on one node only, not on --nodes {}",
                       name(object.kind), object.name, options.of.nodes);
  if (object.plans && !object.plans->takes_capacity && options.of.capacity != 0)
    return fmt::format("cannot check {} '{}' with --capacity: it has none", name(object.kind), object.name);
  if (object.kind != checked_kind::lock) return "";
  if (!object.is_shared && options.has_readers)
    return fmt::format("cannot check lock '{}' with --readers: it is exclusive, not a reader-writer lock",
                       object.name);
  if (!object.can_try && options.of.try_first)
    return fmt::format("cannot check lock '{}' with --try-first: it has no try_lock", object.name);
  return "";
}

/// Those that stand for all: of locks with what is asked of all, of the others whatever the checker has.
bool is_among_all(const checkable& object, const check_command_options& options) {
  if (!object.is_sound || !object.absent.empty()) return false;
  if (object.kind != checked_kind::lock) return true;
  return (!options.has_readers || object.is_shared) && (!options.of.try_first || object.can_try);
}

std::vector<const checkable*> choose(checked_kind kind, const check_command_options& options) {
  std::vector<const checkable*> chosen;
  const std::vector<std::string>& names = options.names_of(kind);
  if (names.empty() || names == std::vector<std::string>{"all"}) {
    for (const checkable& object : checkables(kind))
      if (is_among_all(object, options) && (!names.empty() || object.is_recommended()))
        chosen.push_back(&object);
    return chosen;
  }
  for (const std::string& name : names) {
    const checkable& object = find_object(name, kind);
    if (const std::string why = lacking(object, options); !why.empty()) throw usage_error(why);
    if (std::find(chosen.begin(), chosen.end(), &object) == chosen.end()) chosen.push_back(&object);
  }
  return chosen;
}

/// An object that cannot do what is asked of all.
struct unfit : usage_error {
  unfit(const checkable& object, const std::string& cause)
      : usage_error(fmt::format("cannot check {} '{}': {}", name(object.kind), object.name, cause)),
        why(cause) {}
  std::string why;
};

void set_one_node(check_case& of) {
  of.nodes = 1;
  of.nodes_per_island = 0;
}

/// Throws `unfit` for a plan that the object cannot carry out, and `usage_error` for what is no plan.
void set_plan(check_case& of, const checkable& object, const check_command_options& options) {
  const planned_object& plans = *object.plans;
  const bool is_telling = is_to_tell(options, object);
  if (is_telling) {
    const check_case telling = telling_case(object);
    of.plan = telling.plan;
    of.tier = telling.tier;
    of.near = telling.near;
  }
  const checker::object_plan plan = is_telling             ? parse_plan(of.plan, plans.language)
                                    : options.plan.empty() ? plans.usual_plan(of.ranks, of.home)
                                                           : parse_plan(options.plan, plans.language);
  if (options.has_ranks && plan.ranks() != of.ranks)
    throw usage_error(
        fmt::format("--plan is of {} ranks, and --ranks is {}: leave --ranks out", plan.ranks(), of.ranks));
  of.ranks = plan.ranks();
  of.plan = plan_text(plan, plans.language);
  if (!plans.takes_capacity) of.capacity = 0;
  if (!options.has_nodes) of.nodes = std::min(of.ranks, 2);
  if (object.one_node_only) set_one_node(of);
  if (const std::string why = obstacle(of); !why.empty()) throw unfit(object, why);
  if (const std::string why = plans.obstacle(plan, of); !why.empty()) throw unfit(object, why);
}

/// The case of that object: what the user asks of all objects, without the options that do not concern it.
check_case case_of(const check_command_options& options, const checkable& object) {
  check_case of = options.of;
  of.kind = object.kind;
  of.object = object.name;
  if (object.one_node_only) set_one_node(of);
  if (!object.is_shared) of.readers = 0;
  if (object.plans)
    set_plan(of, object, options);
  else if (const std::string why = obstacle(of); !why.empty())
    throw unfit(object, why);
  return of;
}

/// An object that `all` leaves out because it cannot do what is asked of all, and why.
struct left_out {
  std::string name;
  std::string why;
};

/// To stderr, if records are printed.
void print_unfit(const std::vector<left_out>& all, const check_command_options& options) {
  for (const left_out& one : all)
    fmt::print(options.prints_json ? stderr : stdout, "{}left out: {}: {}\n",
               options.prints_json ? "nearfar: " : "# ", one.name, one.why);
}

/// Names what `all` leaves out of a kind because the checker has none of it.
void print_absent(checked_kind kind, const check_command_options& options) {
  std::vector<std::string> absent;
  for (const checkable& object : checkables(kind))
    if (!object.absent.empty()) absent.push_back(object.name);
  if (options.names_of(kind) == std::vector<std::string>{"all"} && !absent.empty())
    fmt::print("# left out, as the checker cannot run them: {}\n", fmt::join(absent, ", "));
}

/// `common`: where an object's case differs, its line says so.
void print_head(const check_command_options& options, const check_case& common) {
  const bool is_random = common.tier == checker::search::random;
  fmt::print("# nearfar check, {}: {}, near cells {}{}\n", name_in(tier_names, common.tier),
             shape_text(common), name_in(near_names, common.near), liberties_text(options.of));
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
               common.tier == checker::search::hash ? "states" : "traces");
  print_absent(common.kind, options);
  fmt::print("{:<23} {:<10}{:>12}{:>12}{:>14}{:>9}  {}\n", fmt::format("# {}", name(common.kind)), "mode",
             "executions", "pruned", "steps", "s", "result");
}

/// The objects of one kind, what is asked of each, and what they have in common.
struct chosen_kind {
  std::vector<const checkable*> objects;
  std::vector<check_case> cases;
  std::vector<left_out> unfit_ones;
  check_case common;
};

chosen_kind choose_cases(checked_kind kind, const check_command_options& options) {
  chosen_kind chosen{.objects = {}, .cases = {}, .unfit_ones = {}, .common = options.of};
  const bool is_all = options.names_of(kind) == std::vector<std::string>{"all"};
  std::optional<unfit> first;
  for (const checkable* object : choose(kind, options)) try {
      chosen.cases.push_back(case_of(options, *object));
      chosen.objects.push_back(object);
    } catch (const unfit& refused) {
      if (!is_all) throw;
      chosen.unfit_ones.push_back({object->name, refused.why});
      if (!first) first = refused;
    }
  if (chosen.cases.empty() && first) throw unfit(*first);
  if (kind != checked_kind::lock) {
    // One that is searched as was asked, unless all are to tell.
    const auto usual = std::find_if(chosen.cases.begin(), chosen.cases.end(),
                                    [&](const check_case& of) { return of.tier == options.of.tier; });
    chosen.common = usual == chosen.cases.end() ? chosen.cases.front() : *usual;
  } else if (!std::all_of(chosen.objects.begin(), chosen.objects.end(),
                          [](const checkable* lock) { return lock->is_shared; })) {
    chosen.common.readers = 0;
  }
  return chosen;
}

void print_result(const checked& one, const check_case& common) {
  fmt::print("{:<23} {:<10}{:>12}{:>12}{:>14}{:>9.2f}  {}\n", one.of.object, name_in(mode_names, one.of.mode),
             one.result.executions, one.result.pruned, one.result.steps,
             std::chrono::duration<double>(one.result.time).count(), result_text(one, common));
  std::fflush(stdout);
}

/// Those that are named, or locks.
std::vector<checked_kind> kinds_of(const check_command_options& options) {
  std::vector<checked_kind> kinds;
  for (const checked_kind kind : checked_kinds)
    if (!options.names_of(kind).empty()) kinds.push_back(kind);
  return kinds.empty() ? std::vector{checked_kind::lock} : kinds;
}

/// A parameter that is given and that nothing takes is rather a misunderstanding.
void warn_of_local_passes(const std::vector<chosen_kind>& kinds) {
  const bool is_taken = std::ranges::any_of(kinds, [](const chosen_kind& kind) {
    return std::ranges::any_of(kind.objects, &checkable::has_local_passes);
  });
  if (!is_taken) remark("--max-local-passes has no effect: none of the chosen locks takes it");
}

int run_searches(check_command_options options) {
  complete(options);
  const std::vector<checker::delivery_mode> modes = parse_modes(options.modes);
  std::vector<chosen_kind> kinds;
  for (const checked_kind kind : kinds_of(options)) kinds.push_back(choose_cases(kind, options));
  if (options.has_local_passes) warn_of_local_passes(kinds);
  std::optional<check_results> results;
  kept_work work([&](const std::string&) { return results ? results->keep() : std::string(); });
  {
    const auto hold = work.hold();
    results.emplace(options.files, options.prints_json);
  }
  for (const chosen_kind& kind : kinds) {
    if (!options.prints_json) print_head(options, kind.common);
    print_unfit(kind.unfit_ones, options);
    for (std::size_t i = 0; i < kind.objects.size(); ++i)
      for (const checker::delivery_mode mode : modes) {
        check_case of = kind.cases[i];
        of.mode = mode;
        const checked one = run_check(of, *kind.objects[i], limits_of(options, *kind.objects[i], of));
        const auto hold = work.hold();
        results->add(one);
        if (!options.prints_json) print_result(one, kind.common);
      }
  }
  return work.finish([&] { return results->finish(); });
}

/// Throws `usage_error` for what the file asks of an object that this one is not.
void expect_replayable(const recorded_schedule& recorded, const checkable& object) {
  const check_case& of = recorded.of;
  if (object.one_node_only && of.nodes > 1)
    throw usage_error(fmt::format("it wants {} '{}' on {} nodes, which works on one node only",
                                  name(object.kind), object.name, of.nodes));
  if (!object.is_shared && of.readers != 0)
    throw usage_error(fmt::format("it wants readers of lock '{}', which is exclusive", object.name));
  if (!object.can_try && of.try_first)
    throw usage_error(fmt::format("it wants attempts of lock '{}', which has no try_lock", object.name));
  if (!object.plans) return;
  const checker::object_plan plan = parse_plan(of.plan, object.plans->language);
  if (plan.ranks() != of.ranks)
    throw usage_error(fmt::format("it has a plan of {} ranks for {}", plan.ranks(), of.ranks));
  if (const std::string why = object.plans->obstacle(plan, of); !why.empty()) throw unfit(object, why);
}

/// The object of a schedule that can be replayed. Throws `usage_error` with the name of the file for others.
const checkable& object_to_replay(const recorded_schedule& recorded, const std::string& file) {
  try {
    const checkable& object = find_object(recorded.of.object, recorded.of.kind);
    expect_replayable(recorded, object);
    return object;
  } catch (const usage_error& why) {
    throw usage_error(fmt::format("'{}' cannot be replayed: {}", file, why.what()));
  }
}

/// Why the run is not the recorded one, in a sentence, or nothing. Deadlocks and wrong histories show at the
/// end of a run, so that a run that goes on after the recorded steps is another one.
std::string departure(const recorded_schedule& recorded, const checker::replayed& shown) {
  const std::size_t steps = recorded.found.schedule.size();
  const bool shows_at_end =
      recorded.found.what == checker::fault::deadlock || recorded.found.what == checker::fault::history;
  if (steps == 0) return "the file has no steps";
  if (recorded.missing != 0)
    return fmt::format("the file lacks {} of its {} steps", recorded.missing, steps + recorded.missing);
  if (shown.refused != 0)
    return fmt::format("{} of the {} recorded steps could not be taken: the {} or the file has changed since",
                       shown.refused, steps, name(recorded.of.kind));
  if (shows_at_end && shown.steps.size() > steps)
    return fmt::format("the run went on after the {} recorded step{}", steps, steps == 1 ? "" : "s");
  return "";
}

/// Prints the outcome of the recorded fault, and returns the command's status.
int print_outcome(const recorded_schedule& recorded, const checker::replayed& shown) {
  if (shown.found && shown.found->what == checker::fault::livelock) {
    fmt::print("\n  Undecided: the schedule was cut off after {} steps, beyond the file's step_limit.\n",
               shown.found->schedule.size());
    return incomplete;
  }
  const std::string why = departure(recorded, shown);
  if (shown.found) {
    fmt::print("\n  {}{}.\n",
               shown.found->what == recorded.found.what ? "The violation happens again"
                                                        : "A violation of another kind than the recorded one",
               why.empty() ? "" : ", although " + why);
    return failure;
  }
  if (shown.why_undecided) {
    fmt::print("\n  Undecided: the judge gave up on the history of this schedule.\n  {}\n",
               *shown.why_undecided);
    return incomplete;
  }
  if (!why.empty()) {
    fmt::print("\n  Undecided: the schedule could not be followed: {}.\n", why);
    return incomplete;
  }
  fmt::print("\n  The violation does not happen again: nothing found under this schedule.\n");
  return success;
}

int run_replay(const check_command_options& options) {
  const recorded_schedule recorded = read_schedule(options.replay);
  const checkable& object = object_to_replay(recorded, options.replay);
  std::optional<bench::output_file> svg;
  open_svg(svg, options.files);
  const checker::replayed shown =
      replay(object.program(recorded.of), options_of(recorded.of), recorded.found.schedule);
  fmt::print("# nearfar check --replay {}: recorded {}\n{}", options.replay, name(recorded.found.what),
             violation_text(recorded.of, shown));
  if (svg) {
    svg->write(diagram(recorded.of, shown));
    svg->commit();
  }
  return print_outcome(recorded, shown);
}

/// Throws `usage_error` if one of `others` is given beside `option`.
void refuse_beside(const CLI::App& command, const char* option, const std::vector<std::string>& others,
                   const char* why) {
  for (const std::string& other : others)
    if (command.count(other) != 0) throw usage_error(fmt::format("{} {}: leave out {}", option, why, other));
}

/// Options that belong to some kinds of objects only.
struct option_of_kinds {
  const char* option;
  std::vector<checked_kind> kinds;
};

/// "--queues and --channels".
std::string options_text(const std::vector<checked_kind>& kinds) {
  std::vector<std::string> texts;
  for (const checked_kind kind : kinds) texts.push_back(option_of(kind));
  return fmt::format("{}", fmt::join(texts, " and "));
}

/// Throws `usage_error` for an option that means nothing to any of these kinds, or not the same to all of
/// them.
void refuse_of_other_kinds(const CLI::App& command, const std::vector<checked_kind>& kinds,
                           const check_command_options& options) {
  using enum checked_kind;
  const std::vector<option_of_kinds> all{{"--acquisitions", {lock}},       {"--readers", {lock}},
                                         {"--try-first", {lock}},          {"--max-local-passes", {lock}},
                                         {"--home", {lock, queue}},        {"--capacity", {queue, channel}},
                                         {"--plan", {queue, map, channel}}};
  const auto is_chosen = [&](checked_kind kind) {
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
  };
  for (const option_of_kinds& one : all)
    if (command.count(one.option) != 0 && std::none_of(one.kinds.begin(), one.kinds.end(), is_chosen))
      throw usage_error(fmt::format("{} belongs to {}", one.option, options_text(one.kinds)));
  if (!options.plan.empty() && kinds.size() > 1)
    throw usage_error(fmt::format("--plan is of one kind of objects, not of {}", options_text(kinds)));
  if (options.tier == name_in(tier_names, checker::search::hash) && kinds != std::vector{lock})
    throw usage_error("--tier hash belongs to --locks: it does not know in which order operations return");
}

int run_check_command(const CLI::App& command, check_command_options options) {
  const std::vector<std::string> bounds{
      "--locks",      "--queues",     "--maps",         "--channels",   "--plan",
      "--capacity",   "--ranks",      "--acquisitions", "--nodes",      "--nodes-per-island",
      "--mode",       "--tier",       "--near",         "--seed",       "--home",
      "--executions", "--time-limit", "--depth",        "--step-limit", "--max-local-passes",
      "--try-first",  "--conflicts",  "--promises",     "--crashes",    "--early-wakes",
      "--jobs",       "--readers"};
  options.has_nodes = command.count("--nodes") != 0;
  options.has_readers = command.count("--readers") != 0;
  options.has_ranks = command.count("--ranks") != 0;
  options.has_local_passes = command.count("--max-local-passes") != 0;
  for (const char* option : {"--plan", "--ranks", "--tier", "--near", "--jobs"})
    options.chooses_search = options.chooses_search || command.count(option) != 0;
  if (!options.replay.empty()) {
    refuse_beside(command, "--replay", bounds, "takes everything from the file");
    refuse_beside(command, "--replay", {"--all", "--json", "--output", "--trace"}, "prints one schedule");
  }
  if (options.all) refuse_beside(command, "--all", bounds, "checks a fixed set");
  if (value_in(tier_names, options.tier) && options.tier != name_in(tier_names, checker::search::random))
    for (const char* option : {"--seed", "--depth"})
      if (command.count(option) != 0)
        throw usage_error(
            fmt::format("{} belongs to --tier random: add that, or leave {} out", option, option));
  if (options.files.older.is_replaced && !options.files.any())
    throw usage_error(
        "--overwrite belongs to --output, --trace and --svg: add one, or leave --overwrite out");
  if (options.files.output == "-") {
    if (options.files.older.is_extended)
      throw usage_error("--append adds to a file; leave it out with --output -");
    options.prints_json = true;
    options.files.output.clear();
  }
  if (!options.all)
    for (const char* part : {"--quick", "--markdown"})
      if (command.count(part) != 0) throw usage_error(fmt::format("{} belongs to --all", part));
  refuse_of_other_kinds(command, kinds_of(options), options);
  if (launch::from_environment().rank != 0) return success;
  if (!options.replay.empty()) return run_replay(options);
  if (options.all)
    return check_all({.quick = options.quick,
                      .prints_json = options.prints_json,
                      .files = options.files,
                      .markdown = options.markdown});
  return run_searches(std::move(options));
}

std::string operations_of_kind(checked_kind kind) {
  for (const checkable& object : checkables(kind))
    if (object.plans) return words_text(object.plans->language);
  return "";
}

void add_bounds(CLI::App& command, check_command_options& options) {
  const auto add_names = [&](checked_kind kind, const char* help) {
    command.add_option(option_of(kind), options.names.at(static_cast<std::size_t>(kind)), help)
        ->delimiter(',');
  };
  add_names(checked_kind::lock,
            "Locks and reader-writer locks, or 'all' sound ones (default: each family's recommended one)");
  add_names(checked_kind::queue, "Queues, or 'all' sound ones");
  add_names(checked_kind::map, "Maps, or 'all' sound ones");
  add_names(checked_kind::channel, "Channels on one node, or 'all' sound ones that the checker can run");
  command.add_option("--plan", options.plan,
                     "Operations of each rank of a queue, map or channel (default: a few that meet)");
  command
      .add_option("--capacity", options.of.capacity,
                  "Room of a queue at each rank (default: for all values), or of a channel (default: 1)")
      ->check(whole_number(1, most_capacity));
  command.add_option("--ranks", options.of.ranks, "Ranks, 1 to 64; an exhaustive search takes 4 in practice")
      ->check(whole_number(1, most_checked_ranks))
      ->capture_default_str();
  command.add_option("--acquisitions", options.of.acquisitions, "Acquisitions of each rank")
      ->check(whole_number(1, std::numeric_limits<int>::max()))
      ->capture_default_str();
  command
      .add_option("--nodes", options.of.nodes,
                  "Nodes, over which the ranks are spread evenly (default: 2, and 1 for locks of one node)")
      ->check(whole_number(1, most_checked_ranks));
  command
      .add_option("--nodes-per-island", options.of.nodes_per_island,
                  "Nodes of each island, in their order; the last may have fewer (default: no islands)")
      ->check(whole_number(1, most_checked_ranks));
  command
      .add_option(
          "--readers", options.of.readers,
          "Last ranks, which read; only reader-writer locks are then chosen (default: half, 1 at least)")
      ->check(whole_number(0, most_checked_ranks));
  command.add_option("--home", options.of.home, "Home rank of a lock or queue")
      ->check(whole_number(0, most_checked_ranks - 1))
      ->capture_default_str();
  command.add_flag("--try-first", options.of.try_first,
                   "Acquire by try_lock first, then by lock; only locks with try_lock");
  command
      .add_option("--max-local-passes", options.of.max_local_passes,
                  "Hand-overs within a node before another node's turn")
      ->check(whole_number(0, most_local_passes))
      ->capture_default_str();
  command
      .add_option("--mode", options.modes,
                  "Moments at which an RMA operation takes effect, several or 'all':\n"
                  "  eager     when it is issued\n"
                  "  lazy      inside its flush\n"
                  "  progress  at any time from then on, but not while its target waits outside the library")
      ->delimiter(',')
      ->capture_default_str();
  command.add_option(
      "--near", options.near,
      "Values that a load of a near cell returns (default: release_acquire; sequential with --tier hash):\n"
      "  sequential       the last one stored\n"
      "  release_acquire  any that C++ allows");
  command
      .add_option("--conflicts", options.conflicts,
                  "Treatment of races that MPI leaves undefined:\n"
                  "  report  each is a violation\n"
                  "  enact   RMA writes come again until their flush returns")
      ->capture_default_str();
  command
      .add_option("--promises", options.promises,
                  "Promises of MPI libraries beyond the standard, some, 'all' or 'none':\n"
                  "  racing_gets        a get beside a write brings the old or the new value\n"
                  "  racing_loads       a load beside an RMA write sees the old or the new value\n"
                  "  mixed_accumulates  accumulates of several operations are atomic among themselves\n"
                  "  causal_messages    messages come after those that led to them")
      ->capture_default_str();
  command.add_option("--crashes", options.of.crashes, "Ranks that may stop for good, each at any step")
      ->check(whole_number(0, most_checked_ranks))
      ->capture_default_str();
  command.add_option("--early-wakes", options.of.early_wakes, "Spurious wake-ups of each rank, 0 to 8")
      ->check(whole_number(0, most_early_wakes))
      ->capture_default_str();
  command
      .add_option("--tier", options.tier,
                  "Schedules to search:\n"
                  "  exhaustive  every trace once\n"
                  "  hash        every state once, of locks only, to check the other\n"
                  "  random      many schedules by --seed")
      ->capture_default_str();
  command.add_option("--seed", options.of.seed, "Seed of random schedules")->capture_default_str();
  command
      .add_option("--depth", options.of.depth, "Changes of priority in every second random schedule, 1 to 64")
      ->check(whole_number(1, 64))
      ->capture_default_str();
  command.add_option("--executions", options.executions,
                     "Executions after which a search ends (default: no limit; 10000 with --tier random; "
                     "20000 without --plan; 0: the default)");
  command.add_option("--time-limit", options.time_limit,
                     "Seconds after which a search ends; 0: no limit (default: no limit)");
  command.add_option("--jobs", options.jobs, "Processors for an exhaustive search, 1 to 1024")
      ->check(whole_number(1, 1024))
      ->capture_default_str();
  command
      .add_option(
          "--step-limit", options.of.step_limit,
          "Steps after which a schedule is cut off (default: 20000, or 200 an operation if that is more)")
      ->check(whole_number(1, std::numeric_limits<std::int64_t>::max()));
}

}  // namespace

void add_check(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("check",
                                         "Check locks, queues, maps and channels under every schedule and "
                                         "delivery of RMA that MPI and C++ allow");
  auto options = std::make_shared<check_command_options>();
  options->promises = promises_text(options->of.promised);
  add_bounds(*command, *options);
  command->add_flag("--json", options->prints_json, "Print records (JSON Lines) in place of text");
  CLI::Option* const output =
      command->add_option("--output", options->files.output,
                          "Write the records to this file too; -: to standard output, in place of text");
  options->files.older.is_extendable = true;
  CLI::Option* const append = command
                                  ->add_flag("--append", options->files.older.is_extended,
                                             "Add the records to an existing file of --output")
                                  ->needs(output);
  add_overwrite_option(*command, options->files.older)->excludes(append);
  command->add_option("--trace", options->files.trace,
                      "Write the schedule of the first violation to this file");
  command->add_option("--svg", options->files.svg, "Draw the first violation, or the replayed schedule");
  command->add_option("--replay", options->replay, "Run the schedule in this file again");
  command->add_flag("--all", options->all, "Check every object in several sizes");
  command->add_flag("--quick", options->quick, "With --all: the part for continuous integration");
  command->add_option("--markdown", options->markdown,
                      "With --all: put the table into this file, between its markers");
  command->footer([] {
    return fmt::format(
        "A plan: '|' separates ranks, ',' their operations. Rank 0 carries out what ends with ';' "
        "before all others.\n    nearfar check --queues ticket_queue --plan 'push 1; try_pop | push 2, "
        "try_pop'\nOperations of queues: {}.\nOperations of maps: {}.\nOperations of channels: {}.\n"
        "In the end one rank empties the queue or channel, or finds every key.\n\n"
        "Exit status: 0 all explored and nothing found, 1 a violation, 2 bad input, 3 undecided or ended by "
        "a "
        "limit. "
        "docs/verification.md explains.",
        operations_of_kind(checked_kind::queue), operations_of_kind(checked_kind::map),
        operations_of_kind(checked_kind::channel));
  });
  command->callback([command, options, &status] { status = run_check_command(*command, *options); });
}

}  // namespace nearfar::command
