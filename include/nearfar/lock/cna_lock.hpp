/// \file
/// CNA (compact NUMA-aware lock) in near memory, for the ranks of one node: an MCS queue that sets aside the
/// ranks of other NUMA domains for a while. Alone, or as the local lock of a cohort.
///
/// Source: D. Dice, A. Kogan, "Compact NUMA-aware locks", EuroSys 2019, doi 10.1145/3302424.3303984. A count
/// replaces the random draw (selective_queue.hpp). The topology says which ranks share a domain.
///
/// Fairness: each rank that is before a waiting rank may bring `max_local_passes` ranks of its NUMA domain
/// before it; within a domain first come, first served. Progress: an acquiring rank waits for its
/// predecessors only.
///
/// Cost: no far operations. Cache-line transfers: those of MCS, and at a release the queue node of each rank
/// that the holder examines. The lock itself is one word. Memory: 128 bytes of near memory for each rank.
#pragma once

#include <cstdint>

#include "nearfar/core/agreement.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/selective_queue.hpp"
#include "nearfar/topology/level.hpp"

namespace nearfar {

namespace detail {

/// Prefers ranks that share a domain of the given level with the holder.
template <near_world W>
class prefers_domain {
 public:
  using parameter = level;
  static constexpr level standard = level::numa;
  static constexpr bool recalls = false;
  struct per_rank {};

  prefers_domain(W& w, level domain) : world_(&w), domain_(domain) {}

  [[nodiscard]] static named_value named(level domain) {
    return {"domain", static_cast<std::int64_t>(domain)};
  }
  template <typename Cell>
  [[nodiscard]] bool prefers(int rank, const Cell& /*given*/) const {
    return world_->locality().same(domain_, world_->rank(), rank);
  }
  template <typename Cell>
  [[nodiscard]] std::uint64_t await(const Cell& given, per_rank& /*own*/) {
    return world_->await(given, [](std::uint64_t word) { return word != not_given; });
  }
  template <typename Cell>
  static void give(Cell& given, per_rank& /*own*/, std::uint64_t word) {
    given.store(word, std::memory_order_release);
  }
  template <typename Cell>
  static void recall(Cell& /*given*/, per_rank& /*own*/) {}

 private:
  W* world_;
  level domain_;
};

}  // namespace detail

/// Exclusive lock for the ranks of one node that prefers ranks of the holder's NUMA domain. The last
/// constructor parameter selects another `level` of the topology. See the file's comment and
/// selective_queue.hpp.
template <near_world W>
using cna_lock = selective_queue<W, detail::prefers_domain<W>>;

}  // namespace nearfar
