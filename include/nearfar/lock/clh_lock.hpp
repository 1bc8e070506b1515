/// \file
/// CLH over RMA, and Craig's variant for machines without coherent caches.
///
/// Source: T. Craig, "Building FIFO and priority-queuing spin locks from atomic swap", TR 93-02-02,
/// University of Washington, 1993; P. Magnusson, A. Landin, E. Hagersten, "Queue locks on cache coherent
/// multiprocessors", IPPS 1994, doi 10.1109/IPPS.1994.288305; over RMA as in A. Uffmann's master thesis, LMU
/// Munich, 2022, sections 5.3.1 and 5.3.2. That Craig's ranks wait for a sum is nearfar's (far_handover.hpp).
///
/// A rank waits for its predecessor's queue node, and keeps that for its next acquisition; so there is a node
/// more than there are ranks, which lies at the home, and where a rank's node is changes from one acquisition
/// to the next. As published each polls that node, wherever it is. By Craig's variant it leaves its name
/// there, and is told at a word of its own.
///
/// Seen is not complete: a rank that has seen its predecessor's write may come to use that node before the
/// write is complete. So nodes, like the end of the queue, are written by accumulates that replace, which
/// exclude each other, and never put to.
///
/// Fairness: first come, first served (bound 0). Progress: an acquiring rank waits for its predecessors only.
/// There is no attempt that does not wait (near_clh_lock.hpp).
///
/// Cost in far operations, each completed by a flush, n where the node is that one has come to: lock 1 at n,
/// 1 atomic at home, and 1 atomic at the predecessor's node, or as published 1 for each poll of it; unlock 1
/// at n, and by Craig's variant 1 at the successor. In place nothing but polls of a node of the same node of
/// the machine. Memory: 128 bytes of far memory for each rank, by Craig's variant 192.
#pragma once

#include <cstdint>
#include <type_traits>

#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/far_handover.hpp"
#include "nearfar/lock/far_polling.hpp"
#include "nearfar/lock/lockable.hpp"

namespace nearfar {

/// Where a rank of a CLH queue waits.
enum class clh_waiting : std::uint8_t {
  at_predecessor,  ///< at its predecessor's queue node
  at_home,         ///< at a word of its own (Craig)
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
  // Names of queue nodes: by the rank whose memory it is in, or the one that there is more.
  static constexpr rank_word spare = nobody;
  // What a queue node says; by Craig's variant also who waits. Origins of far operations, so they must be
  // objects.
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
    const bool has_waited = await_polled(*world_, words_, owner_of(before_), status_in(before_), seen_,
                                         [](std::uint64_t status) { return status == granted; });
    return has_waited ? handover::waited : handover::uncontended;
  }

  W* world_;
  typename W::template far_segment<words> words_;
  [[no_unique_address]] std::conditional_t<Where == clh_waiting::at_home, far_handover<W>, no_grants> grants_;
  int home_;
  int rank_;
  rank_word mine_;
  std::uint64_t my_name_;     ///< above what a queue node says else
  rank_word before_ = spare;  ///< what was the end of the queue
  std::uint64_t seen_ = granted;
};

}  // namespace nearfar
