/// \file
/// RH over RMA, for any number of nodes: a test-and-test-and-set word in each node. In a node that does not
/// have the lock the word says which node to ask for it.
///
/// Source: Z. Radović, E. Hagersten, "Efficient synchronization for nonuniform communication architectures",
/// SC 2002, doi 10.1109/SC.2002.10038, for two nodes; for any number, and over RMA, A. Uffmann's master
/// thesis, LMU Munich, 2022, section 5.2.1. Attempts that do not wait are nearfar's.
///
/// A rank swaps its name into its node's word. The replaced value says one of three things:
///  - the lock was free;
///  - a name: that rank has the lock or was the last to ask, so a rank of this node holds the lock or
///    waits for it already;
///  - negative: the node where the lock was when it left this one.
/// In the last case the rank goes there, as the only one of its node, and on from node to node, until it has
/// replaced a free lock's word by the way to its own node. The words of nodes that neither have the lock nor
/// ask for it, and the ranks that ask, thus form a tree towards the node that has it.
///
/// A releasing rank sees from its node's word whether another rank of the node has asked since. If so, it
/// frees the lock for that node only, except for one release in `fairness_factor`, at random, which frees it
/// for all nodes; with the default 1 every release does.
///
/// A write that has been seen need not be complete: the words are written by accumulates only, and are never
/// reset. They are swapped, compared-and-swapped and replaced (`promises::mixed_accumulates`).
///
/// Fairness: none. Progress: some rank always acquires.
///
/// Cost in far operations, each completed by a flush:
///  - lock: 1 swap in the node for each attempt, which a rank makes when it has seen in place that the word
///    has changed. If another node had the lock, 1 compare-and-swap there for each attempt, after 1 at each
///    of the nodes on the way, in the worst case all;
///  - unlock: 1 atomic in the node, 2 to free the lock for the node only.
/// Memory: 64 bytes of far memory for each rank.
#pragma once

#include <chrono>
#include <cstdint>

#include "nearfar/core/backoff.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/lockable.hpp"

namespace nearfar {

namespace detail {

/// Returns `factor`. Throws `misuse` unless it is positive.
[[nodiscard]] int checked_fairness_factor(int factor);

}  // namespace detail

/// The parameters of an `rh_lock`.
struct rh_parameters {
  /// One release in `fairness_factor`, at random, frees the lock for all nodes although a rank of this node
  /// waits.
  int fairness_factor = 1;
  /// The pause between polls of the node's word.
  backoff local_pause{.shortest = std::chrono::nanoseconds(1024), .longest = std::chrono::nanoseconds(16384)};
  /// The pause between attempts at another node's word. The far operations space them enough, as the thesis
  /// found.
  backoff remote_pause{.shortest = std::chrono::nanoseconds(0), .longest = std::chrono::nanoseconds(0)};
};

/// Exclusive lock for all ranks of a world. See the file's comment.
template <world W>
class rh_lock : public lockable<rh_lock<W>, W> {
 public:
  using world_type = W;

  /// Collective. The node of `home` has the lock at first. Throws `misuse` if the fairness factor is not
  /// positive.
  explicit rh_lock(W& w, int home = 0, rh_parameters chosen = {})
      : rh_lock::lockable(w, {{"home", home},
                              {"fairness_factor", chosen.fairness_factor},
                              {"local_pause.shortest", chosen.local_pause.shortest.count()},
                              {"local_pause.longest", chosen.local_pause.longest.count()},
                              {"remote_pause.shortest", chosen.remote_pause.shortest.count()},
                              {"remote_pause.longest", chosen.remote_pause.longest.count()}}),
        world_(&w),
        words_(w),
        chosen_(chosen),
        most_unfair_(static_cast<std::uint64_t>(detail::checked_fairness_factor(chosen.fairness_factor))),
        node_(w.locality().leader(level::node, w.rank())),
        me_(first_name + static_cast<std::uint64_t>(w.rank())),
        way_here_(way_to(node_)),
        random_(me_) {
    const int first = w.locality().leader(level::node, checked_rank(w, home));
    if (w.rank() == node_) words_.write_direct(node_, &word::state, node_ == first ? is_free : way_to(first));
    w.barrier();
  }
  ~rh_lock() noexcept(!checked_build) { this->expect_not_held(); }

  // The algorithm without the checks.

