/// \file
/// SHFL over RMA: a test-and-set lock in front of an MCS queue, in which the waiting ranks are grouped by
/// node.
///
/// Source: S. Kashyap, I. Calciu, X. Cheng, C. Min, T. Kim, "Scalable and practical locking with shuffling",
/// SOSP 2019, doi 10.1145/3341301.3359629. The form over RMA, with either lock in front and with or without
/// shuffling, is that of A. Uffmann's master thesis, LMU Munich, 2022, section 5.7.
///
/// A rank that finds the word at home free takes the lock at once. Otherwise it joins the queue. A rank that
/// finds the queue empty marks the word as closed to ranks that are not in the queue. The first of the queue
/// waits until the lock is free, takes it, and leaves the queue. Unlocking takes the lock from the word and
/// leaves the mark. The last rank of the queue takes the mark away when it leaves. The thesis keeps lock and
/// mark in two bytes of the word. Here the word is their sum: a new queue may set its mark before the last
/// rank of the queue before it has taken the old one away.
///
/// The first of the queue, unless another rank has moved it there, goes along the queue and moves the ranks
/// of its node to the front, one behind the other. It leaves out the last of the queue, behind which other
/// ranks may be on their way. The last rank that it moved goes on from there when it sees its role, until a
/// batch has `max_local_passes` ranks. So at most one rank shuffles at a time. A rank shuffles once, and once
/// more as the first of the queue if it found no rank to move. As published it goes on for as long as it
/// waits, and looks at the limit only when it begins to sort. All ranks know which ranks share a node.
///
/// A write that has been seen need not be complete: a shuffler writes into words that ranks have just written
/// on joining the queue. As published, by plain writes, a rank's name may come back after the queue was put
/// in order, and ranks are lost. So the words of queue nodes are written by accumulates that replace, also by
/// their owners, and the grant is a sum (far_handover.hpp).
///
/// Fairness: none, since a rank that arrives while the lock is free and the word is not closed takes it.
/// While the word is closed, only the queue has the lock. Within the queue each rank that is before a waiting
/// rank may bring `max_local_passes` ranks of its node before it. Progress: some rank always acquires.
///
/// Cost in far operations, each completed by a flush:
///  - uncontended: lock 1 compare-and-swap at home, with a look first 1 fetch more; unlock 1 atomic at home;
///  - through the queue, in addition: 1 swap at home, and 1 atomic at the predecessor, or at home without
///    one; for each attempt of the first 1 compare-and-swap at home, with a look first 1 fetch more;
///  - out of the queue, in addition: 1 atomic at the successor; without one 1 compare-and-swap and 1 atomic
///    at home. Up to 2 resets of the rank's own words are extra;
///  - shuffling: 1 fetch for each rank looked at on another node, none on this one, and up to 4 atomics for
///    each rank moved.
/// Memory: 192 bytes of far memory for each rank.
#pragma once

#include <cstdint>

#include "nearfar/core/backoff.hpp"
#include "nearfar/core/condition.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/local_passes.hpp"
#include "nearfar/lock/lockable.hpp"
#include "nearfar/memory/nearest_access.hpp"

namespace nearfar {

/// How ranks write the words of queue nodes.
enum class node_writes : std::uint8_t {
  accumulate,  ///< by accumulates that replace
  put,         ///< by puts, and the owner in place, as published: unsound, kept for comparison
};

/// The parameters of an `shfl_lock`.
struct shfl_policy {
  /// Whether a rank tries the word only after it has seen it free (TTS); otherwise at once (TAS).
  bool looks_first = false;
  /// Whether waiting ranks put the queue in order.
  bool shuffles = true;
  node_writes writes = node_writes::accumulate;
};

/// Exclusive lock for all ranks of a world. See the file's comment.
template <world W, shfl_policy Policy = shfl_policy{}>
class shfl_lock : public lockable<shfl_lock<W, Policy>, W> {
 public:
  using world_type = W;

  /// Collective. `home` keeps the word and the end of the queue. Throws `misuse` unless `max_local_passes` is
  /// 1 to 254.
  explicit shfl_lock(W& w, int home = 0, int max_local_passes = default_max_local_passes)
      : shfl_lock::lockable(w, {{"home", home}, {"max_local_passes", max_local_passes}}),
        world_(&w),
        words_(w),
        home_(checked_rank(w, home)),
        at_home_(w, home_),
        rank_(w.rank()),
        self_(to_word(w.rank())),
        max_batch_(static_cast<std::uint64_t>(checked_local_passes(max_local_passes))) {}
  ~shfl_lock() noexcept(!checked_build) { this->expect_not_held(); }

