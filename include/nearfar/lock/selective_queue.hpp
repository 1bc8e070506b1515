/// \file
/// An MCS queue in near memory whose holder prefers some of the waiting ranks and sets the others aside for a
/// while. It implements `cna_lock` and `parking_lock`, which differ in the ranks they prefer.
///
/// Source: the two queues of D. Dice, A. Kogan, "Compact NUMA-aware locks", EuroSys 2019, doi
/// 10.1145/3302424.3303984. There a random draw decides when the ranks set aside have their turn; here a
/// count does, so that there is a bound.
///
/// A releasing rank looks in the queue for a rank that it prefers, and moves the ranks before that one to the
/// end of a second queue. It hands the ends of the second queue over with the lock. When the lock has been
/// handed over to preferred ranks `max_local_passes` times in a row, or no preferred rank is found, the
/// second queue comes before the first.
#pragma once

#include <concepts>
#include <cstdint>

#include "nearfar/core/agreement.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/local_passes.hpp"
#include "nearfar/lock/near_lockable.hpp"

namespace nearfar {

namespace detail {

/// Which ranks a holder prefers, and how a rank waits. `parameter` is the lock's last constructor parameter;
/// `per_rank` is what the preference keeps for each rank in near memory. If it `recalls`, the holder tells
/// the ranks set aside that their turn is about to come.
template <typename C, typename W>
concept preference_of =
    near_world<W> && std::constructible_from<C, W&, typename C::parameter> &&
    requires(C& choice, W& w, int rank, std::uint64_t word, typename W::template near<std::uint64_t>& given,
             typename C::per_rank& of_rank, typename C::parameter parameter) {
      { C::standard } -> std::convertible_to<typename C::parameter>;
      { C::recalls } -> std::convertible_to<bool>;
      { C::named(parameter) } -> std::same_as<named_value>;
      { choice.prefers(rank, given) } -> std::same_as<bool>;
      { choice.await(given, of_rank) } -> std::same_as<std::uint64_t>;
      choice.give(given, of_rank, word);
      choice.recall(given, of_rank);
    };
/// The value of a rank's `given` before it has been given the lock. A preference may let the rank replace it
/// by another number below `first_given`, and change it back.
inline constexpr std::uint64_t not_given = 0;
inline constexpr std::uint64_t first_given = std::uint64_t{1} << 16U;

}  // namespace detail

/// Exclusive lock for the ranks of one node. See the file's comment.
template <near_world W, detail::preference_of<W> Preference>
class selective_queue : public near_lockable<selective_queue<W, Preference>, W> {
  using base = near_lockable<selective_queue<W, Preference>, W>;
  using cell = typename base::rank_cell;

 public:
  using status = typename base::status;
  using grant = typename base::grant;

  /// Collective. `home` keeps the end of the queue; with `near_scope::node` each node's leader does. Throws
  /// `topology_error` if the ranks of one lock are not on one node. Throws `misuse` unless `max_local_passes`
  /// is 1 to 254 and the preference accepts its parameter.
  explicit selective_queue(W& w, int home = 0, near_scope scope = near_scope::world,
                           int max_local_passes = default_max_local_passes,
                           typename Preference::parameter parameter = Preference::standard)
      : base(w, {{"home", home},
                 {"scope", static_cast<std::int64_t>(scope)},
                 {"max_local_passes", max_local_passes},
                 Preference::named(parameter)}),
        world_(&w),
        preference_(w, parameter),
        nodes_(w),
        self_(base::to_cell(w.rank())),
        mine_(&nodes_.at(w.rank())),
        tail_(&nodes_.at(detail::home_of_near(w, home, scope)).tail),
        max_passes_(static_cast<status>(checked_local_passes(max_local_passes))) {}
  ~selective_queue() noexcept(!checked_build) { this->expect_not_held(); }

  grant acquire_local() {
    mine_->next.store(none, std::memory_order_relaxed);
    // (1) Acquires from (4) of the last holder if the queue was empty; releases the reset of `next`.
    const cell predecessor = tail_->exchange(self_, std::memory_order_acq_rel);
    held_ = {};
    if (predecessor == none) return {};
    mine_->given.store(detail::not_given, std::memory_order_relaxed);
    // (2) Releases the two resets above to the holder's (3).
    node_of(predecessor).next.store(self_, std::memory_order_release);
    // Pairs with (5).
    held_ = turn::of(preference_.await(mine_->given, mine_->own));
    return {held_.passes, true};
  }

  [[nodiscard]] bool try_acquire_local() {
    mine_->next.store(none, std::memory_order_relaxed);
    cell expected = none;
    if (!tail_->compare_exchange(expected, self_, std::memory_order_acq_rel, std::memory_order_relaxed))
      return false;
    held_ = {};
    return true;
  }

