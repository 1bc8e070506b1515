/// \file
/// Hemlock in near memory, for the ranks of one node: alone, or as the local lock of a cohort.
///
/// Source: D. Dice, A. Kogan, "Hemlock: compact and scalable mutual exclusion", SPAA 2021, doi
/// 10.1145/3409964.3461805, with its variants Overlap (as corrected in version 4, arXiv:2102.03863),
/// Coherence Traffic Reduction (CTR) and Aggressive Hand-over (AH). Its use as a local lock is from A.
/// Uffmann's master thesis, LMU Munich, 2022, section 5.4.4.
///
/// A rank waits at its predecessor's word. The predecessor writes there which lock it hands over, and the
/// waiting rank then clears the word. A held lock leaves nothing in the word, so a rank has one word for all
/// its locks (`hemlock_words`). The word also carries the pass count; for that the thesis gave up sharing the
/// words between locks. `pass_place::beside` keeps the count in a word of the lock, as the thesis did before.
///
/// A releasing rank waits until its word is clear, because its next successor, in this lock or another, would
/// otherwise take the old hand-over for its own. With `hemlock_release::overlapped` it waits only before it
/// uses the word again: before it writes, and before it enters the queue of the same lock.
///
/// Fairness: first come, first served (bound 0). With `overlapped`, a rank that acquires again while its
/// successor has yet to take the lock waits for the successor before it is in the queue, and other ranks may
/// come before it (found by the model checker). Progress: an acquiring rank waits for its predecessors, and a
/// releasing rank until its successor, which is awake, has taken the lock.
///
/// Cost: no far operations. Cache-line transfers: uncontended the end of the queue; contended that, and the
/// predecessor's word 3 times, or 2 with `reads_to_write`. Memory: a word for each lock, and one for each
/// rank; 128 bytes of near memory for each rank where a lock has its own words, else 64.
#pragma once

#include <cstdint>
#include <optional>

#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/near_lockable.hpp"

namespace nearfar {

/// When a hemlock's holder writes its word, and when it waits until the word is clear.
enum class hemlock_release : std::uint8_t {
  in_turn,     ///< writes it when another rank is behind it, then waits
  overlapped,  ///< the same, but waits only before it needs the word again
  aggressive,  ///< writes it before it looks whether another rank is behind it, then waits if so
};

/// Where a near lock keeps the pass count that it hands over.
enum class pass_place : std::uint8_t { inlined, beside };

/// The parameters of a `hemlock`; the default is the paper's recommendation.
struct hemlock_policy {
  hemlock_release releases = hemlock_release::aggressive;
  /// Whether a waiting rank polls the word with operations that fetch its line for writing (CTR).
  bool reads_to_write = true;
  pass_place passes = pass_place::inlined;
};

/// Each rank's word, for any number of hemlocks of the same ranks. Must outlive those locks.
template <near_world W>
class hemlock_words {
 public:
  /// Collective.
  explicit hemlock_words(W& w) : words_(w) {}
  hemlock_words(const hemlock_words&) = delete;
  hemlock_words& operator=(const hemlock_words&) = delete;

  struct alignas(cache_line) word {
    typename W::template near<std::uint64_t> grant{};
  };
  [[nodiscard]] auto& of(int rank) { return words_.at(rank).grant; }
  /// The same name on all ranks, because they make their locks in the same order.
  [[nodiscard]] std::uint64_t name_next_lock() noexcept { return ++locks_; }

 private:
  typename W::template near_segment<word> words_;
  std::uint64_t locks_ = 0;
};

/// Exclusive lock for the ranks of one node. See the file's comment.
template <near_world W, hemlock_policy Policy = hemlock_policy{}>
class hemlock : public near_lockable<hemlock<W, Policy>, W> {
  using base = near_lockable<hemlock<W, Policy>, W>;
  using cell = typename base::rank_cell;

 public:
  using status = typename base::status;
  using grant = typename base::grant;

  /// Collective. `home` keeps the end of the queue; with `near_scope::node` each node's leader does. Throws
  /// `topology_error` if the ranks of one lock are not on one node.
  explicit hemlock(W& w, int home = 0, near_scope scope = near_scope::world)
      : hemlock(w, nullptr, home, scope) {}
  /// The same with words shared with other locks.
  hemlock(W& w, hemlock_words<W>& shared, int home = 0, near_scope scope = near_scope::world)
      : hemlock(w, &shared, home, scope) {}
  /// Collective. A lock between the elements of a level, with words of its own.
  hemlock(W& w, const near_seat& seat)
      : base(w, {}),
        world_(&w),
        locks_(w),
        lock_(&locks_.at(seat.owner)),
        rank_(seat.participant),
        self_(base::to_cell(seat.participant)) {
    use_words(w, nullptr);
  }
  ~hemlock() noexcept(!checked_build) { this->expect_not_held(); }

