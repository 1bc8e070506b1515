/// \file
/// SHFL over RMA: a test-and-set lock in front of an MCS queue, in which the waiting ranks are grouped by
/// node. In a variant D-MCS is in front. The queue of D-MCS then has at most two ranks.
///
/// Source: S. Kashyap, I. Calciu, X. Cheng, C. Min, T. Kim, "Scalable and practical locking with shuffling",
/// SOSP 2019, doi 10.1145/3341301.3359629. The form over RMA, with test-and-set or test-and-test-and-set in
/// front and with or without shuffling, is that of A. Uffmann's master thesis, LMU Munich, 2022, section 5.7.
/// The thesis proposes two more forms (5.7.2): an MCS lock in front, and sorters that give their role to the
/// first rank that they move.
///
/// A rank that finds the word at home 0, neither taken nor closed, takes the lock at once. Otherwise it joins
/// the queue. A rank that finds the queue empty marks the word as closed to ranks that are not in the queue.
/// The first of the queue waits until the lock is free, takes it, and leaves the queue. Unlocking takes the
/// lock from the word and leaves the mark. The last rank of the queue takes the mark away when it leaves.
///
/// The thesis keeps lock and mark in two bytes, and stores to them. There the last rank of a queue may clear
/// the mark of the next queue, whose ranks are then passed as long as they wait. Here the word is a sum, in
/// which each queue has a mark of its own.
///
/// With D-MCS in front there is no word and no mark: the first of the queue joins the queue of D-MCS. A
/// newcomer tries to take D-MCS only after it has seen the queue empty.
///
/// The first of the queue sorts, unless another rank has moved it there; a moved rank sorts only if the last
/// sorter gave it the role. The sorter goes along the queue and moves the ranks of its node to the front, one
/// behind the other. It leaves out the last of the queue, behind which other ranks may be on their way. It
/// gives the role to the last rank that it moved, until a batch has `max_local_passes` ranks. With
/// `sorter_named::at_once` it moves one rank and gives it the role. So at most one rank sorts at a time. A
/// rank sorts once. If it moved no rank while it waited, it sorts once more as the first of the queue. The
/// original sorts again and again: a waiting rank as long as it has the role, and with test-and-set the first
/// of the queue after each attempt that fails. All ranks know which ranks share a node.
///
/// A write that has been seen need not be complete: the write by which a rank joins may come again after the
/// word's owner has reset the word, or after a sorter has changed it. Then ranks are lost. So the words of
/// queue nodes are written by accumulates that replace, also by their owners, and the grant is a sum
/// (far_handover.hpp). In the published form, `node_writes::put`, ranks put to these words, owners write
/// theirs in place, and a sorter looks at the limit only when it begins. Its word and its grant are sums,
/// too.
///
/// Fairness: none, since a rank that arrives while the word is 0 takes the lock. While the word is closed,
/// only the first of the queue can take the lock. With D-MCS in front, a rank that saw the queue empty may
/// overtake it later. Each other rank can do so once while the queue has a rank. Within the queue each rank
/// that is before a waiting rank may bring up to `max_local_passes` - 1 ranks of its node before it; without
/// sorting the queue is first come, first served. Progress: some rank always acquires.
///
/// Cost in far operations, each completed by a flush. A rank on the home's node looks in place.
///  - uncontended: lock 1 compare-and-swap at home, with a look first 1 fetch more; unlock 1 atomic at home;
///  - through the queue, in addition: 1 swap at home, and 1 atomic at the predecessor, or at home without
///    one;
///  - as the first of the queue, in addition: 1 compare-and-swap at home for each attempt, or with a look
///    first 1 fetch for each look and 1 compare-and-swap in all;
///  - out of the queue, in addition: 1 atomic at the successor; without one 1 compare-and-swap and 1 atomic
///    at home; 1 compare-and-swap at home and 1 atomic at a successor that joins just then. The next time in
///    the queue, up to 2 resets of the rank's own words;
///  - sorting: 1 fetch for each rank looked at on another node, and up to 4 atomics for each rank moved. The
///    first of the queue looks at the word, too, before each rank on any node: 1 fetch at home each.
///
/// With D-MCS in front there are no operations on the word or the mark. Instead:
///  - uncontended: lock 1 fetch at home, and if the queue is empty 1 compare-and-swap; unlock 1
///    compare-and-swap at home;
///  - as the first of the queue: 1 swap at home, and 1 put at the holder if there is one;
///  - unlock while a rank waits in D-MCS: 1 atomic at that rank;
///  - sorting as the first of the queue: 1 compare-and-swap at home before each rank.
///
/// Memory: 128 bytes of far memory for each rank; with D-MCS in front 320.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "nearfar/core/backoff.hpp"
#include "nearfar/core/condition.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/d_mcs_lock.hpp"
#include "nearfar/lock/local_passes.hpp"
#include "nearfar/lock/lockable.hpp"
#include "nearfar/memory/nearest_access.hpp"

