/// \file
/// Which interval of a machine a predicted time belongs to.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "bench/benchmark.hpp"
#include "bench/kinds/locks/upb.hpp"
#include "bench/object.hpp"
#include "bench/results/results.hpp"
#include "nearfar/simulation/machine.hpp"

namespace nearfar::command {

/// `beside_home`: scenarios 1b, 2b and 3b of the UPB, on any number of nodes.
enum class prediction_scope : std::uint8_t { one_node, several_nodes, beside_home };
inline constexpr std::array prediction_scopes{prediction_scope::one_node, prediction_scope::several_nodes,
                                              prediction_scope::beside_home};

/// `scenario` is empty outside the UPB.
[[nodiscard]] inline prediction_scope scope_of(int nodes, std::string_view scenario) {
  if (bench::is_beside_home(scenario)) return prediction_scope::beside_home;
  return nodes == 1 ? prediction_scope::one_node : prediction_scope::several_nodes;
}

/// Comes behind "points" and "times".
[[nodiscard]] inline std::string_view text_of(prediction_scope where) {
  switch (where) {
    case prediction_scope::one_node:
      return "on one node";
    case prediction_scope::several_nodes:
      return "on several nodes";
    default:
      return "beside the home (1b, 2b, 3b)";
  }
}

/// Whether ranks wait, and poll words of other ranks meanwhile. The simulation makes such polls too cheap,
/// and no measurement of the fit has them, so no interval holds for them.
[[nodiscard]] inline bool has_no_prediction(const bench::benchmark& played, const bench::object& of) {
  constexpr std::array<std::string_view, 8> families{"tas",       "tts",  "ticket", "clh",
                                                     "clh_craig", "hclh", "rh",     "shfl"};
  // Scenarios are those of the UPB, in which one rank acquires.
  const bool ranks_wait = !played.scenarios && played.kind->name == std::string_view("lock");
  return ranks_wait && std::ranges::find(families, of.family()) != families.end();
}

/// The part of the time from one acquisition to the next that is work and waits beside the lock, in ns. The
/// factors of an interval do not apply to it. Nothing if it is not known.
[[nodiscard]] inline std::optional<double> time_beside_lock(const bench::sample& of) {
  if (of.counts.contains("overhead_ns")) {
    const std::optional<double> of_lock = of.count("overhead_ns");
    return of_lock ? std::optional(of.ns_per_acquisition() - *of_lock) : std::nullopt;
  }
  return of.counts.contains("optimum_ns") ? of.count("optimum_ns") : std::optional(0.0);
}

/// The interval of a machine, which may be constant.
template <typename Machine>
[[nodiscard]] auto& interval_of(Machine& of, prediction_scope where) {
  switch (where) {
    case prediction_scope::one_node:
      return of.near.measured;
    case prediction_scope::several_nodes:
      return of.network.measured;
    default:
      return of.library.measured;
  }
}

}  // namespace nearfar::command
