/// \file
/// CLH over RMA, and Craig's variant for machines without coherent caches.
///
/// Source: T. Craig, "Building FIFO and priority-queuing spin locks from atomic swap", TR 93-02-02,
/// University of Washington, 1993; P. Magnusson, A. Landin, E. Hagersten, "Queue locks on cache coherent
/// multiprocessors", IPPS 1994, doi 10.1109/IPPS.1994.288305. The form over RMA is that of A. Uffmann's
/// master thesis, LMU Munich, 2022, sections 5.3.1 and 5.3.2. Handing over by sum in Craig's variant is
/// nearfar's (far_handover.hpp).
///
/// A rank waits at its predecessor's queue node, and keeps that node for its next acquisition. So the lock
/// has one queue node more than there are ranks, which lies at the home. Which node a rank uses changes from
/// one acquisition to the next. As published each waiting rank polls its predecessor's node, wherever that
/// is: by RMA everywhere, or, by default, in place on its own node. In Craig's variant the rank leaves its
/// name in that node, and its predecessor writes to a word of the waiting rank.
///
/// A write that has been seen need not be complete: a rank that has seen its predecessor's write may come to
/// use that node before the write is complete. So queue nodes, like the end of the queue, are written by
/// accumulates (replace) and swaps only, which exclude each other, and never by put.
///
/// Fairness: first come, first served (bound 0). Progress: an acquiring rank waits for its predecessors only.
/// There is no `try_acquire` (near_clh_lock.hpp says why).
///
/// Cost in far operations, each completed by a flush; n is the rank that has the queue node in its memory:
///  - lock: 1 at n, 1 atomic at home, and at the predecessor's node 1 atomic (Craig) or 1 for each poll (as
///    published);
///  - unlock: 1 at n, and in Craig's variant 1 at the successor.
/// Only a rank on the same machine node as its predecessor's queue node polls in place, and none does as
/// published. Memory: 128 bytes of far memory for each rank, in Craig's variant 192.
#pragma once

#include <cstdint>
#include <type_traits>

#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/far_handover.hpp"
#include "nearfar/lock/lockable.hpp"
#include "nearfar/memory/nearest_access.hpp"

namespace nearfar {

/// Where a rank of a CLH queue waits.
enum class clh_waiting : std::uint8_t {
  at_predecessor,  ///< at its predecessor's queue node
  at_home,         ///< at a word of its own (Craig)
  /// At its predecessor's queue node, which it polls by atomic fetches even on its own node, as published.
  at_predecessor_by_rma,
};

/// Exclusive lock for all ranks of a world. See the file's comment.
template <world W, clh_waiting Where = clh_waiting::at_predecessor>
class clh_lock : public lockable<clh_lock<W, Where>, W> {
 public:
  using world_type = W;

  /// Collective. `home` keeps the end of the queue, and one queue node.
  explicit clh_lock(W& w, int home = 0)
      : clh_lock::lockable(w, {{"home", home}}),
        world_(&w),
        words_(w),
        grants_(w),
        home_(checked_rank(w, home)),
        rank_(w.rank()),
        mine_(to_word(rank_)),
        my_name_(to_word(rank_) + 1) {}
  ~clh_lock() noexcept(!checked_build) { this->expect_not_held(); }

  // The algorithm without the checks, for locks that are built on this one.

  handover acquire() {
    words_.accumulate(owner_of(mine_), status_in(mine_), pending, far_op::replace);
    words_.flush(owner_of(mine_));
    words_.swap(home_, &words::tail, mine_, before_);
    words_.flush(home_);
    if constexpr (Where == clh_waiting::at_home)
      return await_grant();
    else
      return await_release();
  }

  void release() {
    if constexpr (Where == clh_waiting::at_home) {
      const std::uint64_t seen = swap_status(mine_, granted);
      if (seen != pending) grants_.give(to_rank(seen - 1), grant);
    } else {
      words_.accumulate(owner_of(mine_), status_in(mine_), granted, far_op::replace);
      words_.flush(owner_of(mine_));
    }
    mine_ = before_;
  }

 private:
  // Queue nodes are named by the rank that has them in its memory; `spare` is the additional one.
  static constexpr rank_word spare = nobody;
  // The values of a queue node; in Craig's variant it may also name the waiting rank. Origins of far
  // operations, so they must be objects.
  static constexpr std::uint64_t granted = 0;
  static constexpr std::uint64_t pending = 1;
  static constexpr std::uint64_t grant = 1;

  struct alignas(slot_bytes) words {
    far<std::uint64_t> status;
    alignas(slot_bytes) far<std::uint64_t> spare_status;
    far<rank_word> tail;
  };
  using status_word = far<std::uint64_t> words::*;

  struct no_grants {
    explicit no_grants(W& /*w*/) {}
  };

  [[nodiscard]] int owner_of(rank_word node) const noexcept { return node == spare ? home_ : to_rank(node); }
  [[nodiscard]] static status_word status_in(rank_word node) noexcept {
    return node == spare ? &words::spare_status : &words::status;
  }

  [[nodiscard]] std::uint64_t swap_status(rank_word node, const std::uint64_t& status) {
    words_.swap(owner_of(node), status_in(node), status, seen_);
    words_.flush(owner_of(node));
    return seen_;
  }

  [[nodiscard]] handover await_grant()
    requires(Where == clh_waiting::at_home)
  {
    if (swap_status(before_, my_name_) == granted) return handover::uncontended;
    static_cast<void>(grants_.await());
    return handover::waited;
  }
  [[nodiscard]] handover await_release() {
    const int owner = owner_of(before_);
    const auto is_granted = [](std::uint64_t status) { return status == granted; };
    if constexpr (Where == clh_waiting::at_predecessor_by_rma) {
      words_.fetch(owner, status_in(before_), seen_);
      words_.flush(owner);
      if (is_granted(seen_)) return handover::uncontended;
      world_->await_fetch(words_, owner, status_in(before_), is_granted);
      return handover::waited;
    } else {
      const nearest_access<W, far_read::fetch> there(*world_, owner);
      const bool has_waited = there.look_and_await(words_, owner, status_in(before_), seen_, is_granted);
      return has_waited ? handover::waited : handover::uncontended;
    }
  }

  W* world_;
  typename W::template far_segment<words> words_;
  [[no_unique_address]] std::conditional_t<Where == clh_waiting::at_home, far_handover<W>, no_grants> grants_;
  int home_;
  int rank_;
  rank_word mine_;
  std::uint64_t my_name_;     ///< distinct from the values of a queue node
  rank_word before_ = spare;  ///< the predecessor's queue node
  std::uint64_t seen_ = granted;
};

}  // namespace nearfar
