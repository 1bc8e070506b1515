/// \file
/// The tree of MCS queues, all by RMA, that implements `rma_mcs_lock` and in which the writers of
/// `rma_rw_lock` queue: one queue for each element of each level of a machine, and one for the machine.
///
/// Source: the distributed tree of queues of P. Schmid, M. Besta, T. Hoefler, "High-Performance Distributed
/// RMA Locks", HPDC 2016, doi 10.1145/2907294.2907323, for any number of levels. `rma_mcs_lock.hpp` says
/// which parts are nearfar's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "nearfar/core/world.hpp"
#include "nearfar/lock/far_handover.hpp"
#include "nearfar/lock/far_queue.hpp"
#include "nearfar/lock/lock_tree.hpp"
#include "nearfar/lock/lockable.hpp"
#include "nearfar/lock/writers_turn.hpp"

namespace nearfar {

/// The root of exclusive locks.
struct no_root {};

/// Exclusive among all ranks of a world. See the file's comment. With `Counts` the tree counts hand-overs
/// between outermost elements, and `release` asks a `tree_root`. `Own` is how a rank reads and resets the
/// words in its own memory; those of an element are its leader's, and RMA in any case.
template <world W, handover_by By = handover_by::sum, bool Counts = false, node_access Own = node_access::rma>
class rma_mcs_tree {
 public:
  using world_type = W;

  /// Collective. `home` keeps the end of the outermost queue.
  rma_mcs_tree(W& w, int home, const lock_tree& shape) : locality_(&w.locality()), rank_(w.rank()) {
    int queue_home = home;
    for (const auto& [at, passes] : shape.levels()) {
      const int owner = w.locality().leader(at, w.rank());
      inner_.push_back(std::make_unique<tier<participant::node>>(w, queue_home, owner, max_passes_));
      queue_home = owner;
      max_passes_ = static_cast<std::uint64_t>(passes);
    }
    leaf_ = std::make_unique<tier<participant::rank>>(w, queue_home, w.rank(), max_passes_);
  }

  handover acquire() {
    handover how = handover::uncontended;
    if (climb(*leaf_, inner_.empty(), how)) return how;
    for (std::size_t i = inner_.size(); i-- > 0;)
      if (climb(*inner_[i], i == 0, how)) break;
    return how;
  }

  /// Takes the lock if no rank has it, and none has a place in any of the queues on the way up.
  [[nodiscard]] bool try_acquire() {
    if (!try_climb(*leaf_, inner_.empty())) return false;
    for (std::size_t i = inner_.size(); i-- > 0;) {
      if (try_climb(*inner_[i], i == 0)) continue;
      // A rank that has queued up below meanwhile has to ask above itself.
      for (std::size_t below = i + 1; below < inner_.size(); ++below) give_up(*inner_[below]);
      give_up(*leaf_);
      return false;
    }
    return true;
  }

  /// How the last acquisition got the lock.
  [[nodiscard]] writers_turn turn() const noexcept
    requires Counts
  {
    return turn_;
  }

  /// Whether a rank is in the outermost queue. 1 fetch at home.
  [[nodiscard]] bool is_wanted() {
    return inner_.empty() ? !leaf_->queue.is_empty() : !inner_.front()->queue.is_empty();
  }

  void release()
    requires(!Counts)
  {
    no_root root;
    release_from_leaf(root, false);
  }
  /// With `at_once` the lock goes to the root even if it might be handed over inside an element.
  template <tree_root Root>
  void release(Root& root, bool at_once)
    requires Counts
  {
    release_from_leaf(root, at_once);
  }

 private:
  // Values that are handed over.
  static constexpr std::uint64_t acquire_parent = 1;
  static constexpr std::uint64_t first_pass = 2;

