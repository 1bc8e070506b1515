/// \file
/// The queue of waiting participants in far memory on which the MCS locks over RMA are built: a tail word at
/// the home rank, a queue node with a `next` word for each participant.
///
/// Source: the distributed MCS queue of P. Schmid, M. Besta, T. Hoefler, "High-Performance Distributed RMA
/// Locks", HPDC 2016, doi 10.1145/2907294.2907323, after J. Mellor-Crummey, M. Scott, "Algorithms for
/// scalable synchronization on shared-memory multiprocessors", 1991, doi 10.1145/103727.103729; variants from
/// A. Uffmann's master thesis, LMU Munich, 2022, sections 3.4, 4.3 and 5.4.1.
///
/// A participant is a rank, or a node whose ranks share one queue node in the memory of the node's leader (at
/// most one of them is in the queue at a time, which the lock above must see to).
#pragma once

#include <cstdint>

#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"

namespace nearfar {

/// Who takes a place in a queue.
enum class participant : std::uint8_t {
  rank,  ///< each rank for itself
  node,  ///< the ranks of a node together; one may acquire and another release
};

/// How a rank reaches a queue node on its own node: through memory, or through RMA like any other.
enum class node_access : std::uint8_t { direct, rma };

/// The operation by which a participant tells its predecessor that it is behind it. It is the only one that
/// writes that word at that time, so that the cheapest, `put`, suffices.
enum class registration : std::uint8_t { fetch_and_op, accumulate, put };

/// What distinguishes the published queues.
struct far_queue_policy {
  registration registers_by = registration::put;
  /// Whether a leaving participant looks for a successor before it tries to empty the queue, which saves a
  /// compare-and-swap at the home rank whenever there is one.
  bool looks_early = true;
  /// How the queue node is read...
  node_access reads = node_access::direct;
  /// ...and reset, which nobody else does.
  node_access resets = node_access::direct;
};

/// Cost in far operations (each with its flush): enqueue 1 atomic at the home rank, and 1 put to the
/// predecessor if there is one; leave 1 atomic at the home rank if nobody is behind, else none.
template <world W, far_queue_policy Policy = far_queue_policy{}>
class far_queue {
 public:
  /// `home` keeps the tail; `owner` is the rank in whose memory this participant's queue node lies;
  /// `announced` is the rank that a predecessor shall be told. Collective.
  far_queue(W& w, int home, int owner, int announced)
      : world_(&w),
        words_(w),
        home_(checked_rank(w, home)),
        owner_(owner),
        self_(to_word(owner)),
        announced_(to_word(announced)) {}

  /// Takes the last place. Returns the predecessor's owner, or `nobody` at the head.
  [[nodiscard]] rank_word enqueue() {
    reset_next();
    rank_word predecessor = nobody;
    words_.swap(home_, &words::tail, self_, predecessor);
    words_.flush(home_);
    if (predecessor != nobody) register_at(to_rank(predecessor));
    return predecessor;
  }

  /// Takes the first place if the queue is empty.
  [[nodiscard]] bool enqueue_if_empty() {
    reset_next();
    return compare_and_swap_tail(nobody, self_) == nobody;
  }

  /// Leaves the head. Returns who was announced as the successor, which must be told; `nobody` if the queue
  /// is empty now. A successor that is about to register is waited for.
  [[nodiscard]] rank_word leave() {
    if constexpr (Policy.looks_early)
      if (const rank_word successor = look(); successor != nobody) return successor;
    if (compare_and_swap_tail(self_, nobody) == self_) return nobody;
    return await_successor();
  }

  /// Who has registered as the successor by now, or `nobody`.
  [[nodiscard]] rank_word look() {
    if constexpr (Policy.reads == node_access::direct) return words_.read_direct(owner_, &words::next);
    rank_word successor = nobody;
    if constexpr (registers_atomically)
      words_.fetch(owner_, &words::next, successor);
    else
      words_.get(owner_, &words::next, successor);
    words_.flush(owner_);
    return successor;
  }

 private:
  struct alignas(slot_bytes) words {
    far<rank_word> tail;
    alignas(slot_bytes) far<rank_word> next;
  };

  void reset_next() {
    if constexpr (Policy.resets == node_access::direct) {
      words_.write_direct(owner_, &words::next, nobody);
    } else {
      words_.put(owner_, &words::next, nobody);
      words_.flush(owner_);
    }
  }

  void register_at(int predecessor) {
    if constexpr (Policy.registers_by == registration::put) {
      words_.put(predecessor, &words::next, announced_);
    } else if constexpr (Policy.registers_by == registration::accumulate) {
      words_.accumulate(predecessor, &words::next, announced_, far_op::replace);
    } else {
      words_.swap(predecessor, &words::next, announced_, ignored_);
    }
    words_.flush(predecessor);
  }

  [[nodiscard]] rank_word compare_and_swap_tail(const rank_word& expected, const rank_word& desired) {
    rank_word seen = nobody;
    words_.compare_and_swap(home_, &words::tail, expected, desired, seen);
    words_.flush(home_);
    return seen;
  }

  [[nodiscard]] rank_word await_successor() {
    const auto is_there = [](rank_word next) { return next != nobody; };
    if constexpr (Policy.reads == node_access::direct) {
      return world_->await_direct(words_, owner_, &words::next, is_there);
    } else if constexpr (registers_atomically) {
      return world_->await_fetch(words_, owner_, &words::next, is_there);
    } else {
      return world_->await_get(words_, owner_, &words::next, is_there);
    }
  }

  static constexpr bool registers_atomically = Policy.registers_by != registration::put;
  static_assert(!registers_atomically || Policy.resets == node_access::direct,
                "a word that is written by accumulates must not be put to");

  W* world_;
  typename W::template far_segment<words> words_;
  int home_;
  int owner_;
  rank_word self_;
  rank_word announced_;
  rank_word ignored_ = nobody;
};

}  // namespace nearfar
