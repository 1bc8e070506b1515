/// \file
/// A queue of nodes for each island, below a queue of islands: the levels above nodes of `island_hmcs_lock`.
///
/// Source: the levels of M. Chabbi, M. Fagan, J. Mellor-Crummey, "High performance locks for multi-level NUMA
/// systems", PPoPP 2015, doi 10.1145/2688500.2688503, in the queues over RMA of `far_queue.hpp`. A. Uffmann's
/// master thesis, LMU Munich, 2022, section 5.4, names islands as such a level. It is nearfar's, as in
/// `cohort_lock`, that the lock stays in an island whose turns are over while no other island wants it.
///
/// A node queues with the other nodes of its island. The rank that stands for the first node of that queue
/// also queues in its own name for the island. A grant inside the island hands over that entry in the queue
/// of islands, together with the number of hand-overs in a row. The last node of an island's turn leaves the
/// queue of islands in the stead of the rank that entered it. Another grant tells a rank that it has to
/// queue for the island. A waiting rank polls its own memory on both levels.
///
/// Fairness: between islands first come, first served, where each island may hand the lock on among its nodes
/// `max_passes` times in a row; between the nodes of an island first come, first served. Progress: an
/// acquiring node waits for its predecessors only.
///
/// Cost in far operations, each completed by a flush:
///  - uncontended: lock 1 swap at each home, unlock 1 compare-and-swap at each;
///  - handed over inside an island: lock 1 swap at the island's home and 1 put to the predecessor, unlock 1
///    accumulate to the successor;
///  - handed over to another island: lock in addition 1 swap at home and 1 put to the rank that entered for
///    the predecessor. Unlock takes 1 get there, or none on that rank's node, and 1 accumulate to each
///    successor: in the island, and of the other island.
/// Memory: 320 bytes of far memory and 64 bytes of near memory for each rank.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/far_handover.hpp"
#include "nearfar/lock/far_queue.hpp"
#include "nearfar/lock/lock_tree.hpp"
#include "nearfar/lock/lockable.hpp"

namespace nearfar {

/// Exclusive among the nodes of a world; the global lock of a cohort. See the file's comment.
template <world W>
class island_queue : public lockable<island_queue<W>, W> {
 public:
  using world_type = W;
  static constexpr participant queued = participant::node;

  /// Collective. `home` keeps the end of the queue of islands, and the lowest rank of each island that of its
  /// nodes. `of`: the level of islands, with the number of times in a row that the lock is handed on among
  /// the nodes of one. Throws `misuse` unless that number is 1 to 254. Throws `topology_error` if the nodes
  /// that share an island are not known.
  explicit island_queue(W& w, int home = 0, const tree_level& of = {level::island, default_max_local_passes})
      : island_queue::lockable(w, {{"home", home}, {name(of.at), of.max_passes}}),
        max_passes_(static_cast<std::uint64_t>(detail::checked_islands(of, w.locality()).max_passes)),
        nodes_(w, w.locality().leader(level::island, w.rank()), w.rank()),
        islands_(w, home, w.rank()),
        grants_(w),
        memory_(w),
        turn_(&memory_.at(w.locality().leader(level::node, w.rank())).turn) {}
  ~island_queue() noexcept(!checked_build) { this->expect_not_held(); }

  // The algorithm without the checks.

  handover acquire() {
    handover how = handover::uncontended;
    if (nodes_.enqueue() != nobody) {
      how = handover::waited;
      if (const std::uint64_t grant = grants_.await(); grant != asks_above) {
        hold(turn::of(grant));
        return handover::remote;
      }
    }
    if (islands_.enqueue() != nobody) {
      how = handover::remote;
      static_cast<void>(grants_.await());
    }
    hold({.entry = islands_.shared_entry()});
    return how;
  }

  [[nodiscard]] bool try_acquire() {
    if (!nodes_.enqueue_if_empty()) return false;
    if (islands_.enqueue_if_empty()) {
      hold({.entry = islands_.shared_entry()});
      return true;
    }
    // A node that has queued up meanwhile has to queue for the island itself.
    leave_to_ask_above();
    return false;
  }

  void release() {
    const turn mine = held();
    rank_word other_island = nobody;
    if (nodes_.look() == nobody) {
      other_island = islands_.leave_for(mine.entry);
    } else {
      if (mine.passes >= max_passes_) other_island = islands_.look_for(mine.entry);
      if (other_island == nobody)
        return pass_on({.entry = mine.entry, .passes = std::min(mine.passes + 1, max_passes_)});
    }
    if (other_island != nobody) grants_.give(to_rank(other_island), island_is_free);
    leave_to_ask_above();
  }

  /// Whether another node of the island has registered behind this one, or another island behind this one's.
  [[nodiscard]] bool is_wanted() {
    return nodes_.look() != nobody || islands_.look_for(held().entry) != nobody;
  }

 private:
  // Grants besides turns.
  static constexpr std::uint64_t asks_above = 1;      ///< to a node of the island: queue for the island
  static constexpr std::uint64_t island_is_free = 1;  ///< to an island: no other has the lock

  /// The turn of an island, as its nodes hand it over.
  struct turn {
    std::uint64_t entry = 0;   ///< in the queue of islands
    std::uint64_t passes = 0;  ///< in a row

    [[nodiscard]] static constexpr turn of(std::uint64_t word) noexcept {
      return {.entry = word >> bits_of_passes, .passes = word % (1U << bits_of_passes)};
    }
    /// Never `asks_above`, as no entry is 0.
    [[nodiscard]] constexpr std::uint64_t word() const noexcept { return entry << bits_of_passes | passes; }

   private:
    static constexpr unsigned bits_of_passes = 8;
  };

  struct alignas(cache_line) node_memory {
    typename W::template near<std::uint64_t> turn{};
  };

  // Relaxed, because the lock within the node orders all accesses.
  void hold(const turn& what) { turn_->store(what.word(), std::memory_order_relaxed); }
  [[nodiscard]] turn held() const { return turn::of(turn_->load(std::memory_order_relaxed)); }

  /// Hands over to the node that has registered in this island.
  void pass_on(const turn& what) {
    const std::uint64_t grant = what.word();
    grants_.give(to_rank(nodes_.leave_if_followed()), grant);
  }

  /// Hands the queue of nodes over, whose next node queues for the island.
  void leave_to_ask_above() {
    if (const rank_word successor = nodes_.leave(); successor != nobody)
      grants_.give(to_rank(successor), asks_above);
  }

  std::uint64_t max_passes_;
  far_queue<W, far_queue_policy{.queued = participant::node}> nodes_;
  far_queue<W> islands_;
  far_handover<W> grants_;
  typename W::template near_segment<node_memory> memory_;
  typename W::template near<std::uint64_t>* turn_;  ///< of this node, while it has the lock
};

}  // namespace nearfar
