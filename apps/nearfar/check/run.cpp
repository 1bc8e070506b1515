#include "apps/nearfar/check/run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apps/nearfar/check/schedule.hpp"
#include "apps/nearfar/shared/progress_bar.hpp"

namespace nearfar::command {

namespace {

bool is_unsound(const checked& one) { return one.object != nullptr && !one.object->is_sound; }

/// Whether a random search drew as many schedules as were asked for.
bool drew_all(const checked& one) {
  return one.of.tier == checker::search::random && one.within.executions != 0 &&
         one.result.executions >= one.within.executions;
}

}  // namespace

nlohmann::ordered_json record_of(const checked& one) {
  nlohmann::ordered_json record = {{"schema", check_schema}, {"record", "result"}};
  record.update(to_json(one.of));
  record["executions"] = one.result.executions;
  record["blocked"] = one.result.blocked;
  record["waiting"] = one.result.waiting;
  record["pruned"] = one.result.pruned;
  record["steps"] = one.result.steps;
  record["complete"] = one.result.complete;
  record["sound"] = !is_unsound(one);
  record["undecided"] = one.is_undecided;
  record["undecided_histories"] = one.result.undecided;
  record["unmet"] = one.result.unmet;
  record["time_ns"] = one.result.time.count();
  record["violation"] = nullptr;
  if (const auto& found = one.result.found)
    record["violation"] = {
        {"fault", name(found->what)}, {"explanation", found->text}, {"schedule", to_json(found->schedule)}};
  return record;
}

checked run_check(const check_case& of, const checkable& object, const check_limits& within) {
  progress_line shown;
  const std::string label = fmt::format("{}, {}", of.object, name_in(mode_names, of.mode));
  checker::options how = options_of(of);
  how.most_executions = within.executions;
  how.most_time = within.time;
  how.jobs = within.jobs;
  how.on_progress = [&](std::uint64_t executions) {
    shown.show(fmt::format("{}: {} executions", label, executions));
  };
  const checker::program what = object.program(of);
  checked done{.of = of, .object = &object, .within = within, .result = check(what, how)};
  // Either it repeats without waiting through its world, or the limit is too low: nobody can tell which.
  done.is_cut_off = done.result.found && done.result.found->what == checker::fault::livelock;
  if (done.is_cut_off) {
    done.result.found.reset();
    done.result.complete = false;
  }
  done.is_undecided = done.is_cut_off || (!done.result.found && done.result.undecided != 0);
  const bool has_no_answer = !done.result.found && !done.is_undecided && !done.result.complete;
  done.is_incomplete = has_no_answer && !drew_all(done);
  done.is_unmet = has_no_answer && drew_all(done) && !done.result.unmet.empty();
  if (done.result.found) {
    shown.show(fmt::format("{}: looking for a shorter schedule", label));
    // The time that the search has left.
    if (within.time != std::chrono::nanoseconds::max())
      how.most_time = std::max(within.time - done.result.time, std::chrono::nanoseconds(0));
    done.result.found = minimised(what, how, *done.result.found);
  }
  return done;
}

std::string result_text(const checked& one, const check_case& common) {
  if (one.result.found) return fmt::format("VIOLATION: {}", name(one.result.found->what));
  if (one.is_cut_off) {
    const std::size_t most = options_of(one.of).most_steps;
    return fmt::format("undecided: a schedule of more than {} step{}", most, most == 1 ? "" : "s");
  }
  if (one.is_undecided)
    return fmt::format("undecided: {} of {} histories could not be judged", one.result.undecided,
                       one.result.executions);
  std::string text = "nothing found";
  if (one.result.complete)
    text += ", complete";
  else if (one.is_unmet)
    text += fmt::format(", but no schedule reached: {}", one.result.unmet.front());
  else if (one.is_incomplete)
    text += " before the limit";
  if (one.result.blocked != 0) text += fmt::format("; {} end blocked by a crash", one.result.blocked);
  if (one.result.waiting != 0)
    text += fmt::format("; {} end with ranks that have to wait", one.result.waiting);
  if (one.of.nodes != common.nodes) text += "; on one node";
  if (one.of.tier != common.tier || one.of.near != common.near)
    text += fmt::format("; {} schedules, near cells {}", name_in(tier_names, one.of.tier),
                        name_in(near_names, one.of.near));
  if (one.of.plan != common.plan) text += fmt::format("; plan '{}'", one.of.plan);
  if (one.of.readers != common.readers)
    text += fmt::format("; {} {}", one.of.readers, one.of.readers == 1 ? "reads" : "read");
  if (is_unsound(one))
    text += fmt::format("; unsound, as 'nearfar check --{} {}' shows", plural(one.of.kind), one.of.object);
  return text;
}

}  // namespace nearfar::command
