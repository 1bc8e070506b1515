/// \file
/// The writers' lock of `cohort_rw_lock` and `optimised_rma_rw_lock`: a near lock for each node, and a queue
/// of nodes that hands over with a count.
///
/// Source: D. Dice, V. Marathe, N. Shavit, "Lock cohorting: a general technique for designing NUMA locks",
/// PPoPP 2012, doi 10.1145/2145816.2145848; over RMA as in A. Uffmann's master thesis, LMU Munich, 2022,
/// section 5.4.1. Unlike `cohort_lock` it hands over between nodes by an accumulate or a put in place of a
/// message, because the turns have to be counted.
#pragma once

#include <algorithm>
#include <cstdint>

#include "nearfar/core/world.hpp"
#include "nearfar/lock/far_handover.hpp"
#include "nearfar/lock/far_queue.hpp"
#include "nearfar/lock/local_passes.hpp"
#include "nearfar/lock/lockable.hpp"
#include "nearfar/lock/mcs_lock.hpp"
#include "nearfar/lock/writers_turn.hpp"

namespace nearfar {

/// Exclusive among all ranks of a world. See the file's comment. `Local` is a `cohort_local`; `Grants` hands
/// over between nodes: `far_handover` or `put_grants`.
template <world W, typename Local = mcs_lock<W>, typename Grants = far_handover<W>>
class cohort_tree {
 public:
  using world_type = W;

  /// Collective. `home` keeps the end of the queue of nodes.
  cohort_tree(W& w, int home, int max_local_passes)
      : max_passes_(static_cast<status>(checked_local_passes(max_local_passes, 0))),
        local_(w, home, near_scope::node),
        nodes_(w, home, w.rank()),
        grants_(w),
        memory_(w),
        node_passes_(&memory_.at(w.locality().leader(level::node, w.rank())).passes) {}

  handover acquire() {
    const typename Local::grant grant = local_.acquire_local();
    passes_ = grant.passes;
    if (passes_ != from_above) {
      turn_ = writers_turn::goes_on;
      return handover::local;
    }
    const rank_word before = nodes_.enqueue([this](int predecessor) { expect_grant_of(predecessor); });
    if (before == nobody) {
      begin(first_pass, writers_turn::is_free);
      return grant.waited ? handover::waited : handover::uncontended;
    }
    const std::uint64_t passes = grants_.await();
    begin(passes, passes == first_pass ? writers_turn::is_handed : writers_turn::goes_on);
    return handover::remote;
  }

  [[nodiscard]] bool try_acquire() {
    if (!local_.try_acquire_local()) return false;
    passes_ = from_above;
    if (nodes_.enqueue_if_empty()) {
      begin(first_pass, writers_turn::is_free);
      return true;
    }
    // A rank of this node may have queued up meanwhile; it has to queue among the nodes itself.
    local_.release_local(from_above);
    return false;
  }

  [[nodiscard]] writers_turn turn() const noexcept { return turn_; }

  /// With `at_once` the lock leaves the node even if another rank of the node waits.
  template <tree_root Root>
  void release(Root& root, bool at_once) {
    const bool is_within_limit = passes_ < max_passes_;
    if (!at_once && (is_within_limit || root.may_stay()) && !local_.alone() &&
        (is_within_limit || nodes_.look() == nobody))
      return local_.release_local(after(passes_));
    leave_node(root);
    // The node's queue node must be free before another rank of the node can use it.
    local_.release_local(from_above);
  }

 private:
  using status = typename Local::status;
  static constexpr status from_above = Local::from_above;
  static constexpr std::uint64_t first_pass = 1;

  /// For grants that have to be told whose they will be.
  void expect_grant_of([[maybe_unused]] int predecessor) {
    if constexpr (requires { grants_.expect(predecessor); }) grants_.expect(predecessor);
  }

  struct alignas(cache_line) node_memory {
    typename W::template near<std::uint64_t> passes{};
  };

  /// The count that the successor gets: one pass more, up to the limit, but never `from_above`.
  [[nodiscard]] status after(status passes) const noexcept {
    return std::max<status>(1, passes < max_passes_ ? static_cast<status>(passes + 1) : max_passes_);
  }

  // Relaxed, because the local lock's hand-over orders all accesses.
  void begin(std::uint64_t passes, writers_turn how) {
    node_passes_->store(passes, std::memory_order_relaxed);
    turn_ = how;
  }

  template <typename Root>
  void leave_node(Root& root) {
    const std::uint64_t passes = node_passes_->load(std::memory_order_relaxed);
    if (root.may_pass_on(passes - first_pass))
      if (const rank_word successor = nodes_.leave_if_followed(); successor != nobody)
        return grants_.give(to_rank(successor), passes + 1);
    root.turn_ends(nodes_.look() != nobody);
    if (const rank_word successor = nodes_.leave(); successor != nobody)
      return grants_.give(to_rank(successor), first_pass);
    root.has_left();
  }

  status max_passes_;
  status passes_ = from_above;
  writers_turn turn_ = writers_turn::is_free;
  Local local_;
  far_queue<W, far_queue_policy{.queued = participant::node}> nodes_;
  Grants grants_;
  typename W::template near_segment<node_memory> memory_;
  typename W::template near<std::uint64_t>* node_passes_;
};

}  // namespace nearfar