  // The algorithm without the checks.

  handover acquire() {
    if (try_acquire()) return handover::uncontended;
    if (enqueue())
      close();
    else
      await_turn();
    if (Policy.shuffles && !has_shuffled_ && (batch() == 0 || is_shuffler()))
      shuffle([this] { return (look_at_word() & is_taken) == 0; });
    take_as_first();
    if (leave_queue()) subtract(is_closed);
    return handover::waited;
  }

  [[nodiscard]] bool try_acquire() {
    if (Policy.looks_first && look_at_word() != is_free) return false;
    return compare_and_swap(&words::state, is_free, is_taken) == is_free;
  }

  void release() { subtract(is_taken); }

 private:
  using access = nearest_access<W, far_read::fetch>;

  struct alignas(slot_bytes) words {
    far<std::uint64_t> state;  ///< at home
    far<rank_word> tail;       ///< at home
    alignas(slot_bytes) far<rank_word> next;
    far<std::uint64_t> grants;  ///< how often this rank became the first of the queue
    far<std::uint64_t> role;    ///< twice the rank's place in a batch, plus 1 if it shuffles
  };
  // The word at home is a sum of these. A queue that begins while the last of the one before has not taken
  // its mark away adds a mark of its own. Origins of far operations, so they must be objects.
  static constexpr std::uint64_t is_free = 0;
  static constexpr std::uint64_t is_taken = 1;
  static constexpr std::uint64_t is_closed = 2;  ///< a mark: closed to ranks that are not in the queue
  static constexpr rank_word none = nobody;
  static constexpr std::uint64_t one = 1;
  static constexpr std::uint64_t no_role = 0;
  static constexpr std::uint64_t shuffler = 1;
  /// As published, a run looks at the limit of a batch when it begins, and may pass it.
  static constexpr bool keeps_limit = Policy.writes != node_writes::put;

  // ---- the word -------------------------------------------------------------------------------------------

  static bool may_be_taken(std::uint64_t now) { return (now & is_taken) == 0; }

  /// The current word. Leaves `seen_` unchanged.
  [[nodiscard]] std::uint64_t look_at_word() {
    at_home_.start_read(words_, home_, &words::state, looked_);
    at_home_.flush(words_);
    return looked_;
  }

  /// Takes a part from the word, and leaves the parts of other ranks.
  void subtract(std::uint64_t part) {
    written_ = 0 - part;
    words_.accumulate(home_, &words::state, written_, far_op::sum);
    words_.flush(home_);
  }

  std::uint64_t compare_and_swap(far<std::uint64_t> words::*field, const std::uint64_t& expected,
                                 const std::uint64_t& desired) {
    words_.compare_and_swap(home_, field, expected, desired, seen_);
    words_.flush(home_);
    return seen_;
  }

  /// Closes the word to ranks that are not in the queue, for a rank that found the queue empty.
  void close() {
    words_.fetch_add(home_, &words::state, is_closed, seen_);
    words_.flush(home_);  // before the word is expected
    if (may_be_taken(seen_)) expected_ = seen_ + is_closed;
  }

  /// Takes the lock as the first of the queue.
  void take_as_first() {
    for (;;) {
      if constexpr (Policy.looks_first) {
        const bool has_waited = at_home_.look_and_await(words_, home_, &words::state, looked_, may_be_taken);
        expected_ = has_waited ? is_closed : looked_;
        desired_ = expected_ | is_taken;
        if (compare_and_swap(&words::state, expected_, desired_) == expected_) return;
      } else {
        desired_ = expected_ | is_taken;
        const std::uint64_t found = world_->await_compare_and_swap(words_, home_, &words::state, expected_,
                                                                   desired_, may_be_taken, backoff{});
        if (found == expected_) return;
        expected_ = found;
      }
    }
  }

  // ---- the queue ------------------------------------------------------------------------------------------

  /// Joins the queue. Returns whether the queue was empty.
  [[nodiscard]] bool enqueue() {
    reset(&words::next, none);
    reset(&words::role, no_role);
    has_shuffled_ = false;
    expected_ = is_closed;  // by the mark of this queue alone
    words_.swap(home_, &words::tail, self_, before_);
    words_.flush(home_);
    if (before_ == none) return true;
    replace(to_rank(before_), &words::next, self_);
    return false;
  }

