/// \file
/// CLoF: a lock composed of one lock for each level. The levels are the nodes of a world, the elements of a
/// node, the elements of those, and at last the ranks. Each level has a lock of any type.
///
/// Source: R. Lima Chehab, A. Paolillo, D. Behrens, M. Fu, H. Härtig, H. Chen, "CLoF: a compositional lock
/// framework for multi-level NUMA systems", SOSP 2021, pages 851 to 865. A. Uffmann's master thesis, LMU
/// Munich, 2022, names it in its outlook, chapter 6. The recursion is CLoF's. From CLoF, too: a rank
/// queues in the lock above in its element's name (`near_seat`), so another rank of the element may release
/// that lock. The lock above the nodes is a lock over RMA that nodes take (`cohort_global`).
///
/// A rank acquires the lock of its innermost element. Unless its predecessor there handed over all locks, the
/// rank then acquires the lock one level up, in the element's name, and so on. A releasing rank looks from
/// the inside out for a lock with a waiting rank and passes left, and hands over this lock and all above. The
/// rank then releases the locks below that one, the outermost first: an element's place in a lock must be
/// free before another rank of the element can use it.
///
/// Two rules are nearfar's. A hand-over counts towards the limit of its own level and of each level around
/// it: with limits 3 and 3, a node keeps the lock for 3 passes, not for 9. A lock stays in an element beyond
/// its limit while no rank outside the element wants it.
///
/// Fairness: while a rank of another node is registered as waiting, at most `max_local_passes` ranks of the
/// holder's node overtake it. While a rank of another element is registered in the lock around both elements,
/// at most as many ranks of the holder's element overtake it as the level's limit says. Within an innermost
/// element the order is that of its lock. Progress: an acquiring rank waits for its predecessors only, if all
/// locks have that property.
///
/// Cost in far operations: those of the lock above the nodes; none where a node has it. Cache-line transfers:
/// uncontended those of each near lock, and one for each level whose lock another rank of the element
/// acquired last; passed on those of the lock that hands over. Memory: that of all locks, and 64
/// bytes of near memory for each rank and near lock.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/cohort_lock.hpp"
#include "nearfar/lock/level_waits.hpp"
#include "nearfar/lock/local_passes.hpp"
#include "nearfar/lock/lock_tree.hpp"
#include "nearfar/lock/lockable.hpp"
#include "nearfar/lock/near_lockable.hpp"
#include "nearfar/topology/locality.hpp"

namespace nearfar {

/// A near lock that elements of a level can take: see `near_seat`.
template <typename L>
concept clof_local =
    cohort_local<L> && requires(typename L::world_type& w, const near_seat& seat) { L(w, seat); };

namespace detail {

/// The levels of the near locks of a composition, outermost first: that of the nodes, and those of `inside`.
/// Throws `misuse` for more levels than locks, and what `lock_tree` and `checked_inside_nodes` throw.
[[nodiscard]] std::vector<tree_level> levels_of_composition(const locality& where, std::size_t locks,
                                                            int max_local_passes, const lock_tree& inside);
/// The same with the outermost levels that the topology distinguishes inside nodes.
[[nodiscard]] std::vector<tree_level> levels_of_composition(const locality& where, std::size_t locks,
                                                            int max_local_passes);

/// A rank's place in the lock of that level, which is the `depth`-th of `levels`. Without such a level
/// the rank has a place of its own.
[[nodiscard]] near_seat seat_in(const locality& where, int rank, const std::vector<tree_level>& levels,
                                std::size_t depth);

/// The outermost level of a `clof_lock`: nodes.
template <cohort_global Nodes>
class clof_top {
 public:
  using world_type = typename Nodes::world_type;
  static constexpr std::size_t near_locks = 0;

  clof_top(world_type& w, int home, const std::vector<tree_level>& /*levels*/) : nodes_(w, home) {}

