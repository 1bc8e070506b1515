/// \file
/// A cluster as the simulation knows it: physical costs only, and no property of any lock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "nearfar/language.hpp"

namespace nearfar::simulation {

/// How far another rank's memory is for an RMA operation or a message.
enum class distance : std::uint8_t {
  self,
  node,
  remote,  ///< another node
  island,  ///< a node of another island: as `remote`, plus `network_costs::island_latency` each way
};
/// Number of distances with costs of their own: up to `remote`.
inline constexpr std::size_t distance_count = 3;

/// Kinds of communication with costs of their own. `atomic` returns a value (fetch-and-op, swap,
/// compare-and-swap), `accumulate` does not.
enum class transfer : std::uint8_t { put, get, atomic, accumulate, message };
inline constexpr std::size_t transfer_count = 5;

/// Which processor or device carries an operation out.
enum class executor : std::uint8_t {
  origin,  ///< the origin's own processor, through shared memory
  nic,     ///< the target's network interface; concurrent operations on one word take turns
  target,  ///< the target's processor, while that rank is inside the library
};

/// The costs of one kind of transfer over one distance, in nanoseconds.
struct transfer_cost {
  double overhead = 0;    ///< the origin's processor is busy starting the transfer
  double latency = 0;     ///< from then until the transfer arrives
  double service = 0;     ///< at the executor, from the arrival or the end of the previous transfer
  double completion = 0;  ///< from then until the origin can know
  executor by = executor::origin;
};

/// Between how many times what is simulated the times lie that the real machine takes, in 90 of 100 cases: of
/// measurements that no fit knew. 1 and 1: not known.
struct prediction_interval {
  double low = 1;
  double high = 1;

  [[nodiscard]] bool is_known() const noexcept { return low != 1 || high != 1; }
};

/// Costs of moving a cache line into this core, in nanoseconds, by the place of its last writer.
struct near_costs {
  double hit = 1;     ///< the line is in this core already
  double atomic = 5;  ///< an atomic read-modify-write, in addition to the line
  double same_core = 5;
  double same_cache = 30;
  double same_numa = 50;
  double same_node = 100;  ///< another NUMA domain or package
  /// Lines of one object that can be on their way to a core at once: the line fill buffers of its cache.
  unsigned lines_at_once = 10;
  /// Copies of one line that the shared cache hands out at once.
  unsigned readers_at_once = 1;
  /// One turn of a benchmark's loop besides what it measures: reading the clock, counting.
  double clock = 0;
  double jitter = 0;               ///< standard deviation of a line's move and of `clock`, as a share of it
  prediction_interval measured{};  ///< of times in one node
};

/// The communication library's own costs, in nanoseconds.
struct library_costs {
  double progress = 50;              ///< a call that only drives progress (MPI_Iprobe) and finds nothing
  unsigned polls_per_progress = 64;  ///< polls of a waiting rank per such call
  double flush = 20;                 ///< a flush, in addition to what it waits for
  double exclusive = 50;             ///< service of a request for a window's lock, or of its release
  /// For the lock under which atomics and accumulates in place exclude each other in a node: the time from
  /// its release until a rank that found it taken holds it. 0: they need no lock.
  double lock_handover = 0;
  /// One way of a request for a window's lock, of its release, or of the answer, if a home in the same node
  /// carries the request out. 0: the origin carries it out in place.
  double request = 0;
  /// Requests of other ranks that one call carries out, unless the call waits inside the library.
  unsigned served_per_call = 65536;
  /// Of times of ranks beside the home of a free lock, on its node (scenarios 1b, 2b and 3b of the UPB): what
  /// those take depends on the library's window more than on anything here.
  prediction_interval measured{};
};

struct network_costs {
  double injection_gap = 0;  ///< between two messages that leave one node
  double per_byte = 0.08;    ///< on the wire, for each byte of an object beyond its first word
  double jitter = 0;         ///< standard deviation of a remote latency, as a share of it
  /// Nodes that one switch joins, in the order of their numbers. 0: all. Ranks whose locality knows islands
  /// have those.
  unsigned nodes_per_island = 0;
  double island_latency = 0;       ///< additional one-way latency between islands, in nanoseconds
  prediction_interval measured{};  ///< of times on several nodes, except those of `library_costs`
};

/// Groups in one node, for `topology_spec`. 0: the level is not modelled.
struct node_shape {
  int package = 0;
  int numa = 0;
  int cache = 0;
  int core = 1;  ///< in one group of the enclosing level
};

struct machine {
  std::string name;
  std::string description;
  node_shape node;
  near_costs near;
  library_costs library;
  network_costs network;
  std::array<std::array<transfer_cost, transfer_count>, distance_count> transfers{};

  [[nodiscard]] transfer_cost& cost(distance how_far, transfer what) {
    return transfers[static_cast<std::size_t>(how_far)][static_cast<std::size_t>(what)];
  }
  [[nodiscard]] const transfer_cost& cost(distance how_far, transfer what) const {
    return transfers[static_cast<std::size_t>(how_far)][static_cast<std::size_t>(what)];
  }
};

}  // namespace nearfar::simulation
