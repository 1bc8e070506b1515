#include "bench/results.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "bench/statistics.hpp"

namespace nearfar::bench {

std::optional<double> sample::drift() const {
  if (!in_first_half) return std::nullopt;
  // A half without any is as far from steady as can be told.
  return static_cast<double>(iterations - *in_first_half) /
         static_cast<double>(std::max<std::int64_t>(*in_first_half, 1));
}

bool is_steady(std::span<const sample* const> repetitions) {
  std::vector<double> drifts;
  for (const sample* one : repetitions) {
    if (one->in_first_half && one->iterations < steady_turns * one->ranks) return false;
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
        {"lock", from.lock},
        {"parameters", from.parameters},
        {"world", from.world},
        {"machine", from.machine},
        {"nodes", from.nodes},
        {"ranks", from.ranks},
        {"repetition", from.repetition},
        {"duration_ns", from.duration.count()},
        {"iterations", from.iterations},
        {"iterations_per_rank", from.iterations_per_rank},
        {"contended", or_null(from.contended)},
        {"local_handovers", or_null(from.local_handovers)},
        {"followed_other_share", or_null(from.followed_other_share)},
        {"ns_per_acquisition", from.ns_per_acquisition()},
        {"drift", or_null(from.drift())},
        {"steady", is_steady(std::array{&from})},
        {"sound", from.sound},
        {"verified", from.verified}};
  if (from.scenario) to["scenario"] = *from.scenario;
}

results_file::results_file(std::filesystem::path path, std::string_view schema)
    : file_(std::move(path), '"' + std::string(schema.substr(0, schema.find('/') + 1)),
            "nearfar results of this kind") {}

void results_file::write(const nlohmann::ordered_json& record) { file_.write(record.dump() + '\n'); }

void results_file::commit() { file_.commit(); }

}  // namespace nearfar::bench
