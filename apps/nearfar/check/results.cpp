#include "apps/nearfar/check/results.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <utility>

#include "apps/nearfar/check/diagram.hpp"
#include "apps/nearfar/check/schedule.hpp"
#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/shared/provenance.hpp"

namespace nearfar::command {

namespace {

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
  is_cut_off_ = is_cut_off_ || one.is_cut_off;
  if (one.is_undecided && one.result.undecided != 0 && why_undecided_.empty())
    why_undecided_ = one.result.why_undecided;
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
  if (!why_undecided_.empty() && !prints_json_)
    fmt::print(
        "\nUndecided: the judge gave up on some histories, so that it is not known whether they are "
        "right.\nA plan with fewer operations at once is easier to judge. One of these histories:\n\n{}\n",
        why_undecided_);
  if (is_cut_off_ && !prints_json_)
    fmt::print(
        "\nUndecided: a schedule was cut off at the step limit. A program that repeats operations without "
        "waiting\nthrough its world does not end. A long program needs a higher --step-limit.\n");
  if (!violations_.empty()) return failure;
  return is_undecided_ ? undecided : success;
}

}  // namespace nearfar::command