namespace nearfar {

/// How ranks write the words of queue nodes.
enum class node_writes : std::uint8_t {
  accumulate,  ///< by accumulates that replace
  put,         ///< by puts, and by the owner in place, as published: unsound, kept for comparison
};

/// The lock in front of the queue.
enum class shfl_front : std::uint8_t {
  test_and_set,           ///< a word that a rank tries at once
  test_and_test_and_set,  ///< a word that a rank tries only after it has seen it free
  d_mcs,                  ///< a queue of its own
};

/// Which of the ranks that a sorter has moved sorts next.
enum class sorter_named : std::uint8_t {
  at_the_end,  ///< the last
  at_once,     ///< the first
};

/// The parameters of an `shfl_lock`.
struct shfl_policy {
  shfl_front front = shfl_front::test_and_set;
  /// Whether waiting ranks put the queue in order.
  bool shuffles = true;
  sorter_named named = sorter_named::at_the_end;
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
        front_(make_front(w, home)),
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
    if (Policy.shuffles && !has_passed_role_ && (batch() == 0 || is_shuffler()))
      shuffle([this] { return is_free_for_first(); });
    take_as_first();
    if (leave_queue()) reopen();
    return handover::waited;
  }

  [[nodiscard]] bool try_acquire() {
    if constexpr (has_two_queues) {
      return at_home_.read(words_, home_, &words::tail) == none && front_.try_acquire();
    } else {
      if (looks_before_it_tries && at_home_.read(words_, home_, &words::state) != is_free) return false;
      return compare_and_swap(&words::state, is_free, is_taken) == is_free;
    }
  }

  void release() {
    if constexpr (has_two_queues)
      front_.release();
    else
      add(0 - is_taken);
  }

 private:
  using access = nearest_access<W, far_read::fetch>;
  static constexpr bool has_two_queues = Policy.front == shfl_front::d_mcs;
  static constexpr bool looks_before_it_tries = Policy.front == shfl_front::test_and_test_and_set;
  struct only_a_word {};
  using front = std::conditional_t<has_two_queues, d_mcs_lock<W>, only_a_word>;

  struct alignas(slot_bytes) words {
    far<std::uint64_t> state;  ///< at home
    far<rank_word> tail;       ///< at home
    alignas(slot_bytes) far<rank_word> next;
    far<std::uint64_t> grants;  ///< how often a predecessor made this rank the first of the queue
    /// 0, or twice the place in a batch that a sorter gave this rank, plus 1 if this rank is to sort next.
    far<std::uint64_t> role;
  };
  // The word at home is a sum of these. A queue that begins while the last of the one before has not taken
  // its mark away adds a mark of its own. That last rank holds the lock, so a free word has one mark at most.
  // Origins of far operations, so they must be objects.
  static constexpr std::uint64_t is_free = 0;
  static constexpr std::uint64_t is_taken = 1;
  static constexpr std::uint64_t is_closed = 2;  ///< a mark: closed to ranks that are not in the queue
  static constexpr std::uint64_t is_taken_from_queue = is_closed + is_taken;
  static constexpr rank_word none = nobody;
  static constexpr std::uint64_t one = 1;
  static constexpr std::uint64_t no_role = 0;
  static constexpr std::uint64_t shuffler = 1;
  /// As published, a run looks at the limit of a batch when it begins, and may pass it.
  static constexpr bool keeps_limit = Policy.writes != node_writes::put;

