#include "costs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "nearfar/core/error.hpp"

namespace nearfar::simulation {

namespace {

constexpr std::array<const char*, distance_count> distance_names{"self", "node", "remote"};
constexpr std::array<const char*, transfer_count> transfer_names{"put", "get", "atomic", "accumulate",
                                                                 "message"};

[[noreturn]] void refuse(const machine& on, const std::string& why) {
  throw error("machine '" + on.name + "': " + why);
}

picoseconds span_of(const machine& on, const std::string& field, double nanoseconds) {
  constexpr double hour = 3600e9;
  if (!std::isfinite(nanoseconds) || nanoseconds < 0 || nanoseconds > hour)
    refuse(on,
           field + " must be a number of nanoseconds from 0 to an hour, not " + std::to_string(nanoseconds));
  return std::llround(nanoseconds * static_cast<double>(picoseconds_per_nanosecond));
}

}  // namespace

costs costs_of(const machine& on) {
  costs result;
  for (std::size_t far = 0; far < distance_count; ++far) {
    for (std::size_t kind = 0; kind < transfer_count; ++kind) {
      const transfer_cost& given = on.transfers[far][kind];
      const std::string field =
          std::string("transfers.") + distance_names[far] + "." + transfer_names[kind] + ".";
      result.transfers[far][kind] = {span_of(on, field + "overhead", given.overhead),
                                     span_of(on, field + "latency", given.latency),
                                     span_of(on, field + "service", given.service),
                                     span_of(on, field + "completion", given.completion), given.by};
      // The receiver always executes a message, whatever the machine says here.
      if (static_cast<distance>(far) == distance::remote &&
          static_cast<transfer>(kind) != transfer::message && given.by == executor::origin)
        refuse(on, field + "by: the origin's processor cannot reach the memory of another node");
    }
    // MPI orders atomics and accumulates among each other, so both must be executed the same way.
    const auto in_place = [&](transfer kind) {
      return on.cost(static_cast<distance>(far), kind).by == executor::origin;
    };
    if (in_place(transfer::atomic) != in_place(transfer::accumulate))
      refuse(on, std::string("transfers.") + distance_names[far] +
                     ": atomic and accumulate must have the same executor: the origin for both, or another "
                     "one for both");
  }
  result.hit = span_of(on, "near.hit", on.near.hit);
  result.atomic = span_of(on, "near.atomic", on.near.atomic);
  result.move = {
      span_of(on, "near.same_core", on.near.same_core), span_of(on, "near.same_cache", on.near.same_cache),
      span_of(on, "near.same_numa", on.near.same_numa), span_of(on, "near.same_node", on.near.same_node)};
  constexpr unsigned most_lines = 4096;
  if (on.near.lines_at_once == 0 || on.near.lines_at_once > most_lines)
    refuse(on, "near.lines_at_once must be from 1 to " + std::to_string(most_lines) + ", not " +
                   std::to_string(on.near.lines_at_once));
  result.lines_at_once = on.near.lines_at_once;
  if (on.near.readers_at_once == 0) refuse(on, "near.readers_at_once must be at least 1");
  result.readers_at_once = on.near.readers_at_once;
  result.clock = span_of(on, "near.clock", on.near.clock);
  constexpr double most_jitter = 0.5;
  if (!std::isfinite(on.near.jitter) || on.near.jitter < 0 || on.near.jitter > most_jitter)
    refuse(on, "near.jitter must be a share from 0 to 0.5, not " + std::to_string(on.near.jitter));
  result.near_jitter = on.near.jitter;
  result.progress = span_of(on, "library.progress", on.library.progress);
  result.flush = span_of(on, "library.flush", on.library.flush);
  result.exclusive = span_of(on, "library.exclusive", on.library.exclusive);
  result.lock_handover = span_of(on, "library.lock_handover", on.library.lock_handover);
  const picoseconds one_way = span_of(on, "library.request", on.library.request);
  result.is_requested = one_way > 0;
  result.request = {.overhead = result.of(distance::node, transfer::message).overhead,
                    .latency = one_way,
                    .completion = one_way,
                    .by = executor::target};
  if (on.library.served_per_call == 0) refuse(on, "library.served_per_call must be at least 1");
  result.served_per_call = on.library.served_per_call;
  result.injection_gap = span_of(on, "network.injection_gap", on.network.injection_gap);
  result.per_byte = span_of(on, "network.per_byte", on.network.per_byte);
  if (!std::isfinite(on.network.jitter) || on.network.jitter < 0)
    refuse(on, "network.jitter must be a share of the latency, at least 0, not " +
                   std::to_string(on.network.jitter));
  result.jitter = on.network.jitter;
  if (on.network.nodes_per_island > static_cast<unsigned>(std::numeric_limits<int>::max()))
    refuse(on, "network.nodes_per_island is larger than any number of nodes");
  result.nodes_per_island = static_cast<int>(on.network.nodes_per_island);
  const picoseconds further = span_of(on, "network.island_latency", on.network.island_latency);
  auto& between_islands = result.transfers[static_cast<std::size_t>(distance::island)];
  between_islands = result.transfers[static_cast<std::size_t>(distance::remote)];
  for (std::size_t kind = 0; kind < transfer_count; ++kind) {
    between_islands[kind].latency += further;
    // The answer takes the same way. No rank waits for an answer to a message.
    if (static_cast<transfer>(kind) != transfer::message) between_islands[kind].completion += further;
  }

  if (on.library.polls_per_progress == 0) refuse(on, "library.polls_per_progress must be at least 1");
  const picoseconds polls = on.library.polls_per_progress;
  result.bare_poll_period = std::max<picoseconds>(1, result.hit);
  result.poll_period = std::max<picoseconds>(1, result.hit + result.progress / polls);
  result.progress_period = std::max<picoseconds>(1, polls * result.hit + result.progress);
  return result;
}

}  // namespace nearfar::simulation