  handover acquire(level_waits& waits) {
    const handover how = nodes_.acquire();
    waits.asked_above = true;
    waits.waited_above = how != handover::uncontended;
    return how;
  }
  [[nodiscard]] bool try_acquire()
    requires requires(Nodes& nodes) {
      { nodes.try_acquire() } -> std::same_as<bool>;
    }
  {
    return nodes_.try_acquire();
  }
  void release(int /*passes*/) { nodes_.release(); }
  [[nodiscard]] static constexpr bool allows_after(int /*passes*/) noexcept { return true; }
  [[nodiscard]] bool is_wanted() {
    if constexpr (requires { nodes_.is_wanted(); })
      return nodes_.is_wanted();
    else
      return true;
  }

 private:
  Nodes nodes_;
};

/// A near lock between elements, or ranks, with all levels above it. The ranks of an element use it one at a
/// time, in the element's name; the lock below ensures that.
template <typename Above, clof_local Local>
class clof_level {
  using status = typename Local::status;

 public:
  using world_type = typename Local::world_type;
  static constexpr std::size_t near_locks = Above::near_locks + 1;

  /// Without a level for this lock in `levels`, the lock is left out.
  clof_level(world_type& w, int home, const std::vector<tree_level>& levels)
      : clof_level(w, home, levels, seat_in(w.locality(), w.rank(), levels, Above::near_locks)) {}

  handover acquire(level_waits& waits) {
    if (!is_there_) return above_.acquire(waits);
    const typename Local::grant grant = local_.acquire_local();
    // (1) Relaxed, like (2): the hand-over of the lock below orders all accesses by ranks of the element.
    passes_->store(grant.passes, std::memory_order_relaxed);
    waits.waited_within = waits.waited_within || grant.waited;
    if (grant.passes != Local::from_above) return handover::local;
    const handover above = above_.acquire(waits);
    return above == handover::uncontended && grant.waited ? handover::waited : above;
  }

  [[nodiscard]] bool try_acquire()
    requires requires(Above& above, Local& local) {
      { above.try_acquire() } -> std::same_as<bool>;
      { local.try_acquire_local() } -> std::same_as<bool>;
    }
  {
    if (!is_there_) return above_.try_acquire();
    if (!local_.try_acquire_local()) return false;
    passes_->store(Local::from_above, std::memory_order_relaxed);  // as (1)
    if (above_.try_acquire()) return true;
    // Another participant may have queued up meanwhile; it has to acquire the locks above itself.
    local_.release_local(Local::from_above);
    return false;
  }

  /// `passes_below`: how often the lock was passed on within this participant since it got this lock.
  void release(int passes_below) {
    if (!is_there_) return above_.release(passes_below);
    const int passes = passes_after(passes_below);
    if (!local_.alone() && may_stay(passes))
      return local_.release_local(static_cast<status>(std::min(passes + 1, max_passes_)));
    // The element's place above must be free before another rank of the element can use it.
    above_.release(passes);
    local_.release_local(Local::from_above);
  }

  /// Whether this level and those above allow that the lock stays in this participant for another pass, after
  /// `passes_below` of them.
  [[nodiscard]] bool allows_after(int passes_below) {
    return is_there_ ? may_stay(passes_after(passes_below)) : above_.allows_after(passes_below);
  }
  /// Whether another participant waits for this lock or one above. Called by the holder.
  [[nodiscard]] bool is_wanted() { return (is_there_ && !local_.alone()) || above_.is_wanted(); }

 private:
  struct alignas(cache_line) words {
    /// How often the lock was passed on in this level's element until this participant got it; the
    /// participant's holder alone uses it.
    typename world_type::template near<std::uint64_t> passes{};
  };

  clof_level(world_type& w, int home, const std::vector<tree_level>& levels, const near_seat& seat)
      : is_there_(Above::near_locks < levels.size()),
        max_passes_(is_there_ ? levels[Above::near_locks].max_passes : 0),
        above_(w, home, levels),
        local_(w, seat),
        words_(w),
        passes_(&words_.at(seat.participant).passes) {}

