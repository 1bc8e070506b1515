#include "apps/nearfar/check/run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <utility>

#include "apps/nearfar/check/diagram.hpp"
#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/provenance.hpp"

namespace nearfar::command {

namespace {

/// A line on a terminal's stderr that the next one overwrites, and nothing elsewhere.
class status_line {
 public:
  status_line() : shown_(isatty(STDERR_FILENO) != 0) {}
  status_line(const status_line&) = delete;
  status_line& operator=(const status_line&) = delete;
  ~status_line() { show(""); }
  void show(const std::string& text) const {
    if (!shown_) return;
    fmt::print(stderr, "\r\033[K{}", text);
    std::fflush(stderr);
  }

 private:
  bool shown_;
};

nlohmann::ordered_json record_of(const checked& one) {
  nlohmann::ordered_json record = {{"schema", check_schema}, {"record", "result"}};
  record.update(to_json(one.of));
  record["executions"] = one.result.executions;
  record["blocked"] = one.result.blocked;
  record["pruned"] = one.result.pruned;
  record["steps"] = one.result.steps;
  record["complete"] = one.result.complete;
  record["undecided"] = one.is_undecided;
  record["time_ns"] = one.result.time.count();
  record["violation"] = nullptr;
  if (const auto& found = one.result.found)
    record["violation"] = {
        {"fault", name(found->what)}, {"explanation", found->text}, {"schedule", to_json(found->schedule)}};
  return record;
}

/// Whether some schedule shows it: not what is missing in all of them.
bool has_schedule(const checker::violation& found) { return found.what != checker::fault::unreached; }

void refuse_shared_names(const check_files& files) {
  std::map<std::filesystem::path, const char*> taken;
  for (const auto& [option, name] :
       {std::pair("--output", &files.output), {"--trace", &files.trace}, {"--svg", &files.svg}}) {
    if (name->empty()) continue;
    const auto [at, is_new] = taken.try_emplace(weakly_canonical(std::filesystem::absolute(*name)), option);
    if (!is_new)
      throw usage_error(fmt::format("{} and {} name the same file, '{}'", at->second, option, *name));
  }
}

}  // namespace

void open_svg(std::optional<bench::output_file>& file, const std::string& path) {
  if (!path.empty()) file.emplace(path, diagram_mark, "picture of a schedule");
}

checked run_check(const check_case& of, const checkable& object, const check_limits& within) {
  const status_line shown;
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
  done.is_undecided = done.result.found && done.result.found->what == checker::fault::livelock;
  if (done.is_undecided) {
    done.result.found.reset();
    done.result.complete = false;
  }
  if (done.result.found) {
    shown.show(fmt::format("{}: looking for a shorter schedule", label));
    done.result.found = minimised(what, how, *done.result.found);
  }
  return done;
}

check_results::check_results(const check_files& files, bool prints_json)
    : files_(files), prints_json_(prints_json) {
  refuse_shared_names(files);
  if (!files.output.empty()) output_.emplace(files.output, "\"nearfar.check/", "records of nearfar check");
  if (!files.trace.empty()) trace_.emplace(files.trace, "\"nearfar.schedule/", "schedule");
  open_svg(svg_, files.svg);
  nlohmann::ordered_json first = provenance(
      {.benchmark = "check", .world = "checked", .topology = {}, .binding = {}, .start_time = utc_time()});
  first["schema"] = check_schema;
  for (const char* without_meaning : {"benchmark", "binding", "oversubscribed", "topology", "seed",
                                      "records_expected", "mpi_library", "mpi_transport"})
    first.erase(without_meaning);
  record(first);
}

void check_results::add(const checked& one) {
  record(record_of(one));
  if (one.result.found) violations_.push_back(one);
  is_undecided_ = is_undecided_ || one.is_undecided;
}

void check_results::record(const nlohmann::ordered_json& what) {
  const std::string line = what.dump() + "\n";
  if (prints_json_) fmt::print("{}", line);
  if (output_) output_->write(line);
}

void check_results::print(std::size_t number, const checker::replayed& shown) const {
  const checked& one = violations_[number];
  fmt::print("\nViolation {} of {}: {}", number + 1, violations_.size(), violation_text(one.of, shown));
  std::string again = arguments_of(one.of);
  if (one.within.executions != 0) again += fmt::format(" --executions {}", one.within.executions);
  fmt::print("\n  Again: nearfar check {}\n", again);
  if (number != 0 || !has_schedule(*one.result.found)) return;
  if (files_.trace.empty())
    fmt::print("  --trace FILE keeps the schedule, --svg FILE draws it.\n");
  else
    fmt::print("  Only this schedule: nearfar check --replay {}\n", files_.trace);
}

std::string check_results::keep() {
  for (std::optional<bench::output_file>* each : {&trace_, &svg_})
    if (*each) (*each)->discard();
  if (!output_) return {};
  return fmt::format("the records of what had been checked are in '{}'", output_->keep());
}

int check_results::finish() {
  for (std::size_t i = 0; i < violations_.size(); ++i) {
    const checked& one = violations_[i];
    const checker::violation& found = *one.result.found;
    const checker::replayed shown =
        has_schedule(found) ? replay(one.object->program(one.of), options_of(one.of), found.schedule)
                            : checker::replayed{.steps = {}, .found = found};
    if (!prints_json_) print(i, shown);
    if (i != 0 || !has_schedule(found)) continue;
    if (trace_) {
      trace_->write(to_text({.of = one.of, .found = found}, shown.steps));
      trace_->commit();
    }
    if (svg_) {
      svg_->write(diagram(one.of, shown));
      svg_->commit();
    }
  }
  if (output_) output_->commit();
  if (is_undecided_ && !prints_json_)
    fmt::print(
        "\nUndecided: a schedule was cut off. What repeats without waiting through its world does not "
        "end;\nwhat has much to do needs a higher --step-limit.\n");
  if (!violations_.empty()) return failure;
  return is_undecided_ ? undecided : success;
}

}  // namespace nearfar::command
