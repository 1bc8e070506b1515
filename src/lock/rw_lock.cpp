// Checks that the reader-writer locks make at their construction.

#include <algorithm>
#include <cstddef>
#include <string>

#include "nearfar/core/error.hpp"
#include "nearfar/lock/distributed_counter.hpp"
#include "nearfar/lock/phase_fair_lock.hpp"
#include "nearfar/topology/level.hpp"
#include "nearfar/topology/locality.hpp"

namespace nearfar::detail {

rw_thresholds checked(const rw_thresholds& of, const locality& where) {
  rw_thresholds result = of;
  if (of.max_writer_passes == rw_thresholds::each_node_once)
    result.max_writer_passes = where.groups(level::node);
  if (result.max_writer_passes < 0)
    throw misuse("max_writer_passes must be 0 or more, or each_node_once, not " +
                 std::to_string(of.max_writer_passes));
  if (of.max_readers < 1)
    throw misuse("max_readers must be 1 or more, not " + std::to_string(of.max_readers));
  return result;
}

std::vector<int> counter_hosts(const locality& where, int nodes) {
  if (nodes < 1) throw misuse("nodes_per_counter must be 1 or more, not " + std::to_string(nodes));
  std::vector<int> hosts;
  for (int node = 0; node < where.groups(level::node); ++node)
    if (node % nodes == 0) hosts.push_back(where.members(level::node, node).front());
  return hosts;
}

int most_at_one_counter(const locality& where, int nodes) {
  std::size_t most = 0;
  std::size_t at_this = 0;
  for (int node = 0; node < where.groups(level::node); ++node) {
    if (node % nodes == 0) at_this = 0;
    at_this += where.members(level::node, node).size();
    most = std::max(most, at_this);
  }
  return static_cast<int>(most);
}

std::uint64_t checked_max_readers(int max_readers, int at_one_counter, counted_readers counted) {
  const bool is_always = counted == counted_readers::always;
  const int most = is_always ? 1 << 20 : 1 << 28;
  if (max_readers < 1 || max_readers > most)
    throw misuse("max_readers must be 1 to " + std::to_string(most) + ", not " + std::to_string(max_readers));
  const int most_ranks = is_always ? (1 << 18) - 1 : most;
  if (at_one_counter > most_ranks)
    throw misuse("a counter has " + std::to_string(at_one_counter) + " ranks, and at most " +
                 std::to_string(most_ranks) + " can share one: make nodes_per_counter smaller");
  return static_cast<std::uint64_t>(std::max(max_readers, at_one_counter));
}

}  // namespace nearfar::detail