  [[nodiscard]] int passes_after(int passes_below) const {
    return static_cast<int>(passes_->load(std::memory_order_relaxed)) + passes_below;  // (2)
  }
  [[nodiscard]] bool may_stay(int passes) {
    return (passes < max_passes_ || !above_.is_wanted()) && above_.allows_after(passes);
  }

  bool is_there_;
  int max_passes_;
  Above above_;
  Local local_;
  typename world_type::template near_segment<words> words_;
  typename world_type::template near<std::uint64_t>* passes_;
};

/// A composition of these locks, outermost first, below `Above`.
template <typename Above, clof_local... Below>
struct clof_below {
  using type = Above;
};
template <typename Above, clof_local First, clof_local... Others>
struct clof_below<Above, First, Others...> : clof_below<clof_level<Above, First>, Others...> {};

}  // namespace detail

/// Exclusive lock for all ranks of a world. `Nodes` is the lock of the nodes. Of `Within`, the first is the
/// lock within a node, the second the lock within an element of the first level inside nodes, and so on. See
/// the file's comment.
template <cohort_global Nodes, clof_local... Within>
  requires(sizeof...(Within) > 0)
class clof_lock : public lockable<clof_lock<Nodes, Within...>, typename Nodes::world_type> {
  using levels = typename detail::clof_below<detail::clof_top<Nodes>, Within...>::type;

 public:
  using world_type = typename Nodes::world_type;

  /// Collective. `home` is that of the nodes' lock. The levels inside nodes are the outermost that the
  /// topology distinguishes, each with the limit `max_local_passes`; locks for further levels are left out.
  /// Throws `misuse` unless `max_local_passes` is 1 to 254.
  explicit clof_lock(world_type& w, int home = 0, int max_local_passes = default_max_local_passes)
      : clof_lock(w, home, max_local_passes, lock_tree(std::vector<tree_level>{}).arguments(), [&] {
          return detail::levels_of_composition(w.locality(), sizeof...(Within), max_local_passes);
        }) {}
  /// The same with levels inside nodes of the caller's choice, from none up to one for each lock but the
  /// first of `Within`. Each has a limit of passes within one of its elements. Throws `misuse` if a level is
  /// not inside a node, if its limit is not 1 to 254, or if no lock is left for it. Throws `topology_error`
  /// if the ranks that share an element of a level are not known.
  clof_lock(world_type& w, int home, int max_local_passes, const lock_tree& inside)
      : clof_lock(w, home, max_local_passes, inside.arguments(), [&] {
          return detail::levels_of_composition(w.locality(), sizeof...(Within), max_local_passes, inside);
        }) {}
  ~clof_lock() noexcept(!checked_build) { this->expect_not_held(); }

  // The algorithm without the checks.

  handover acquire() {
    waits_ = {};
    return levels_.acquire(waits_);
  }
  /// Available if all locks have an attempt.
  [[nodiscard]] bool try_acquire()
    requires requires(levels& all) {
      { all.try_acquire() } -> std::same_as<bool>;
    }
  {
    return levels_.try_acquire();
  }
  void release() { levels_.release(0); }

  /// The waits of this rank's last `acquire`.
  [[nodiscard]] level_waits last_waits() const noexcept { return waits_; }

 private:
  /// Makes the ranks compare their arguments before any rank's arguments are refused.
  template <typename Shape>
  clof_lock(world_type& w, int home, int max_local_passes, const lock_tree::named_levels& inside, Shape shape)
      : clof_lock::lockable(w, {{"home", home},
                                {"max_local_passes", max_local_passes},
                                inside[0],
                                inside[1],
                                inside[2],
                                inside[3],
                                inside[4]}),
        levels_(w, home, shape()) {}

  level_waits waits_{};
  levels levels_;
};

}  // namespace nearfar
