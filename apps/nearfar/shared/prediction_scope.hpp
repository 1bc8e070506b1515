/// \file
/// Which interval of a machine a predicted time belongs to.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "bench/kinds/locks/upb.hpp"
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
