/// \file
/// MCS over RMA whose hand-over is a message: the queue of `dash::Mutex`, in the four stages of its
/// optimisation.
///
/// Source: H. Zhou, Y. Mhedheb, K. Idrees, C. Glass, J. Gracia, K. Fuerlinger, "DASH: data structures and
/// algorithms with support for hierarchical locality" (Euro-Par workshops 2014). A. Uffmann's master thesis,
/// LMU Munich, 2022, reimplements and optimises it in section 4.3.2, and uses it as the global lock of a
/// cohort in section 5.4.1. All four stages reset a word whose last write need not be complete, and hang
/// (`far_queue.hpp`). The default is the last stage with words in turn, with the same far operations.
///
/// Fairness: first come, first served (bound 0). Progress: an acquiring rank waits for its predecessors only.
///
/// Cost in far operations, each completed by a flush, at the last stage:
///  - uncontended: lock 1 swap at home, unlock 1 compare-and-swap at home;
///  - contended: lock 1 swap at home and 1 put to the predecessor, unlock 1 zero-byte message to the
///    successor.
/// Memory: 128 bytes of far memory for each rank and one message tag.
#pragma once

#include "nearfar/core/world.hpp"
#include "nearfar/lock/far_queue.hpp"
#include "nearfar/lock/lockable.hpp"

namespace nearfar {

/// The stages of section 4.3.2; each includes the ones before it.
enum class dash_stage : std::uint8_t {
  published,         ///< release tries to empty the queue before it looks for a successor
  early_look,        ///< release looks first, by an atomic read of the rank's own word
  direct_reads,      ///< the rank reads its own word from memory
  put_registration,  ///< a rank registers at its predecessor by a put in place of a fetch-and-op
};

/// The parameters of a `dash_lock`.
struct dash_policy {
  dash_stage stage = dash_stage::put_registration;
  next_words words = next_words::in_turn;
  /// `participant::node` makes it the global lock of a cohort: one rank of a node may release what another
  /// acquired.
  participant queued = participant::rank;
  /// How the ranks of a node access the queue node that they share (optimisation 4 of section 5.4.1).
  node_access shared_node = node_access::direct;
};

/// Exclusive lock for all ranks of a world. See the file's comment.
template <world W, dash_policy Policy = dash_policy{}>
class dash_lock : public lockable<dash_lock<W, Policy>, W> {
 public:
  using world_type = W;
  static constexpr participant queued = Policy.queued;
  static constexpr bool reads_directly =
      Policy.stage >= dash_stage::direct_reads &&
      (Policy.queued == participant::rank || Policy.shared_node == node_access::direct);

  /// Collective. `home` is the rank that keeps the end of the queue.
  explicit dash_lock(W& w, int home = 0)
      : dash_lock::lockable(w, {{"home", home}}),
        locality_(&w.locality()),
        rank_(w.rank()),
        queue_(w, home, w.rank()),
        channel_(w) {}
  ~dash_lock() noexcept(!checked_build) { this->expect_not_held(); }

  // The algorithm without the checks, for locks that are built on this one.

  handover acquire() {
    const rank_word predecessor = queue_.enqueue();
    if (predecessor == nobody) return handover::uncontended;
    const int from = to_rank(predecessor);
    // A node's queue node does not say which of the node's ranks will release.
    channel_.await_signal(queued == participant::rank ? from : any_rank);
    return locality_->same(level::node, rank_, from) ? handover::local : handover::remote;
  }

  [[nodiscard]] bool try_acquire() { return queue_.enqueue_if_empty(); }

  void release() {
    if (const rank_word successor = queue_.leave(); successor != nobody) channel_.signal(to_rank(successor));
  }

  /// Whether another participant has registered behind this one.
  [[nodiscard]] bool is_wanted()
    requires reads_directly
  {
    return queue_.look() != nobody;
  }

 private:
  static constexpr far_queue_policy queue_policy() {
    const bool shared_by_rma = Policy.queued == participant::node && Policy.shared_node == node_access::rma;
    return {.queued = queued,
            .words = Policy.words,
            .registers_by =
                Policy.stage >= dash_stage::put_registration ? registration::put : registration::fetch_and_op,
            .looks_early = Policy.stage >= dash_stage::early_look,
            .reads = reads_directly ? node_access::direct : node_access::rma,
            .resets = shared_by_rma ? node_access::rma : node_access::direct};
  }

  const locality* locality_;
  int rank_;
  far_queue<W, queue_policy()> queue_;
  typename W::signal_channel channel_;
};

}  // namespace nearfar