  // ---- the lock in front ----------------------------------------------------------------------------------

  static front make_front([[maybe_unused]] W& w, [[maybe_unused]] int home) {
    if constexpr (has_two_queues)
      return front(w, home);
    else
      return {};
  }

  static bool is_not_taken(std::uint64_t now) { return (now & is_taken) == 0; }

  /// Adds a part to the word, or takes it away, and leaves the parts of other ranks.
  void add(std::uint64_t part) {
    written_ = part;
    words_.accumulate(home_, &words::state, written_, far_op::sum);
    words_.flush(home_);
  }

  std::uint64_t compare_and_swap(far<std::uint64_t> words::*field, const std::uint64_t& expected,
                                 const std::uint64_t& desired) {
    words_.compare_and_swap(home_, field, expected, desired, seen_);
    words_.flush(home_);
    return seen_;
  }

  /// Keeps newcomers from the word.
  void close() {
    if constexpr (!has_two_queues) add(is_closed);
  }
  void reopen() {
    if constexpr (!has_two_queues) add(0 - is_closed);
  }

  /// Whether the first of the queue can take the lock, or has taken it.
  [[nodiscard]] bool is_free_for_first() {
    if constexpr (has_two_queues)
      return has_front_ = front_.try_acquire();
    else
      return is_not_taken(at_home_.read(words_, home_, &words::state));
  }

  /// Takes the lock as the first of the queue.
  void take_as_first() {
    if constexpr (!has_two_queues)
      take_word_as_first();
    else if (!std::exchange(has_front_, false))
      static_cast<void>(front_.acquire());
  }
  /// One attempt on a free word is enough, unless puts that came again have made two ranks the first.
  void take_word_as_first() {
    do {
      if constexpr (looks_before_it_tries) {
        at_home_.await(words_, home_, &words::state, is_not_taken);
        static_cast<void>(compare_and_swap(&words::state, is_closed, is_taken_from_queue));
      } else {
        seen_ = world_->await_compare_and_swap(words_, home_, &words::state, is_closed, is_taken_from_queue,
                                               is_not_taken, backoff{});
      }
    } while (seen_ != is_closed);
  }

  // ---- the queue ------------------------------------------------------------------------------------------

  /// Joins the queue. Returns whether the queue was empty.
  [[nodiscard]] bool enqueue() {
    reset(&words::next, none);
    reset(&words::role, no_role);
    has_passed_role_ = false;
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
    return access(*world_, at).read(words_, at, &words::next);
  }

  /// Moves ranks of this node behind this one until `is_over`. The last of them goes on shuffling. With
  /// `sorter_named::at_once` it moves one.
  ///
  /// The ranks from this one to `last` are of one node and next to each other; `behind` comes after them. No
  /// other rank begins a write to the words that this function writes: only the first of the queue leaves it,
  /// others join only at its end, and only one rank shuffles. But the writes by which ranks joined may still
  /// be incomplete.
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
        if (Policy.named == sorter_named::at_once) break;
      }
      at = next;
    }
    if (last == self_) return;
    has_passed_role_ = true;
    replace(to_rank(last), &words::role, 2 * count + shuffler);
  }

  W* world_;
  typename W::template far_segment<words> words_;
  int home_;
  access at_home_;
  front front_;
  bool has_front_ = false;  ///< whether this rank has taken the lock in front while it sorted
  int rank_;
  rank_word self_;
  std::uint64_t max_batch_;
  std::uint64_t granted_ = 0;
  bool has_passed_role_ = false;
  // Origins and results of far operations.
  std::uint64_t seen_ = is_free;
  std::uint64_t written_ = 0;
  rank_word before_ = none;
};

}  // namespace nearfar
