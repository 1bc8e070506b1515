/// \file
/// FC-MCS: one rank of a node joins an MCS queue over RMA with a whole chain of waiting ranks of the node.
///
/// Source: D. Dice, V. Marathe, N. Shavit, "Flat-combining NUMA locks", SPAA 2011, doi
/// 10.1145/1989493.1989502; named in the outlook of A. Uffmann's master thesis, LMU Munich, 2022, chapter 6.
/// There the combiner looks over the requests several times; here once, since a rank that comes later finds
/// the combiner's place free soon. The queue with two words and the hand-over by sum are those of
/// `d_mcs_lock`.
///
/// A rank posts a request in its record in near memory. Any rank with a request may become the combiner of
/// its node. The combiner collects all requests of the node, links them to a chain, and joins the queue with
/// the whole chain by one swap. Afterwards the tail names the chain's last rank. The rank before the chain
/// learns the name of the chain's first rank, to which it will hand over. Within a chain a rank hands over by
/// a store.
///
/// `far_queue.hpp` is right only if a registered rank waits for the flush of its registration before it
/// acquires. Here the combiner registers for the first rank of its chain. So this rank waits first for the
/// combiner, which stores `waits_far` after its flush, and then for the grant.
///
/// Fairness: between chains first come, first served; within a chain by number of rank. A chain has each rank
/// of a node at most once. Progress: an acquiring rank waits for the combiner of its node and for its
/// predecessors.
///
/// Cost in far operations, each completed by a flush:
///  - uncontended: lock 1 swap at home, unlock 1 compare-and-swap at home;
///  - contended, for a whole chain: 1 swap at home, 1 write to the predecessor, 1 write to the next chain.
/// Cache-line transfers: a combiner reads a line for each rank of its node. Memory: 256 bytes of far memory
/// and 128 of near memory for each rank.
#pragma once

#include <atomic>
#include <cstdint>

#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/far_handover.hpp"
#include "nearfar/lock/far_queue.hpp"
#include "nearfar/lock/lockable.hpp"
#include "nearfar/lock/participant.hpp"

namespace nearfar {

/// Exclusive lock for all ranks of a world. See the file's comment.
template <world W>
class fc_mcs_lock : public lockable<fc_mcs_lock<W>, W> {
 public:
  using world_type = W;

  /// Collective. `home` is the rank that keeps the end of the queue.
  explicit fc_mcs_lock(W& w, int home = 0)
      : fc_mcs_lock::lockable(w, {{"home", home}}),
        world_(&w),
        rank_(w.rank()),
        leader_(w.locality().leader(level::node, rank_)),
        queue_(w, home, rank_, rank_),
        grants_(w),
        records_(w) {}
  ~fc_mcs_lock() noexcept(!checked_build) { this->expect_not_held(); }

  handover acquire() {
    auto& state = records_.at(rank_).state;
    state.store(posted, std::memory_order_release);  // (1)
    while (state.load(std::memory_order_relaxed) == posted && !combines())
      world_->await_any(when(state, [](std::uint64_t now) { return now != posted; }),
                        when(combining(), [](std::uint64_t now) { return now == none; }));
    // Pairs with (2) and (3).
    switch (world_->await(state, [](std::uint64_t now) { return now > collected; })) {
      case granted:
        return handover::local;
      case is_first:
        return handover::uncontended;
      default: {
        static_cast<void>(grants_.await());
        const int before = to_rank(records_.at(rank_).before.load(std::memory_order_relaxed));
        return world_->locality().same(level::node, rank_, before) ? handover::local : handover::remote;
      }
    }
  }

  /// A chain of this rank alone.
  [[nodiscard]] bool try_acquire() {
    records_.at(rank_).next.store(nobody, std::memory_order_relaxed);
    return queue_.enqueue_if_empty();
  }

  void release() {
    if (const rank_word next = records_.at(rank_).next.load(std::memory_order_relaxed); next != nobody)
      records_.at(to_rank(next)).state.store(granted, std::memory_order_release);  // (2)
    else if (const rank_word first = queue_.leave(); first != nobody)
      grants_.give(to_rank(first), one);
  }

 private:
  // The states of a request.
  static constexpr std::uint64_t none = 0;
  static constexpr std::uint64_t posted = 1;
  static constexpr std::uint64_t collected = 2;
  static constexpr std::uint64_t granted = 3;    ///< by a rank of the same chain
  static constexpr std::uint64_t is_first = 4;   ///< in the whole queue, so it has the lock
  static constexpr std::uint64_t waits_far = 5;  ///< for the grant of the chain before
  // An origin of far operations, so it must be an object.
  static constexpr std::uint64_t one = 1;

  struct alignas(cache_line) record {
    typename W::template near<std::uint64_t> state{};
    typename W::template near<rank_word> next{};    ///< in the chain
    typename W::template near<rank_word> before{};  ///< the last rank of the chain before
    /// Of the leader: whether a rank of the node is the combiner.
    alignas(cache_line) typename W::template near<std::uint64_t> combining{};
  };
  struct chain {
    int first;
    int last;
  };

  [[nodiscard]] auto& combining() { return records_.at(leader_).combining; }

  /// Becomes the combiner if there is none. Returns whether the request of this rank is in a chain then.
  [[nodiscard]] bool combines() {
    if (combining().exchange(1, std::memory_order_acquire) != none) return false;  // pairs with (4)
    // The combiner before may have collected it.
    if (records_.at(rank_).state.load(std::memory_order_relaxed) == posted) join(collect());
    combining().store(none, std::memory_order_release);  // (4)
    return true;
  }

  /// Links all requests of this node, of which this rank has one.
  [[nodiscard]] chain collect() {
    const locality& where = world_->locality();
    rank_word first = nobody;
    rank_word last = nobody;
    for (const int rank : where.members(level::node, where.group(level::node, rank_))) {
      record& one_of = records_.at(rank);
      if (one_of.state.load(std::memory_order_acquire) != posted) continue;  // pairs with (1)
      one_of.state.store(collected, std::memory_order_relaxed);
      one_of.next.store(nobody, std::memory_order_relaxed);
      if (first == nobody)
        first = to_word(rank);
      else
        records_.at(to_rank(last)).next.store(to_word(rank), std::memory_order_relaxed);
      last = to_word(rank);
    }
    return {to_rank(first), to_rank(last)};
  }

  void join(const chain& of) {
    queue_.act_for(of.last, of.first);
    const rank_word before = queue_.enqueue();
    queue_.act_for(rank_, rank_);
    record& first = records_.at(of.first);
    first.before.store(before, std::memory_order_relaxed);
    first.state.store(before == nobody ? is_first : waits_far, std::memory_order_release);  // (3)
  }

  W* world_;
  int rank_;
  int leader_;
  far_queue<W, far_queue_policy{.queued = participant::node}> queue_;
  far_handover<W> grants_;
  typename W::template near_segment<record> records_;
};

}  // namespace nearfar