  [[nodiscard]] bool alone() const {
    return held_.aside == none && mine_->next.load(std::memory_order_relaxed) == none &&
           tail_->load(std::memory_order_relaxed) == self_;
  }

  void release_local(status passes) {
    cell next = mine_->next.load(std::memory_order_acquire);  // (3) pairs with (2)
    if (next == none) {
      if (leaves_last(passes)) return;
      next = world_->await(mine_->next, [](cell behind) { return behind != none; });  // as (3)
    }
    if (held_.in_a_row < max_passes_)
      if (const cell preferred = find_preferred(next); preferred != none)
        return hand_over(
            preferred,
            {.passes = passes, .in_a_row = static_cast<status>(held_.in_a_row + 1), .aside = held_.aside});
    if (held_.aside == none) return hand_over(next, {.passes = passes});
    // The ranks set aside have their turn, and the rest of the queue comes behind them.
    const cell last = last_aside();
    recall_aside(last);
    node_of(last).next.store(next, std::memory_order_relaxed);
    hand_over(held_.aside, {.passes = passes});
  }

 private:
  static constexpr cell none = base::no_rank;

  /// The state that a holder hands over, in one word.
  struct turn {
    status passes = base::from_above;
    status in_a_row = 0;  ///< hand-overs to preferred ranks
    cell aside = none;    ///< the first of the ranks set aside

    [[nodiscard]] static constexpr turn of(std::uint64_t word) noexcept {
      return {.passes = static_cast<status>(word),
              .in_a_row = static_cast<status>(word >> 8U),
              .aside = static_cast<cell>(word >> 32U)};
    }
    [[nodiscard]] constexpr std::uint64_t word() const noexcept {
      return std::uint64_t{aside} << 32U | detail::first_given | std::uint64_t{in_a_row} << 8U | passes;
    }
  };

  struct alignas(cache_line) node {
    typename W::template near<std::uint64_t> given{};
    typename W::template near<cell> next{};
    typename W::template near<cell> last_aside{};  ///< last of the ranks set aside, if this is the first of
                                                   ///< them
    [[no_unique_address]] typename Preference::per_rank own{};
    alignas(cache_line) typename W::template near<cell> tail{};
  };

  [[nodiscard]] node& node_of(cell name) { return nodes_.at(to_rank(name)); }
  [[nodiscard]] cell last_aside() { return node_of(held_.aside).last_aside.load(std::memory_order_relaxed); }

  void hand_over(cell to, turn what) {
    // (5) Releases the critical section, and the links of both queues.
    preference_.give(node_of(to).given, node_of(to).own, what.word());
  }

  /// Leaves the queue if no rank is behind this one; the ranks set aside are the queue then. Returns whether
  /// it has left.
  [[nodiscard]] bool leaves_last(status passes) {
    const cell aside = held_.aside;
    const cell last = aside == none ? none : last_aside();
    cell expected = self_;
    // (4) Releases the critical section to (1) of the next rank, and to ranks that come behind the ones set
    // aside.
    if (!tail_->compare_exchange(expected, last, std::memory_order_release, std::memory_order_relaxed))
      return false;
    if (aside == none) return true;
    recall_aside(last);
    hand_over(aside, {.passes = passes});
    return true;
  }

  /// Recalls the ranks set aside except the first, which is given the lock now. `last` is the last of them.
  void recall_aside(cell last) {
    if constexpr (Preference::recalls)
      for (cell at = held_.aside; at != last;) {
        at = node_of(at).next.load(std::memory_order_relaxed);
        preference_.recall(node_of(at).given, node_of(at).own);
      }
  }

  /// The first preferred rank from `next` on; sets the ranks before it aside. Returns `none` if there is
  /// none, except perhaps ranks that have yet to register. Only the holder moves queue nodes, and never the
  /// last one.
  [[nodiscard]] cell find_preferred(cell next) {
    cell last = none;
    cell at = next;
    while (at != none && !preference_.prefers(to_rank(at), node_of(at).given)) {
      last = at;
      at = node_of(at).next.load(std::memory_order_acquire);  // as (3)
    }
    if (at == none || last == none) return at;
    node_of(last).next.store(none, std::memory_order_relaxed);
    if (held_.aside == none)
      held_.aside = next;
    else
      node_of(last_aside()).next.store(next, std::memory_order_relaxed);
    node_of(held_.aside).last_aside.store(last, std::memory_order_relaxed);
    return at;
  }

  W* world_;
  [[no_unique_address]] Preference preference_;
  typename W::template near_segment<node> nodes_;
  cell self_;
  node* mine_;
  typename W::template near<cell>* tail_;
  status max_passes_;
  turn held_{};
};

}  // namespace nearfar
