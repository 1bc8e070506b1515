/// \file
/// The words by which nodes hand a lock over by put, with a value: each rank has one for each node.
///
/// Source: hand-over by put in place of accumulate is from A. Uffmann's master thesis, LMU Munich, 2022,
/// section 3.4. There a rank has one word, which it resets before each acquisition: unsound, as
/// `far_handover.hpp` explains. A word for each node that may precede is nearfar's.
///
/// Why a word for each node. A waiting rank S has to reset the word in which it waits for node P, and may do
/// so only when every earlier put to that word is complete. All of them are grants by ranks of that node.
/// Such a rank flushes its grant before it leaves the node's local lock. The next rank of the node takes that
/// lock before it enters the queue of nodes. S resets the word when it has found the node's entry at the end
/// of the queue, and before it registers there. In this order:
///
///   the flush of P's last grant to S returns  ->  P enters the queue  ->  S finds P there  ->  S resets
///
/// The arrows are program order, the local lock, and the swaps of the queue's end. The next put comes
/// after the reset, since P learns of S by its registration. With one word for all nodes the last grant could
/// be that of another node, of which S knows nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/topology/level.hpp"
#include "nearfar/topology/locality.hpp"

namespace nearfar {

/// Grants among ranks that queue for their nodes, one of a node at a time, in a `far_queue`.
///
/// Cost in far operations: 1 put for a hand-over, completed by a flush; a waiting rank polls and resets in
/// place. Memory: 8 bytes of far memory for each rank and node.
template <world W>
class put_grants {
 public:
  /// Collective.
  explicit put_grants(W& w)
      : world_(&w),
        words_(w, static_cast<std::size_t>(w.locality().groups(level::node))),
        rank_(w.rank()),
        node_(node_of(w.rank())),
        from_(node_) {}

  /// This rank has found a rank of the predecessor at the end of the queue, and has not registered yet.
  void expect(int predecessor) {
    from_ = node_of(predecessor);
    words_.write_direct(element{rank_, from_}, &word::status, wait);
  }

  /// Waits for the predecessor's grant; returns its value.
  [[nodiscard]] std::uint64_t await() {
    return world_->await_direct(words_, element{rank_, from_}, &word::status,
                                [](std::uint64_t status) { return status != wait; });
  }

  /// Hands over to a rank of another node. `value` must not be 0, and must live until the write is flushed.
  void give(int rank, const std::uint64_t& value) {
    words_.put(element{rank, node_}, &word::status, value);
    words_.flush(rank);
  }

 private:
  struct word {
    far<std::uint64_t> status;
  };
  static constexpr std::uint64_t wait = 0;

  [[nodiscard]] std::size_t node_of(int rank) const {
    return static_cast<std::size_t>(world_->locality().group(level::node, rank));
  }

  W* world_;
  typename W::template far_array<word> words_;
  int rank_;
  std::size_t node_;
  std::size_t from_;  ///< the node of which this rank waits, or waited last, for the grant
};

}  // namespace nearfar
