#include "apps/nearfar/check/results.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "apps/nearfar/check/diagram.hpp"
#include "apps/nearfar/check/schedule.hpp"
#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/provenance.hpp"

namespace nearfar::command {

namespace {

/// Whether some schedule shows it: not what is missing in all of them.
bool has_schedule(const checker::violation& found) { return found.what != checker::fault::unreached; }

/// By which one file has one name; the name as it is where the system cannot follow it, which whoever opens
/// the file reports.
std::filesystem::path place_of(const std::filesystem::path& name) {
  std::error_code failed;
  std::filesystem::path place = std::filesystem::absolute(name, failed);
  if (!failed) place = weakly_canonical(place, failed);
  return failed ? name : place;
}

void refuse_shared_names(const check_files& files) {
  std::map<std::filesystem::path, const char*> taken;
  for (const auto& [option, name] :
       {std::pair("--output", &files.output), {"--trace", &files.trace}, {"--svg", &files.svg}}) {
    if (name->empty()) continue;
    const auto [at, is_new] = taken.try_emplace(place_of(*name), option);
    if (!is_new)
      throw usage_error(fmt::format("{} and {} name the same file, '{}'", at->second, option, *name));
  }
}

}  // namespace

void open_svg(std::optional<bench::output_file>& file, const check_files& files) {
  if (!files.svg.empty()) file.emplace(files.svg, diagram_mark, "picture of a schedule", files.older_whole());
}

check_results::check_results(const check_files& files, bool prints_json)
    : files_(files), prints_json_(prints_json) {
  refuse_shared_names(files);
  if (!files.output.empty())
    output_.emplace(files.output, "\"nearfar.check/", "records of nearfar check", files.older);
  if (!files.trace.empty())
    trace_.emplace(files.trace, "\"nearfar.schedule/", "schedule", files.older_whole());
  open_svg(svg_, files);
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
  is_cut_off_ = is_cut_off_ || one.is_cut_off;
  if (one.is_undecided && one.result.undecided != 0 && why_undecided_.empty())
    why_undecided_ = one.result.why_undecided;
  is_undecided_ = is_undecided_ || one.is_undecided;
  is_unmet_ = is_unmet_ || one.is_unmet;
  ++searches_;
  if (one.is_incomplete) ++incomplete_;
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

void check_results::say_what_is_missing() const {
  const bool has_found = !violations_.empty();
  if (has_found && has_schedule(*violations_.front().result.found)) return;
  for (const std::string& file : {files_.trace, files_.svg}) {
    if (file.empty()) continue;
    std::error_code ignored;
    remark("{}: '{}' is {}", has_found ? "no single schedule shows the violation" : "no violation", file,
           std::filesystem::is_regular_file(file, ignored) ? "left as it was" : "not written");
  }
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
  say_what_is_missing();
  if (!why_undecided_.empty() && !prints_json_)
    fmt::print(
        "\nUndecided: the judge gave up on some histories, so that it is not known whether they are "
        "right.\nA plan with fewer operations at once is easier to judge. One of these histories:\n\n{}\n",
        why_undecided_);
  if (is_cut_off_ && !prints_json_)
    fmt::print(
        "\nUndecided: a schedule was cut off at the step limit. A program that repeats operations without "
        "waiting\nthrough its world does not end. A long program needs a higher --step-limit.\n");
  const bool is_incomplete = needs_completeness_ && incomplete_ != 0;
  if (is_incomplete && !prints_json_)
    fmt::print("\nIncomplete: limits ended {} of {} searches before all schedules were explored.\n",
               incomplete_, searches_);
  if (!violations_.empty()) return failure;
  if (is_unmet_ && !prints_json_)
    fmt::print(
        "\nUnreached: random schedules did not reach all that the check demands, so that they prove little.\n"
        "Give more --executions, or let an exhaustive search say whether any schedule reaches it.\n");
  return is_undecided_ || is_incomplete || is_unmet_ ? incomplete : success;
}

}  // namespace nearfar::command
