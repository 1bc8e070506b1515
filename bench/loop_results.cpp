#include "bench/loop_results.hpp"

#include "bench/results.hpp"

namespace nearfar::bench {

std::optional<double> loop_sample::rate(double loop_work::*amount, double unit) const {
  if (!work || (*work).*amount == 0 || duration.count() == 0) return std::nullopt;
  return (*work).*amount * static_cast<double>(iterations) / seconds() / unit;
}

std::optional<double> loop_sample::mlups() const {
  if (!megapoints || duration.count() == 0) return std::nullopt;
  return *megapoints * static_cast<double>(iterations) / seconds();
}

void to_json(nlohmann::ordered_json& to, const loop_sample& from) {
  to = {{"schema", loops_schema},
        {"record", "sample"},
        {"benchmark", from.benchmark},
        {"container", from.container},
        {"initialisation", from.initialisation},
        {"placement", from.placement},
        {"threads", from.threads},
        {"pinning", from.pinning},
        {"chunk", or_null(from.chunk)},
        {"segments", or_null(from.segments)},
        {"padding", or_null(from.padding)},
        {"stores", or_null(from.stores)},
        {"length", or_null(from.length)},
        {"rows", or_null(from.rows)},
        {"columns", or_null(from.columns)},
        {"decomposition", or_null(from.decomposition)},
        {"sweeps", from.rows ? nlohmann::ordered_json(from.iterations) : nlohmann::ordered_json(nullptr)},
        {"repetition", from.repetition},
        {"iterations", from.iterations},
        {"duration_ns", from.duration.count()},
        {"mflops", or_null(from.mflops())},
        {"gbytes_per_s", or_null(from.gbytes_per_s())},
        {"gbytes_per_s_with_rfo", or_null(from.gbytes_per_s_with_rfo())},
        {"mlups", or_null(from.mlups())},
        {"verified", from.verified}};
}

}  // namespace nearfar::bench
