/// \file Machines on which nothing costs time. A test adds the one cost that it is about.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "nearfar/engine/world.hpp"
#include "nearfar/simulation/cluster.hpp"
#include "nearfar/simulation/machine.hpp"
#include "nearfar/topology/spec.hpp"

namespace nearfar::simulation::testing {

using engine::world;
using std::chrono::nanoseconds;

inline constexpr auto relaxed = std::memory_order_relaxed;
inline constexpr auto is_set = [](std::uint64_t value) { return value != 0; };

inline constexpr std::array<transfer, transfer_count> all_transfers{
    transfer::put, transfer::get, transfer::atomic, transfer::accumulate, transfer::message};

/// All costs are 0. Between nodes the network interface carries out the operations.
inline machine free_machine() {
  machine result;
  result.name = "free";
  result.near = {0, 0, 0, 0, 0, 0};
  result.library = {.progress = 0, .polls_per_progress = 1, .flush = 0, .exclusive = 0};
  result.network.per_byte = 0;
  for (const transfer kind : all_transfers) result.cost(distance::remote, kind).by = executor::nic;
  return result;
}

/// A machine like a cluster, for programs that are not about a single cost.
inline machine plain_machine(executor remote_by = executor::nic) {
  machine result;
  result.name = "plain";
  for (const transfer kind : all_transfers) {
    result.cost(distance::self, kind) = {60, 20, 10, 0, executor::origin};
    result.cost(distance::node, kind) = {60, 60, 20, 0, executor::origin};
    result.cost(distance::remote, kind) = {150, 900, 40, 700, remote_by};
  }
  result.network = {.injection_gap = 10, .jitter = 0.1};
  return result;
}

inline locality placed(const std::string& spec, int ranks) { return topology_spec::parse(spec).place(ranks); }

/// Two words on lines of their own.
struct alignas(slot_bytes) two_words {
  far<std::uint64_t> first;
  alignas(slot_bytes) far<std::uint64_t> second;
};
struct alignas(cache_line) two_cells {
  world::near<std::uint64_t> first{};
  alignas(cache_line) world::near<std::uint64_t> second{};
};

/// Nanoseconds that `what` takes on the calling rank.
template <typename What>
std::int64_t span_of(world& w, What what) {
  const nanoseconds start = w.now();
  what();
  return (w.now() - start).count();
}

/// The reason for which the simulation gave up a run that must not end by itself.
template <typename Body>
std::string deadlock_text(int ranks, const std::string& spec, Body body, options chosen = {}) {
  try {
    run(plain_machine(), placed(spec, ranks), body, chosen);
  } catch (const engine::deadlock& found) {
    return found.what();
  }
  return "no deadlock";
}

inline constexpr std::uint64_t one = 1;

}  // namespace nearfar::simulation::testing
