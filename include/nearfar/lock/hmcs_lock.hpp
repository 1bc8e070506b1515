/// \file
/// HMCS: a tree of MCS queues in near memory, one queue for each element of each level of a node; alone, or
/// below a queue of nodes, or below a queue of nodes for each island (`island_queue.hpp`). Also AHMCS, whose
/// ranks skip levels that are not needed.
///
/// Source: M. Chabbi, M. Fagan, J. Mellor-Crummey, "High performance locks for multi-level NUMA systems",
/// PPoPP 2015, doi 10.1145/2688500.2688503; M. Chabbi, J. Mellor-Crummey, "Contention-conscious,
/// locality-preserving locks", PPoPP 2016, doi 10.1145/2851141.2851166, without its use of transactions.
/// There each level keeps its count in its own queue node; here all counts are handed over in one word. It is
/// nearfar's, as in `cohort_lock`, that the lock stays in an element whose turns are over while no rank
/// outside wants it.
///
/// A rank queues with the other ranks of its innermost element. The first of these queues on behalf of all of
/// them one level up, in a queue node that belongs to the element, and so on. A releasing rank hands over in
/// the innermost queue that has a waiting rank and turns left: in each queue the lock is handed over at most
/// `max_passes` times in a row. The rank leaves the queues below that one, and the next rank in each of those
/// has to queue further up.
///
/// Adaptive entry: a rank that was alone where it began the last time begins one level further up, with a
/// queue node of its own among those of elements. A rank that had both a predecessor and a successor begins
/// one level further down. A rank begins in the node's queue if both that queue and the one it would begin in
/// are empty.
///
/// Fairness: in the node's queue first come, first served between its elements. Each element may bring
/// `max_passes` + 1 times as many ranks as an element inside it may. Adaptive, ranks that enter a queue
/// directly count as elements there. Progress: an acquiring rank waits for its predecessors only.
///
/// Cost: no far operations. Cache-line transfers: those of MCS for each queue on the way up, uncontended all
/// of them; adaptive and uncontended for long, those of one. A hand-over writes one word. Memory: 256 bytes
/// of near memory for each rank and level, and 256 for each rank.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/cohort_lock.hpp"
#include "nearfar/lock/dash_lock.hpp"
#include "nearfar/lock/island_queue.hpp"
#include "nearfar/lock/lock_tree.hpp"
#include "nearfar/lock/near_lockable.hpp"

namespace nearfar {

/// Where a rank enters the tree of queues.
enum class hmcs_entry : std::uint8_t {
  innermost,  ///< in the queue of its innermost element (HMCS)
  adaptive,   ///< as far up as the rank seems to be alone below (AHMCS)
};

/// Exclusive lock for the ranks of one node. See the file's comment.
template <world W, hmcs_entry Entry = hmcs_entry::innermost>
class near_hmcs_lock : public near_lockable<near_hmcs_lock<W, Entry>, W> {
  using base = near_lockable<near_hmcs_lock<W, Entry>, W>;
  /// The name of a queue node: the rank in whose memory it is, and its index there.
  using cell = typename base::rank_cell;

 public:
  using status = typename base::status;
  using grant = typename base::grant;

  /// Collective. The end of each queue lies with the lowest rank of its element; that of the node's queue
  /// with `home`, or with `near_scope::node` at each node's leader. `inside`: the levels inside the node,
  /// each with the number of times that the lock is handed on in one of its elements (default:
  /// `lock_tree::inside_nodes`). Throws `misuse` if a level is not inside a node or its threshold is not 1 to
  /// 254. Throws `topology_error` if the ranks that share an element of a level are not known, or if the
  /// ranks of one lock are not on one node.
  explicit near_hmcs_lock(W& w, int home = 0, near_scope scope = near_scope::world)
      : near_hmcs_lock(w, home, scope, lock_tree::inside_nodes(w.locality())) {}
  near_hmcs_lock(W& w, int home, near_scope scope, const lock_tree& inside)
      : near_hmcs_lock(w, home, scope, inside, inside.arguments()) {}
  ~near_hmcs_lock() noexcept(!checked_build) { this->expect_not_held(); }

  grant acquire_local() {
    entry_ = queue_to_begin_in();
    bool waited = false;
    for (std::size_t i = entry_ + 1; i-- > 0;) {
      if (!enqueue(i)) continue;
      waited = true;
      // Pairs with (5).
      held_ = turn::of(world_->await(node_in(i).given, [](std::uint64_t word) { return word != waiting; }));
      if (!held_.asks_above) return {held_.passes, true};
    }
    held_ = {};
    return {base::from_above, waited};
  }

