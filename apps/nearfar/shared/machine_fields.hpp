/// \file
/// Every field of a machine by name: the one list that reading, writing and fitting go through.
#pragma once

#include <array>
#include <limits>
#include <string>

#include "nearfar/simulation/machine.hpp"

namespace nearfar::command {

inline constexpr std::array<const char*, simulation::distance_count> distance_names{"self", "node", "remote"};
inline constexpr std::array<const char*, simulation::transfer_count> transfer_names{"put", "get", "atomic",
                                                                                    "accumulate", "message"};
inline constexpr std::array<const char*, 3> executor_names{"origin", "nic", "target"};

/// The range of a number.
struct bounds {
  double low = 0;
  double high = std::numeric_limits<double>::max();
  bool may_be_absent = false;  ///< in files older than the field, which then has a nominal value
};
/// Nanoseconds: up to a second for one step.
inline constexpr bounds a_time{0, 1e9};
inline constexpr bounds a_share{0, 1};
inline constexpr bounds a_count{1, 65536};
inline constexpr bounds a_newer_time{0, 1e9, true};
/// Of a number that is drawn from 0 to twice its mean at most.
inline constexpr bounds a_newer_share{0, 0.5, true};
inline constexpr bounds a_newer_ratio{0.001, 1000, true};
inline constexpr bounds a_newer_count{1, 65536, true};
/// 0: the level is not modelled.
inline constexpr bounds an_optional_count{0, 65536};
inline constexpr bounds a_newer_optional_count{0, 65536, true};

/// Calls `visit(name, member, bounds)` for each number, `visit(name, member)` for each text and executor, in
/// the order of the file.
template <typename Machine, typename Visit>
void visit_fields(Machine& of, Visit&& visit) {
  visit("name", of.name);
  visit("description", of.description);
  visit("node.package", of.node.package, an_optional_count);
  visit("node.numa", of.node.numa, an_optional_count);
  visit("node.cache", of.node.cache, an_optional_count);
  visit("node.core", of.node.core, a_count);
  visit("near.hit", of.near.hit, a_time);
  visit("near.atomic", of.near.atomic, a_time);
  visit("near.same_core", of.near.same_core, a_time);
  visit("near.same_cache", of.near.same_cache, a_time);
  visit("near.same_numa", of.near.same_numa, a_time);
  visit("near.same_node", of.near.same_node, a_time);
  visit("near.lines_at_once", of.near.lines_at_once, a_newer_count);
  visit("near.readers_at_once", of.near.readers_at_once, a_newer_count);
  visit("near.clock", of.near.clock, a_newer_time);
  visit("near.jitter", of.near.jitter, a_newer_share);
  visit("near.measured_low", of.near.measured.low, a_newer_ratio);
  visit("near.measured_high", of.near.measured.high, a_newer_ratio);
  visit("library.progress", of.library.progress, a_time);
  visit("library.polls_per_progress", of.library.polls_per_progress, a_count);
  visit("library.flush", of.library.flush, a_time);
  visit("library.exclusive", of.library.exclusive, a_time);
  visit("library.lock_handover", of.library.lock_handover, a_newer_time);
  visit("library.request", of.library.request, a_newer_time);
  visit("library.served_per_call", of.library.served_per_call, a_newer_count);
  visit("library.measured_low", of.library.measured.low, a_newer_ratio);
  visit("library.measured_high", of.library.measured.high, a_newer_ratio);
  visit("network.injection_gap", of.network.injection_gap, a_time);
  visit("network.per_byte", of.network.per_byte, a_newer_time);
  visit("network.jitter", of.network.jitter, a_share);
  visit("network.nodes_per_island", of.network.nodes_per_island, a_newer_optional_count);
  visit("network.island_latency", of.network.island_latency, a_newer_time);
  visit("network.measured_low", of.network.measured.low, a_newer_ratio);
  visit("network.measured_high", of.network.measured.high, a_newer_ratio);
  for (std::size_t far = 0; far < simulation::distance_count; ++far) {
    for (std::size_t what = 0; what < simulation::transfer_count; ++what) {
      auto& cost = of.transfers[far][what];
      const std::string prefix = std::string("transfers.") + distance_names[far] + "." + transfer_names[what];
      visit(prefix + ".overhead", cost.overhead, a_time);
      visit(prefix + ".latency", cost.latency, a_time);
      visit(prefix + ".service", cost.service, a_time);
      visit(prefix + ".completion", cost.completion, a_time);
      visit(prefix + ".by", cost.by);
    }
  }
}

}  // namespace nearfar::command