  /// Waits until this rank is the first of the queue.
  void await_turn() {
    const auto is_granted = [seen = granted_](std::uint64_t grants) { return grants != seen; };
    if constexpr (Policy.shuffles) {
      const auto is_to_shuffle = [](std::uint64_t role) { return role % 2 == shuffler; };
      const satisfied_condition first = world_->await_any(when(words_, rank_, &words::grants, is_granted),
                                                          when(words_, rank_, &words::role, is_to_shuffle));
      if (first.index == 1) shuffle([&] { return is_granted(words_.read_direct(rank_, &words::grants)); });
    }
    granted_ = world_->await_direct(words_, rank_, &words::grants, is_granted);
  }

  /// Leaves the queue, and makes the successor the first. Returns whether there was none.
  [[nodiscard]] bool leave_queue() {
    rank_word next = words_.read_direct(rank_, &words::next);
    if (next == none) {
      if (compare_and_swap(&words::tail, self_, none) == self_) return true;
      next = world_->await_direct(words_, rank_, &words::next, [](rank_word now) { return now != none; });
    }
    words_.accumulate(to_rank(next), &words::grants, one, far_op::sum);
    words_.flush(to_rank(next));
    return false;
  }

  void replace(int at, far<std::uint64_t> words::*field, const std::uint64_t& by) {
    written_ = by;
    if constexpr (Policy.writes == node_writes::accumulate)
      words_.accumulate(at, field, written_, far_op::replace);
    else
      words_.put(at, field, written_);
    words_.flush(at);
  }
  void reset(far<std::uint64_t> words::*field, const std::uint64_t& to) {
    if constexpr (Policy.writes == node_writes::put)
      words_.write_direct(rank_, field, to);
    else if (words_.read_direct(rank_, field) != to)
      replace(rank_, field, to);
  }

  // ---- shuffling ------------------------------------------------------------------------------------------

  [[nodiscard]] std::uint64_t role() const { return words_.read_direct(rank_, &words::role); }
  [[nodiscard]] std::uint64_t batch() const { return role() / 2; }
  [[nodiscard]] bool is_shuffler() const { return role() % 2 == shuffler; }

  /// The successor of a waiting rank, or `none` if that rank may be the last of the queue.
  [[nodiscard]] rank_word next_of(rank_word of) {
    const int at = to_rank(of);
    const access there(*world_, at);
    there.start_read(words_, at, &words::next, looked_);
    there.flush(words_);
    return looked_;
  }

  /// Moves ranks of this node behind this one until `is_over`. The last of them goes on shuffling.
  ///
  /// The ranks from this one to `last` are of one node and next to each other; `behind` comes after them. No
  /// other rank writes the words that this function writes: only the first of the queue leaves it, others
  /// join only at its end, and only one rank shuffles.
  template <typename IsOver>
  void shuffle(IsOver is_over) {
    std::uint64_t count = batch() == 0 ? 1 : batch();
    rank_word last = self_;
    rank_word before = self_;
    rank_word behind = words_.read_direct(rank_, &words::next);
    if (count >= max_batch_) return;
    for (rank_word at = behind; at != none && (!keeps_limit || count < max_batch_) && !is_over();) {
      const rank_word next = next_of(at);
      if (next == none) break;  // it stays the last
      if (!world_->locality().same(level::node, rank_, to_rank(at))) {
        before = at;
      } else {
        if (last != self_) replace(to_rank(last), &words::role, 2 * count);
        ++count;
        if (before == last) {
          before = at;
          behind = next;
        } else {
          replace(to_rank(before), &words::next, next);
          replace(to_rank(at), &words::next, behind);
          replace(to_rank(last), &words::next, at);
        }
        last = at;
      }
      at = next;
    }
    if (last == self_) return;
    has_shuffled_ = true;
    replace(to_rank(last), &words::role, 2 * count + shuffler);
  }

  W* world_;
  typename W::template far_segment<words> words_;
  int home_;
  access at_home_;
  int rank_;
  rank_word self_;
  std::uint64_t max_batch_;
  std::uint64_t granted_ = 0;
  bool has_shuffled_ = false;
  // Origins and results of far operations.
  std::uint64_t expected_ = is_free;
  std::uint64_t desired_ = is_taken;
  std::uint64_t seen_ = is_free;
  std::uint64_t looked_ = is_free;
  std::uint64_t written_ = 0;
  rank_word before_ = none;
};

}  // namespace nearfar