  grant acquire_local() {
    if constexpr (Policy.releases == hemlock_release::overlapped)
      // If this rank's last successor has not taken this lock yet, the next one must not take that hand-over.
      world_->await(words_->of(rank_), [this](std::uint64_t now) { return !is_for_us(now); });
    const cell predecessor = lock_->tail.exchange(self_, std::memory_order_acq_rel);  // (1)
    if (predecessor == none) return {};
    auto& word = words_->of(to_rank(predecessor));
    const std::uint64_t given =
        await(word, [this](std::uint64_t now) { return is_for_us(now); });  // with (3)
    const status passes = passes_in(given);
    word.store(nothing, std::memory_order_relaxed);  // (4)
    return {passes, true};
  }

  [[nodiscard]] bool try_acquire_local() {
    cell expected = none;
    return lock_->tail.compare_exchange(expected, self_, std::memory_order_acq_rel,
                                        std::memory_order_relaxed);  // as (1)
  }

  [[nodiscard]] bool alone() const { return lock_->tail.load(std::memory_order_relaxed) == self_; }

  void release_local(status passes) {
    auto& mine = words_->of(rank_);
    if constexpr (Policy.releases == hemlock_release::aggressive) {
      hand_over(mine, passes);
      if (leaves_last()) {
        mine.store(nothing, std::memory_order_relaxed);
        return;
      }
    } else {
      if (leaves_last()) return;
      if constexpr (Policy.releases == hemlock_release::overlapped) await_clear(mine);  // of another lock's
      hand_over(mine, passes);
    }
    if constexpr (Policy.releases != hemlock_release::overlapped) await_clear(mine);
  }

 private:
  static constexpr cell none = base::no_rank;
  static constexpr std::uint64_t nothing = 0;
  static constexpr unsigned status_bits = 8;

  struct alignas(cache_line) words {
    typename W::template near<cell> tail{};
    typename W::template near<status> passed{};  ///< unless the word that hands over carries it
  };

  hemlock(W& w, hemlock_words<W>* shared, int home, near_scope scope)
      : base(w, {{"home", home}, {"scope", static_cast<std::int64_t>(scope)}, {"shared", shared != nullptr}}),
        world_(&w),
        locks_(w),
        lock_(&locks_.at(detail::home_of_near(w, home, scope))),
        rank_(w.rank()),
        self_(base::to_cell(w.rank())) {
    use_words(w, shared);
  }

  /// Null: the lock makes its own words.
  void use_words(W& w, hemlock_words<W>* shared) {
    if (shared == nullptr) own_words_.emplace(w);
    words_ = shared == nullptr ? &*own_words_ : shared;
    name_ = words_->name_next_lock();
  }

  [[nodiscard]] bool is_for_us(std::uint64_t word) const noexcept { return word >> status_bits == name_; }

  [[nodiscard]] status passes_in(std::uint64_t given) const {
    if constexpr (Policy.passes == pass_place::inlined)
      return static_cast<status>(given);
    else
      return lock_->passed.load(std::memory_order_relaxed);
  }

  void hand_over(auto& mine, status passes) {
    std::uint64_t given = name_ << status_bits;
    if constexpr (Policy.passes == pass_place::inlined)
      given |= passes;
    else
      lock_->passed.store(passes, std::memory_order_relaxed);
    mine.store(given, std::memory_order_release);  // (3)
  }

  /// Leaves the queue if no rank is behind this one. Returns whether it has left.
  [[nodiscard]] bool leaves_last() {
    cell expected = self_;
    return lock_->tail.compare_exchange(expected, none, std::memory_order_release,
                                        std::memory_order_relaxed);  // pairs with (1)
  }

  /// Waits for (4).
  void await_clear(auto& mine) {
    await(mine, [](std::uint64_t now) { return now == nothing; });
  }

  std::uint64_t await(auto& word, auto predicate) {
    if constexpr (Policy.reads_to_write)
      return world_->await_for_writing(word, predicate);
    else
      return world_->await(word, predicate);
  }

  W* world_;
  typename W::template near_segment<words> locks_;
  words* lock_;
  std::optional<hemlock_words<W>> own_words_;
  hemlock_words<W>* words_ = nullptr;
  int rank_;  ///< whose word this rank's successors wait at
  cell self_;
  std::uint64_t name_ = 0;
};

}  // namespace nearfar