  [[nodiscard]] static constexpr far_queue_policy queue_of(participant queued) {
    return {.queued = queued,
            .words = By == handover_by::sum ? next_words::in_turn : next_words::single,
            .registers_by = By == handover_by::accumulate ? registration::accumulate : registration::put,
            .reads = own(queued),
            .resets = own(queued)};
  }
  [[nodiscard]] static constexpr node_access own(participant queued) {
    return queued == participant::rank ? Own : node_access::rma;
  }
  /// As in the paper, a rank polls its own status in memory. An element's status is its leader's word, which
  /// any rank of the element may have to poll.
  [[nodiscard]] static constexpr far_handover_policy status_of(participant queued) {
    return {.queued = queued,
            .by = By,
            .waits = queued == participant::rank ? node_access::direct : node_access::rma,
            .writes = own(queued)};
  }

  /// One queue, as one participant knows it.
  template <participant Queued>
  struct tier {
    tier(W& w, int home, int owner, std::uint64_t most)
        : queue(w, home, owner, owner), status(w, owner), max_passes(most) {}

    far_queue<W, queue_of(Queued)> queue;
    far_handover<W, status_of(Queued)> status;
    std::uint64_t max_passes;  // of the element whose participants queue here
  };

  /// Takes a place in the queue. Returns whether the lock came with it.
  template <typename Tier>
  bool climb(Tier& at, bool is_root, handover& how) {
    at.status.prepare();
    const rank_word before = at.queue.enqueue();
    if (before != nobody) {
      how = handover::waited;
      const std::uint64_t passes = at.status.await();
      if (passes != acquire_parent) {
        if (Counts || !is_root) at.status.keep(passes);
        turn_ = is_root && passes == first_pass ? writers_turn::is_handed : writers_turn::goes_on;
        how = locality_->same(level::node, rank_, to_rank(before)) ? handover::local : handover::remote;
        return true;
      }
    }
    if (Counts || !is_root) at.status.keep(first_pass);
    turn_ = writers_turn::is_free;
    return is_root;
  }

  template <typename Tier>
  [[nodiscard]] bool try_climb(Tier& at, bool is_root) {
    at.status.prepare();
    if (!at.queue.enqueue_if_empty()) return false;
    if (Counts || !is_root) at.status.keep(first_pass);
    return true;
  }

  template <typename Root>
  void release_from_leaf(Root& root, bool at_once) {
    if (inner_.empty()) return release_root(*leaf_, root);
    if (!at_once && pass_on(*leaf_)) return;
    release_inner(inner_.size() - 1, root, at_once);
    give_up(*leaf_);
  }

  template <typename Root>
  void release_inner(std::size_t which, Root& root, bool at_once) {
    tier<participant::node>& at = *inner_[which];
    if (which == 0) return release_root(at, root);
    if (!at_once && pass_on(at)) return;
    release_inner(which - 1, root, at_once);
    give_up(at);
  }

  template <typename Tier, typename Root>
  void release_root(Tier& at, Root& root) {
    if constexpr (Counts) {
      const std::uint64_t passes = at.status.kept();
      if (root.may_pass_on(passes - first_pass))
        if (const rank_word successor = at.queue.leave_if_followed(); successor != nobody)
          return at.status.give(to_rank(successor), passes + 1);
      root.turn_ends(at.queue.look() != nobody);
    }
    if (const rank_word successor = at.queue.leave(); successor != nobody)
      return at.status.give(to_rank(successor), first_pass);
    if constexpr (Counts) root.has_left();
  }

  /// Hands over inside the element if the limit allows it and a rank waits there.
  template <typename Tier>
  [[nodiscard]] bool pass_on(Tier& at) {
    const std::uint64_t passes = at.status.kept();
    if (passes >= first_pass + at.max_passes) return false;
    const rank_word successor = at.queue.leave_if_followed();
    if (successor == nobody) return false;
    at.status.give(to_rank(successor), passes + 1);
    return true;
  }

  template <typename Tier>
  void give_up(Tier& at) {
    if (const rank_word successor = at.queue.leave(); successor != nobody)
      at.status.give(to_rank(successor), acquire_parent);
  }

  const locality* locality_;
  int rank_;
  std::uint64_t max_passes_ = 0;  // of the level that was made last
  writers_turn turn_ = writers_turn::is_free;
  std::vector<std::unique_ptr<tier<participant::node>>> inner_;  // outermost first
  std::unique_ptr<tier<participant::rank>> leaf_;
};

}  // namespace nearfar
