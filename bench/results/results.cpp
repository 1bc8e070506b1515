#include "bench/results/results.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "bench/results/statistics.hpp"
#include "nearfar/core/error.hpp"

namespace nearfar::bench {

std::optional<double> sample::count(const std::string& name) const {
  const auto found = counts.find(name);
  if (found == counts.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::optional<double> sample::percent(const std::string& name) const {
  const std::optional<double> some = count(name);
  if (!some || iterations == 0) return std::nullopt;
  return *some / static_cast<double>(iterations) * 100;
}

std::optional<double> sample::drift() const {
  if (!in_first_half) return std::nullopt;
  // A half without any is as far from steady as can be told.
  return static_cast<double>(iterations - *in_first_half) /
         static_cast<double>(std::max<std::int64_t>(*in_first_half, 1));
}

namespace {

/// Whether the rank that had the fewest turns had enough. Where ranks have different tasks, so that one may
/// have no turns, the mean counts.
bool had_enough_turns(const sample& of) {
  const bool are_alike = of.kind == "lock" || of.kind == "rw_lock";
  if (!are_alike || of.iterations_per_rank.empty()) return of.iterations / of.ranks >= steady_turns;
  const std::int64_t fewest = std::ranges::min(of.iterations_per_rank);
  const std::vector<double> all(of.iterations_per_rank.begin(), of.iterations_per_rank.end());
  return fewest >= steady_turns && static_cast<double>(fewest) >= steady_share * median_of(all).median;
}

}  // namespace

bool is_steady(std::span<const sample* const> repetitions) {
  std::vector<double> drifts;
  for (const sample* one : repetitions) {
    if (one->in_first_half && !had_enough_turns(*one)) return false;
    if (const auto drift = one->drift()) drifts.push_back(*drift);
  }
  if (drifts.empty()) return true;
  const double typical = median_of(std::move(drifts)).median;
  return typical >= 1 / (1 + steady_drift) && typical <= 1 + steady_drift;
}

void to_json(nlohmann::ordered_json& to, const sample& from) {
  to = {{"schema", results_schema},
        {"record", "sample"},
        {"benchmark", from.benchmark},
        {"kind", from.kind},
        {from.kind, from.object},
        {"parameters", from.parameters},
        {"axes", from.axes},
        {"effort", from.effort},
        {"world", from.world},
        {"machine", from.machine},
        {"nodes", from.nodes},
        {"ranks", from.ranks},
        {"repetition", from.repetition},
        {"duration_ns", from.duration.count()},
        {"iterations", from.iterations},
        {"iterations_per_rank", from.iterations_per_rank},
        {"in_first_half", or_null(from.in_first_half)}};
  for (const auto& [name, value] : from.counts.items())
    if (!to.contains(name)) to[name] = value;
  to.update({{"ns_per_acquisition", from.ns_per_acquisition()},
             {"measured", from.measured},
             {"drift", or_null(from.drift())},
             {"steady", is_steady(std::array{&from})},
             {"sound", from.sound},
             {"verified", from.verified}});
  if (from.scenario) to["scenario"] = *from.scenario;
}

sample sample_of(const nlohmann::ordered_json& record) {
  try {
    sample result;
    result.benchmark = record.at("benchmark");
    result.axes = record.at("axes");
    result.effort = record.at("effort");
    result.parameters = record.at("parameters");
    result.kind = record.at("kind");
    result.object = record.at(result.kind);
    result.world = record.at("world");
    result.machine = record.at("machine");
    result.nodes = record.at("nodes");
    result.ranks = record.at("ranks");
    result.repetition = record.at("repetition");
    result.duration = std::chrono::nanoseconds(record.at("duration_ns").get<std::int64_t>());
    result.iterations = record.at("iterations");
    result.iterations_per_rank = record.at("iterations_per_rank").get<std::vector<std::int64_t>>();
    if (!record.at("in_first_half").is_null()) result.in_first_half = record.at("in_first_half");
    if (record.contains("scenario")) result.scenario = record.at("scenario");
    result.counts = record;
    result.measured = record.at("measured");
    result.sound = record.at("sound");
    result.verified = record.at("verified");
    return result;
  } catch (const nlohmann::json::exception& why) {
    throw error(std::string("a sample is not as this version of nearfar writes them (") + why.what() + ")");
  }
}

results_file::results_file(const std::filesystem::path& path, std::string_view schema,
                           const older_output& older) {
  if (path == "-") return;
  file_.emplace(path, '"' + std::string(schema.substr(0, schema.find('/') + 1)),
                "nearfar results of this kind", older);
}

void results_file::write(const nlohmann::ordered_json& record) {
  // A user's words may hold what is no text.
  const std::string line = record.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
  if (file_) {
    file_->write(line);
  } else if (std::fwrite(line.data(), 1, line.size(), stdout) != line.size() || std::fflush(stdout) != 0) {
    throw std::system_error(errno, std::generic_category(), "standard output");
  }
}

void results_file::commit() {
  if (file_) file_->commit();
}

}  // namespace nearfar::bench