  handover acquire() {
    swap_in_name();
    bool waited = false;
    for (auto span = chosen_.local_pause.shortest; is_taken(seen_); span = chosen_.local_pause.after(span)) {
      waited = true;
      world_->delay(span);
      world_->await_direct(words_, node_, &word::state, [](std::uint64_t now) { return !is_taken(now); });
      swap_in_name();
    }
    if (is_way(seen_))
      return fetch_from(owner_in(seen_)) || waited ? handover::waited : handover::uncontended;
    return waited ? handover::local : handover::uncontended;
  }

  [[nodiscard]] bool try_acquire() {
    // Not by a swap: the holder would free the lock for this rank, which no longer waits.
    before_ = words_.read_direct(node_, &word::state);
    if (is_taken(before_) || compare_and_swap(node_, before_, me_) != before_) return false;
    if (!is_way(before_)) return true;
    int at = owner_in(before_);
    while (compare_and_swap(at, is_free, way_here_) != is_free) {
      if (!is_way(seen_)) {
        give_back(way_to(at));
        return false;
      }
      at = owner_in(seen_);
    }
    return true;
  }

  void release() {
    if (is_for_all()) return give_back(is_free);
    if (compare_and_swap(node_, me_, is_free) != me_) give_back(is_free_for_node);
  }

 private:
  struct alignas(slot_bytes) word {
    far<std::uint64_t> state;
  };
  // The values of a word, besides the name of the rank that has the lock or asks for it. Origins of far
  // operations, so they must be objects.
  static constexpr std::uint64_t is_free = 0;
  static constexpr std::uint64_t is_free_for_node = 1;
  static constexpr std::uint64_t first_name = 2;

  /// The way to a node's word, as a negative number.
  [[nodiscard]] static constexpr std::uint64_t way_to(int owner) noexcept {
    return ~static_cast<std::uint64_t>(owner);
  }
  [[nodiscard]] static constexpr bool is_way(std::uint64_t state) noexcept {
    return static_cast<std::int64_t>(state) < 0;
  }
  [[nodiscard]] static constexpr int owner_in(std::uint64_t way) noexcept { return static_cast<int>(~way); }
  [[nodiscard]] static constexpr bool is_taken(std::uint64_t state) noexcept {
    return state >= first_name && !is_way(state);
  }

  void swap_in_name() {
    words_.swap(node_, &word::state, me_, seen_);
    words_.flush(node_);
  }
  std::uint64_t compare_and_swap(int at, const std::uint64_t& expected, const std::uint64_t& desired) {
    words_.compare_and_swap(at, &word::state, expected, desired, seen_);
    words_.flush(at);
    return seen_;
  }
  void give_back(const std::uint64_t& state) {
    given_back_ = state;
    words_.accumulate(node_, &word::state, given_back_, far_op::replace);
    words_.flush(node_);
  }

  /// Asks from node `at` on until this node has the lock. Returns whether the lock was held where it was
  /// found.
  bool fetch_from(int at) {
    bool waited = false;
    compare_and_swap(at, is_free, way_here_);
    while (seen_ != is_free) {
      if (is_way(seen_)) {
        at = owner_in(seen_);
        compare_and_swap(at, is_free, way_here_);
        continue;
      }
      waited = true;
      seen_ = world_->await_compare_and_swap(
          words_, at, &word::state, is_free, way_here_,
          [](std::uint64_t old) { return old == is_free || is_way(old); }, chosen_.remote_pause);
    }
    return waited;
  }

  /// Whether this release frees the lock for all nodes: one in `fairness_factor`, at random.
  [[nodiscard]] bool is_for_all() noexcept {
    if (most_unfair_ == 1) return true;
    // A linear congruential generator (D. Knuth, MMIX), of which the upper bits are good.
    random_ = random_ * 6364136223846793005U + 1442695040888963407U;
    return (random_ >> 33U) % most_unfair_ == 0;
  }

  W* world_;
  typename W::template far_segment<word> words_;
  rh_parameters chosen_;
  std::uint64_t most_unfair_;
  int node_;
  std::uint64_t me_;
  std::uint64_t way_here_;
  std::uint64_t random_;
  std::uint64_t seen_ = is_free;
  std::uint64_t before_ = is_free;
  std::uint64_t given_back_ = is_free;
};

}  // namespace nearfar
