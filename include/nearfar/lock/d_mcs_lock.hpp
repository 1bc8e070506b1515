/// \file
/// D-MCS: MCS over RMA with a home rank, where the hand-over is a far write to a word that the successor
/// polls.
///
/// Source: P. Schmid, M. Besta, T. Hoefler, "High-Performance Distributed RMA Locks", HPDC 2016, doi
/// 10.1145/2907294.2907323 (after W. Gropp, T. Hoefler, R. Thakur, E. Lusk, "Using Advanced MPI", 2014,
/// section 4.7); with the flushes that MPI requires and the put hand-over of A. Uffmann's master thesis, LMU
/// Munich, 2022, sections 3.4 and 4.3.1.
///
/// Fairness: first come, first served (bound 0). Progress: an acquiring rank waits for its predecessors only.
///
/// Cost in far operations, each completed by a flush:
///  - uncontended: lock 1 swap at home, unlock 1 compare-and-swap at home;
///  - contended: lock 1 swap at home and 1 write to the predecessor, unlock 1 write to the successor.
/// Memory: 192 bytes of far memory for each rank.
#pragma once

#include "nearfar/core/world.hpp"
#include "nearfar/lock/far_queue.hpp"
#include "nearfar/lock/lockable.hpp"

namespace nearfar {

/// The far write by which ranks register and hand over.
enum class d_mcs_handover : std::uint8_t {
  accumulate,  ///< as published; atomic, which the algorithm does not need
  put,         ///< section 3.4 of the thesis
};

/// What a `d_mcs_lock` is made of.
struct d_mcs_policy {
  d_mcs_handover by = d_mcs_handover::put;
  /// `participant::node` makes it the global lock of a cohort: any rank of the node may release what another
  /// acquired.
  participant queued = participant::rank;
};

/// Exclusive lock for all ranks of a world. See the file's comment.
template <world W, d_mcs_policy Policy = d_mcs_policy{}>
class d_mcs_lock : public lockable<d_mcs_lock<W, Policy>, W> {
 public:
  using world_type = W;
  static constexpr participant queued = Policy.queued;

  /// Collective. `home` is the rank that keeps the end of the queue.
  explicit d_mcs_lock(W& w, int home = 0)
      : d_mcs_lock::lockable(w, {{"home", home}}),
        world_(&w),
        owner_(queued == participant::rank ? w.rank() : w.locality().leader(level::node, w.rank())),
        queue_(w, home, owner_, owner_),
        grants_(w) {}
  ~d_mcs_lock() noexcept(!checked_build) { this->expect_not_held(); }

  // The algorithm without the checks, for locks that are built on this one.

  handover acquire() {
    // Reset before the queue can name this rank to anyone, so no grant can be in flight.
    grants_.write_direct(owner_, &grant::given, no);
    const rank_word predecessor = queue_.enqueue();
    if (predecessor == nobody) return handover::uncontended;
    world_->await_direct(grants_, owner_, &grant::given, [](std::uint64_t given) { return given == yes; });
    return world_->locality().same(level::node, owner_, to_rank(predecessor)) ? handover::local
                                                                              : handover::remote;
  }

  [[nodiscard]] bool try_acquire() { return queue_.enqueue_if_empty(); }

  void release() {
    const rank_word successor = queue_.leave();
    if (successor == nobody) return;
    const int to = to_rank(successor);
    if constexpr (Policy.by == d_mcs_handover::put)
      grants_.put(to, &grant::given, yes);
    else
      grants_.accumulate(to, &grant::given, yes, far_op::replace);
    grants_.flush(to);
  }

  /// Whether another participant has registered behind this one.
  [[nodiscard]] bool is_wanted() { return queue_.look() != nobody; }

 private:
  struct alignas(slot_bytes) grant {
    far<std::uint64_t> given;
  };
  // Origins of far operations, so they must be objects.
  static constexpr std::uint64_t no = 0;
  static constexpr std::uint64_t yes = 1;

  static constexpr far_queue_policy queue_policy() {
    return {.registers_by = Policy.by == d_mcs_handover::put ? registration::put : registration::accumulate};
  }

  W* world_;
  int owner_;
  far_queue<W, queue_policy()> queue_;
  typename W::template far_segment<grant> grants_;
};

}  // namespace nearfar