  [[nodiscard]] bool try_acquire_local() {
    entry_ = queue_to_begin_in();
    had_predecessor_ = false;
    for (std::size_t i = entry_ + 1; i-- > 0;) {
      node_in(i).next.store(none, std::memory_order_relaxed);
      cell expected = none;
      if (queues_[i].end->compare_exchange(expected, name_in(i), std::memory_order_acq_rel,
                                           std::memory_order_relaxed))
        continue;
      // A rank that has queued up below meanwhile has to ask above itself.
      leave_below(i);
      return false;
    }
    held_ = {};
    return true;
  }

  /// Looks first where another rank is most likely.
  [[nodiscard]] bool alone() {
    for (std::size_t i = entry_ + 1; i-- > 0;)
      if (is_followed(i)) return false;
    return true;
  }

  void release_local(status passes) {
    held_.passes = passes;
    held_.asks_above = false;
    if constexpr (Entry == hmcs_entry::adaptive) learn();
    const std::size_t at = queue_to_hand_over_in();
    count(at);
    if (at > 0 || !leave_if_last(0)) hand_over(at, held_);
    leave_below(at);
  }

 private:
  static constexpr cell none = base::no_rank;
  static constexpr std::uint64_t waiting = 0;

  /// The state that a rank hands over, in one word.
  struct turn {
    bool asks_above = false;  ///< only the queue is handed over; its first rank must ask for the lock one
                              ///< level up
    status passes = base::from_above;
    /// Hand-overs in a row in each queue but the node's, outermost first.
    std::array<status, levels_in_node> in_a_row{};

    [[nodiscard]] static constexpr turn of(std::uint64_t word) noexcept {
      turn result{.asks_above = (word & asks) != 0, .passes = static_cast<status>(word >> 8U)};
      for (status& each : result.in_a_row) {
        each = static_cast<status>(word >> 16U);
        word >>= 8U;
      }
      return result;
    }
    /// Never `waiting`.
    [[nodiscard]] constexpr std::uint64_t word() const noexcept {
      std::uint64_t counts = 0;
      for (std::size_t i = in_a_row.size(); i-- > 0;) counts = counts << 8U | in_a_row[i];
      return counts << 16U | std::uint64_t{passes} << 8U | (asks_above ? asks : is_there);
    }

   private:
    static constexpr std::uint64_t is_there = 1;
    static constexpr std::uint64_t asks = 2;
  };

  struct alignas(cache_line) node {
    typename W::template near<std::uint64_t> given{};
    typename W::template near<cell> next{};
    alignas(cache_line) typename W::template near<cell> end{};  ///< of a queue
  };

  /// One queue as this rank knows it. The node's queue is the first, that of its innermost element the last.
  struct queue {
    typename W::template near<cell>* end;
    cell element;       ///< the queue node of this rank's element; in the last queue the rank's own
    status max_passes;  ///< in a row
  };

  near_hmcs_lock(W& w, int home, near_scope scope, const lock_tree& inside,
                 const lock_tree::named_levels& levels)
      : base(w, {{"home", home},
                 {"scope", static_cast<std::int64_t>(scope)},
                 levels[0],
                 levels[1],
                 levels[2],
                 levels[3],
                 levels[4],
                 levels[5]}),
        world_(&w),
        last_(detail::checked_inside_nodes(inside, w.locality()).levels().size()),
        nodes_(w, last_ + 1),
        own_(name(w.rank(), last_)),
        entry_(last_),
        begins_(last_) {
    int owner = detail::home_of_near(w, home, scope);
    auto max_passes = static_cast<status>(most_local_passes);
    for (std::size_t i = 0; i <= last_; ++i) {
      const int below = i < last_ ? w.locality().leader(inside.levels()[i].at, w.rank()) : w.rank();
      queues_[i] = {&nodes_.at({owner, i}).end, name(below, i), max_passes};
      owner = below;
      if (i < last_) max_passes = static_cast<status>(inside.levels()[i].max_passes);
    }
  }

  [[nodiscard]] cell name(int rank, std::size_t which) const {
    return static_cast<cell>(static_cast<std::size_t>(rank) * (last_ + 1) + which + 1);
  }
  [[nodiscard]] node& node_named(cell name) {
    const std::size_t number = name - 1;
    return nodes_.at({static_cast<int>(number / (last_ + 1)), number % (last_ + 1)});
  }
  [[nodiscard]] cell name_in(std::size_t i) const { return i == entry_ ? own_ : queues_[i].element; }
  [[nodiscard]] node& node_in(std::size_t i) { return node_named(name_in(i)); }

  [[nodiscard]] std::size_t queue_to_begin_in() {
    if constexpr (Entry == hmcs_entry::innermost) return last_;
    const auto is_empty = [this](std::size_t i) {
      return queues_[i].end->load(std::memory_order_relaxed) == none;
    };
    return is_empty(begins_) && is_empty(0) ? 0 : begins_;
  }

