#include "apps/nearfar/study/hardware.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/results/output_file.hpp"

namespace nearfar::command {

std::optional<stall_limits> limits_of(const plan& what, const std::vector<configuration>& all) {
  constexpr double beyond_duration = 60;
  const auto span = [](double seconds) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
  };
  double longest = 0;
  double pauses = 0;
  for (const configuration& each : all) {
    longest = std::max(longest, each.seconds());
    pauses = std::max(pauses, each.pauses());
  }
  const std::optional<double>& limit = what.hardware.stall_limit;
  if (limit == 0.0) return std::nullopt;
  return stall_limits{.wait = span(limit.value_or(longest + beyond_duration) + pauses),
                      .step = span(longest)};
}

std::optional<topology_spec> topology_of(const plan& what) {
  if (what.hardware.topology.empty()) return std::nullopt;
  return topology_spec::parse(what.hardware.topology);
}

stall_guard guard_over(study_output& output, const plan& what, std::optional<stall_limits> limits, int rank) {
  const auto keep = [&output, &what, rank](const std::string& stalled,
                                           const std::string& why) -> std::string {
    if (rank == 0) return output.stop({{"record", "stall"}, {"what", stalled}, {"why", why}});
    if (what.output.empty()) return {};
    if (what.mode == output_mode::growing) return fmt::format("what was measured is in '{}'", what.output);
    return fmt::format("what was measured is in '{}' or '{}'", what.output,
                       bench::output_file::partial_name(what.output, "*"));
  };
  return {rank, limits, keep};
}

interruption::keeper keeper_of(study_output& output) {
  return [&output](const std::string& signal) {
    return output.stop({{"record", "interrupted"}, {"why", signal}});
  };
}

std::string object_text(const configuration& of) {
  return fmt::format("{} '{}'", of.benchmark->kind->title, of.object->name);
}

}  // namespace nearfar::command
