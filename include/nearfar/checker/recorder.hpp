/// \file
/// Histories of stress runs on real worlds, for the same judge as those of the model checker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nearfar/checker/history.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"

namespace nearfar::checker {

/// Records what this rank calls and what returns, by the world's clock, which all ranks must share: threads
/// do, and processes of one machine, but not those of several and not the ranks of the checker. A call is
/// stamped before it begins and a return after it has ended, so that what precedes something in the history
/// preceded it in fact.
template <world W>
class recorder {
 public:
  explicit recorder(W& w) : world_(&w) {}

  void call(std::uint64_t object, int method, const value_list& arguments) {
    mine_.call(world_->rank(), object, method, arguments, stamp());
  }
  void returned(const value_list& result) {
    const std::uint64_t at = stamp();
    mine_.returned(world_->rank(), result, at);
  }

  /// All ranks' operations at rank 0, nothing elsewhere. Collective; every rank's operations have to have
  /// returned. Takes far memory at rank 0, as much again at every rank, some 120 bytes for each operation;
  /// throws `out_of_memory` on every rank if the world has not that much.
  [[nodiscard]] history gathered() const {
    struct record {
      far_object<operation> what;
    };
    const std::vector<std::int64_t> counts = world_->gather_to_all(static_cast<std::int64_t>(mine_.size()));
    std::size_t before = 0;
    std::size_t all = 0;
    for (std::size_t rank = 0; rank < counts.size(); ++rank) {
      if (rank < static_cast<std::size_t>(world_->rank())) before += static_cast<std::size_t>(counts[rank]);
      all += static_cast<std::size_t>(counts[rank]);
    }
    history result;
    if (all == 0) return result;
    typename W::template far_array<record> at_first(*world_, all);
    for (const operation& one : mine_.operations()) at_first.put({0, before++}, &record::what, one);
    at_first.flush(0);
    world_->barrier();
    for (std::size_t i = 0; i < all && world_->rank() == 0; ++i) {
      const operation one = at_first.read_direct({0, i}, &record::what);
      result.call(one.process, one.object, one.method, one.arguments, one.called);
      result.returned(one.process, one.returned->result, one.returned->at);
    }
    world_->barrier();
    return result;
  }

 private:
  [[nodiscard]] std::uint64_t stamp() const { return static_cast<std::uint64_t>(world_->now().count()); }

  W* world_;
  history mine_;
};

}  // namespace nearfar::checker