  /// Notes, before the lock is released, how contended the queue is in which this rank began.
  void learn() {
    const bool is_followed = node_in(entry_).next.load(std::memory_order_relaxed) != none;
    if (had_predecessor_ && is_followed)
      begins_ = std::min(begins_ + 1, last_);
    else if (!had_predecessor_ && !is_followed && begins_ > 0)
      --begins_;
  }

  /// Whether a rank is before this one in the queue, and will hand it over.
  [[nodiscard]] bool enqueue(std::size_t i) {
    node& mine = node_in(i);
    mine.next.store(none, std::memory_order_relaxed);
    // (1) Acquires from (4) of the last rank to leave if the queue was empty; releases the reset of `next`.
    const cell before = queues_[i].end->exchange(name_in(i), std::memory_order_acq_rel);
    if (i == entry_) had_predecessor_ = before != none;
    if (before == none) return false;
    mine.given.store(waiting, std::memory_order_relaxed);
    // (2) Releases the two resets above to the predecessor's (3).
    node_named(before).next.store(name_in(i), std::memory_order_release);
    return true;
  }

  [[nodiscard]] bool has_successor(std::size_t i) {
    return node_in(i).next.load(std::memory_order_relaxed) != none;
  }
  /// Also true for a rank that has not registered yet. A registered rank is found in a line of this rank; the
  /// end of the queue is in a line that every arriving rank writes.
  [[nodiscard]] bool is_followed(std::size_t i) {
    return has_successor(i) || queues_[i].end->load(std::memory_order_relaxed) != name_in(i);
  }

  /// The innermost queue that has a waiting rank and turns left. If there is none, and no rank waits in the
  /// node's queue, the outermost queue that has a waiting rank: a caller of `alone` may rely on that.
  [[nodiscard]] std::size_t queue_to_hand_over_in() {
    for (std::size_t i = entry_; i > 0; --i)
      if (held_.in_a_row[i - 1] < queues_[i].max_passes && has_successor(i)) return i;
    if (is_followed(0)) return 0;
    for (std::size_t i = 1; i <= entry_; ++i)
      if (is_followed(i)) return i;
    return 0;
  }

  /// Resets the counts of the queues inside, which then belong to other elements.
  void count(std::size_t at) {
    if (at > 0) {
      status& in_a_row = held_.in_a_row[at - 1];
      in_a_row = std::min(static_cast<status>(in_a_row + 1), queues_[at].max_passes);
    }
    std::fill(held_.in_a_row.begin() + static_cast<std::ptrdiff_t>(at), held_.in_a_row.end(), status{0});
  }

  /// Hands over to the rank that is behind this rank's node in a queue, or is about to be.
  void hand_over(std::size_t i, const turn& what) {
    // (3) Pairs with (2).
    const cell next = world_->await(node_in(i).next, [](cell behind) { return behind != none; });
    // (5) Releases the critical section, and the element's nodes further up.
    node_named(next).given.store(what.word(), std::memory_order_release);
  }

  /// Leaves the queue if no rank is behind this rank's node. Returns whether it has left.
  [[nodiscard]] bool leave_if_last(std::size_t i) {
    if (has_successor(i)) return false;
    cell expected = name_in(i);
    // (4) Releases the same as (5) to the next (1).
    return queues_[i].end->compare_exchange(expected, none, std::memory_order_release,
                                            std::memory_order_relaxed);
  }

  /// Leaves the queues below the one in which the lock is handed over. The outermost comes first, so that an
  /// element's node is free before another rank of the element may use it.
  void leave_below(std::size_t at) {
    for (std::size_t i = at + 1; i <= entry_; ++i)
      if (!leave_if_last(i)) hand_over(i, {.asks_above = true});
  }

  W* world_;
  std::size_t last_;
  typename W::template near_array<node> nodes_;
  std::array<queue, levels_in_node + 1> queues_{};
  cell own_;
  std::size_t entry_;   ///< the queue in which this rank began
  std::size_t begins_;  ///< adaptive: the queue in which it begins the next time
  bool had_predecessor_ = false;
  turn held_{};
};

/// HMCS for all ranks of a world, with `dash_lock` between nodes. The levels inside nodes are the last
/// constructor argument.
template <world W, hmcs_entry Entry = hmcs_entry::innermost>
using hmcs_lock =
    cohort_lock<dash_lock<W, dash_policy{.queued = participant::node}>, near_hmcs_lock<W, Entry>>;

/// The same with a queue of nodes for each island. The level of islands and the levels inside nodes are the
/// last two constructor arguments, such as `tree_level{level::island, 20}` and `lock_tree{{level::numa,
/// 50}}`.
template <world W, hmcs_entry Entry = hmcs_entry::innermost>
using island_hmcs_lock = cohort_lock<island_queue<W>, near_hmcs_lock<W, Entry>>;

}  // namespace nearfar
