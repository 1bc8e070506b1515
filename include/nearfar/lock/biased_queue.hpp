/// \file
/// MCS queue of nodes over RMA whose last node keeps the lock until another asks for it: the global lock of a
/// cohort that costs the node which had it last no far operation.
///
/// Source: the queue is that of dash_lock.hpp, handed over by messages. That who had a lock last keeps it,
/// and how it is taken away without an atomic operation of the keeper's, by a flag of each side that it
/// writes before it reads the other's, is of biased locks: K. Kawachiya, A. Koseki, T. Onodera, "Lock
/// reservation: Java locks can mostly do without atomic operations", OOPSLA 2002, doi 10.1145/582419.582433;
/// T. Onodera, K. Kawachiya, A. Koseki, "Lock reservation for Java reconsidered", ECOOP 2004. The protocol
/// over RMA is nearfar's.
///
/// A node that releases, and that nobody is registered behind, stays the last of the queue, and says that it
/// is idle. Who comes registers behind it, as in any MCS queue, then reads whether it is busy: if so it waits
/// for its message, otherwise the lock is its own; which of both it says in place. A node that keeps the lock
/// says that it is busy, then looks whether anybody has registered: if not it has the lock. Each side has
/// written before it reads, with a fence between, so at most one takes the other for absent; a node that
/// finds somebody registered asks that, by far operations, what it has read, and then either has the lock and
/// hands it over in its turn, or takes a place in the queue.
///
/// Who only tries must not register, for it could not leave again. It claims the place of the node that keeps
/// the lock, by a compare-and-swap of a word beside it, then reads whether that node is idle and nobody has
/// registered behind it. Only then it makes its claim a success, by another compare-and-swap. Whoever comes
/// across an undecided claim, the keeper that says it is busy or who registers, makes it fail in the same
/// way, so nobody waits for who tries. A place whose claim has succeeded is its node's no more: that takes a
/// new one, and who registers there waits, whatever it reads besides. At last who tried puts its own place
/// where the other was, at the end of the queue. If somebody has come behind the other meanwhile, it stays
/// outside of the queue, and hands over to that.
///
/// Places have numbers, which are in the end of the queue and in all that is said of a place: who has read
/// the end of the queue long ago finds another number, and fails. Numbers come again after 2^32 places of a
/// node: it is assumed that no call lasts for so long. A release that is held up while another node takes all
/// numbers in turn may take its answer for an older one, and let it in too early; with 2 or 3 bits tests have
/// seen that. A node leaves out one that an old claim has, which it would take for its own.
///
/// Seen is not complete: what is written from afar, names of who registers, goes into words in turn, as in
/// far_queue.hpp, which are reset in place when the node takes its place for the second time after. Who
/// registered had the lock before the place between did, also if it was claimed; who tries only reads these
/// words. Claims are written by compare-and-swap and never in place, so that they need no reset. Whether a
/// node is busy, and what it has read, is written in place by its own ranks only, and read from afar while it
/// is; answers have a number, since who asks late may find a later one.
///
/// Fairness: first come, first served among nodes (bound 0). An attempt that finds the lock idle may overtake
/// a node that is about to register, once: the next attempt finds that at the end of the queue.
/// Progress: an acquiring node waits for its predecessors only, and until the library of the keeper and of
/// the home has carried out what it asks. A rank that takes a kept lock again and again does nothing else in
/// the library, so that it lets it progress at one acquisition of `takes_per_progress`; while it computes
/// outside of the library others wait for it, as for any rank whose memory they use. A keeper that finds
/// somebody registered waits for that to read two words. An attempt waits for nobody else. It fails for no
/// other reason than a holder, a node that waits, or one that is taking the lock or trying to.
///
/// Cost in far operations, each completed by a flush, but for what one get reads together with another: by
/// the node that had the lock last none; else 1 swap at home and, unless nobody ever had it, 1 put and 1 get
/// of two words at the node that has or had it. Release 1 zero-byte message if somebody waits, else none. A
/// node that is asked for its lock just when it takes it up, or lays it down, 1 get at who asks for each
/// poll. An attempt: by the node that had the lock last none; if it is held, 1 get at home and 1 of two words
/// at the last node of the queue; if another keeps it, besides 2 compare-and-swaps and 1 get of two words
/// there and 1 compare-and-swap at home, and 1 get more for the release if somebody came behind. Who meets an
/// undecided claim 1 compare-and-swap.
/// With all ranks on one node nobody can ask for the lock: neither call does more than count acquisitions.
/// Memory: 128 bytes of far memory for each rank and one message tag.
#pragma once

#include <cstdint>

#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/lockable.hpp"
#include "nearfar/lock/participant.hpp"

namespace nearfar {

/// What a `biased_queue` is made of.
struct biased_policy {
  /// Of the number of a place. Few are for tests of what comes when numbers come again, which is safe only as
  /// long as no call lasts while another node takes all numbers: see the file's comment.
  unsigned number_bits = 32;
  /// Acquisitions of a kept lock between two calls that drive progress: as many as polls of a wait
  /// (`wait_ratios`), for the same reasons. A call costs about as much as an acquisition, up to three times.
  unsigned takes_per_progress = 64;
};

/// See the file's comment. The ranks of a node use it one at a time, as a cohort's local lock lets them.
template <world W, biased_policy Policy = biased_policy{}>
class biased_queue {
 public:
  using world_type = W;
  static constexpr participant queued = participant::node;

  /// Collective. `home` keeps the end of the queue.
  explicit biased_queue(W& w, int home = 0)
      : world_(&w),
        words_(w),
        channel_(w),
        home_(checked_rank(w, home)),
        owner_(w.locality().leader(level::node, w.rank())),
        name_(to_word(w.rank())),
        is_only_node_(w.locality().groups(level::node) == 1) {}

  handover acquire() {
    if (is_only_node_) {
      let_progress();
      return handover::uncontended;
    }
    node_state state = remembered();
    if (state.keeps() && takes_up(state)) return handover::uncontended;
    state = with_new_place(state);
    words_.write_direct(owner_, &words::answer, answer_of(state.number(), undecided));
    remember(state);
    entry_ = entry_of(state.number());
    words_.swap(home_, &words::tail, entry_, before_);
    words_.flush(home_);
    if (before_ == nobody) return handover::uncontended;
    return register_behind(place_in(before_), state.number());
  }

  /// Never waits for a holder.
  [[nodiscard]] bool try_acquire() {
    if (is_only_node_) {
      let_progress();
      return true;
    }
    node_state state = remembered();
    if (state.keeps()) {
      if (takes_up(state)) return true;
      state = state.lost();
      remember(state);
    }
    words_.get(home_, &words::tail, before_);
    words_.flush(home_);
    if (before_ != nobody && !claim(place_in(before_))) return false;
    state = with_new_place(state);
    entry_ = entry_of(state.number());
    words_.compare_and_swap(home_, &words::tail, before_, entry_, last_);
    words_.flush(home_);
    if (last_ == before_) {
      remember(state);
      return true;
    }
    if (before_ == nobody) return false;
    // The new place has not been seen by anybody, and is the next one again.
    words_.write_direct(owner_, &words::claimed, before_);
    return true;
  }

  void release() {
    if (is_only_node_) return;
    if (const std::uint64_t claimed = words_.read_direct(owner_, &words::claimed); claimed != nobody)
      return release_claimed(place_in(claimed));
    const node_state state = remembered();
    const next_word next = next_of(state.number());
    std::uint64_t registered = words_.read_direct(owner_, next);
    bool waits_for_us = true;  // who has not read yet reads that this node is busy
    if (!is_name(registered)) {
      // (1) Pairs with (2): who has not been seen here sees this.
      words_.write_direct(owner_, &words::busy, busy_of(state.number(), is_idle));
      world_->fence(std::memory_order_seq_cst);
      registered = words_.read_direct(owner_, next);
      if (!is_name(registered)) {
        if (!state.keeps()) remember(state.kept());
        return;
      }
      waits_for_us = waits_for(registered);
    }
    remember(state.lost());
    if (waits_for_us) channel_.signal(rank_in(registered));
  }

  /// Whether another node is behind this one, which has the lock.
  [[nodiscard]] bool is_wanted() { return !is_only_node_ && has_anybody_behind(); }

 private:
  [[nodiscard]] bool has_anybody_behind() {
    return words_.read_direct(owner_, &words::claimed) != nobody ||
           is_name(words_.read_direct(owner_, next_of(remembered().number())));
  }

  /// Which of its places a node has.
  using place_number = std::uint32_t;

  static_assert(Policy.number_bits >= 2 && Policy.number_bits <= 32);
  static_assert(Policy.takes_per_progress >= 1);
  static constexpr unsigned low_bits = 32;
  static constexpr std::uint64_t is_busy = 0;
  static constexpr std::uint64_t is_idle = 1;
  // What a node has read of the one before it, beside the number of its place.
  static constexpr std::uint64_t undecided = 0;
  static constexpr std::uint64_t waits = 1;
  static constexpr std::uint64_t took = 2;
  static constexpr std::uint64_t answers = 4;
  // What has become of a claim, beside its author and the number of the place.
  static constexpr std::uint64_t failed = 0;
  static constexpr std::uint64_t open = 1;
  static constexpr std::uint64_t succeeded = 2;
  static constexpr std::uint64_t outcomes = 4;

  struct alignas(slot_bytes) words {
    far<std::uint64_t> tail;  ///< at home: nobody, or the last place
    // Of the node, in a line that its ranks touch anyway.
    alignas(slot_bytes) far<std::uint64_t> next;  ///< who has registered, or the number of the place
    far<std::uint64_t> other_next;
    far<std::uint64_t> claim;    ///< to the node's place; written by compare-and-swap only
    far<std::uint64_t> busy;     ///< with the number of the place; written in place, as all below
    far<std::uint64_t> answer;   ///< to who asks what this node has read
    far<std::uint64_t> state;    ///< what the node remembers
    far<std::uint64_t> claimed;  ///< nobody, or the place, not the last, by whose claim the node has the lock
  };
  using next_word = far<std::uint64_t> words::*;

  /// The number of the place that the node took last, and whether it keeps the lock there. A value of the
  /// node's, which the local lock guards.
  struct node_state {
    std::uint64_t bits = 0;

    [[nodiscard]] bool keeps() const noexcept { return (bits & keeping) != 0; }
    [[nodiscard]] place_number number() const noexcept { return static_cast<place_number>(bits >> low_bits); }
    [[nodiscard]] node_state kept() const noexcept { return {bits | keeping}; }
    /// Another has the lock or will have it.
    [[nodiscard]] node_state lost() const noexcept { return {bits & ~keeping}; }

   private:
    static constexpr std::uint64_t keeping = 1;
  };

  struct place {
    int owner;
    place_number number;
  };

  [[nodiscard]] static std::uint64_t above(std::uint64_t high, std::uint64_t low) noexcept {
    return (high << low_bits) | low;
  }
  [[nodiscard]] static place_number high_of(std::uint64_t word) noexcept {
    return static_cast<place_number>(word >> low_bits);
  }
  [[nodiscard]] static place place_in(std::uint64_t entry) noexcept {
    return {to_rank(high_of(entry)), static_cast<place_number>(entry)};
  }
  [[nodiscard]] std::uint64_t entry_of(place_number number) const noexcept {
    return above(to_word(owner_), number);
  }

  [[nodiscard]] static next_word next_of(place_number number) noexcept {
    return number % 2 == 0 ? &words::next : &words::other_next;
  }
  [[nodiscard]] static std::uint64_t nobody_behind(place_number number) noexcept { return number; }
  /// Whether it names who has registered.
  [[nodiscard]] static bool is_name(std::uint64_t next) noexcept { return high_of(next) != nobody; }
  [[nodiscard]] static int rank_in(std::uint64_t registered) noexcept { return to_rank(high_of(registered)); }

  [[nodiscard]] static std::uint64_t busy_of(place_number number, std::uint64_t what) noexcept {
    return above(number, what);
  }
  [[nodiscard]] static bool says_idle(std::uint64_t busy) noexcept {
    return static_cast<place_number>(busy) == is_idle;
  }
  [[nodiscard]] static std::uint64_t answer_of(place_number number, std::uint64_t what) noexcept {
    return number * answers + what;
  }
  [[nodiscard]] std::uint64_t claim_to(place_number number, std::uint64_t outcome) const noexcept {
    return above(number, name_ * outcomes + outcome);
  }
  [[nodiscard]] static bool is_claim_to(place_number number, std::uint64_t claim,
                                        std::uint64_t outcome) noexcept {
    return high_of(claim) == number && claim % outcomes == outcome;
  }

  [[nodiscard]] node_state remembered() const { return {words_.read_direct(owner_, &words::state)}; }
  void remember(node_state state) { words_.write_direct(owner_, &words::state, state.bits); }

  /// A place that nobody can find yet, and that the node is busy in.
  [[nodiscard]] node_state with_new_place(node_state last) {
    place_number number = counted_on(last.number(), 1);
    // An old claim would be taken for one to this place. The turn is the same two places on.
    if (high_of(words_.read_direct(owner_, &words::claim)) == number) number = counted_on(number, 2);
    words_.write_direct(owner_, next_of(number), nobody_behind(number));
    words_.write_direct(owner_, &words::busy, busy_of(number, is_busy));
    return {above(number, 0)};
  }

  /// Whether who has registered here waits for a message; otherwise it has the lock already, or waits for who
  /// has claimed this place.
  [[nodiscard]] bool waits_for(std::uint64_t registered) {
    const auto number = static_cast<place_number>(registered);
    const std::uint64_t answer = world_->await_get(
        words_, world_->locality().leader(level::node, rank_in(registered)), &words::answer,
        [number](std::uint64_t now) { return now / answers != number || now % answers != undecided; });
    // Who waits has no later number.
    return answer == answer_of(number, waits);
  }

  /// Whether the claim that was found is to that place and has succeeded. One that is open has not: it fails.
  [[nodiscard]] bool has_succeeded(const std::uint64_t& found, const place& at) {
    if (!is_claim_to(at.number, found, open)) return is_claim_to(at.number, found, succeeded);
    const std::uint64_t in_vain = found - open + failed;
    words_.compare_and_swap(at.owner, &words::claim, found, in_vain, decided_);
    words_.flush(at.owner);
    return is_claim_to(at.number, decided_, succeeded);
  }

  void let_progress() {
    if (--takes_left_ != 0) return;
    takes_left_ = Policy.takes_per_progress;
    world_->rest();
  }

  /// Whether this node, which keeps the lock, still has it.
  [[nodiscard]] bool takes_up(node_state state) {
    let_progress();
    // (1) as in `release`, the other way round; and pairs with (3).
    words_.write_direct(owner_, &words::busy, busy_of(state.number(), is_busy));
    world_->fence(std::memory_order_seq_cst);
    const std::uint64_t registered = words_.read_direct(owner_, next_of(state.number()));
    found_claim_ = words_.read_direct(owner_, &words::claim);
    if (has_succeeded(found_claim_, {owner_, state.number()})) return false;
    return !is_name(registered) || waits_for(registered);
  }

  handover register_behind(const place& before, place_number own) {
    registered_ = above(name_, own);
    words_.put(before.owner, next_of(before.number), registered_);
    words_.flush(before.owner);
    // (2) Pairs with (1) and (3): who is not seen here sees this.
    world_->fence(std::memory_order_seq_cst);
    words_.get(before.owner, &words::busy, found_);
    words_.get(before.owner, &words::claim, found_claim_);
    words_.flush(before.owner);
    // First of all whether the place was claimed: who did that may have read that nobody is registered before
    // this node did, and that the other is idle after it was busy here.
    const bool is_claimed = has_succeeded(found_claim_, before);
    if (!is_claimed && says_idle(found_)) {
      words_.write_direct(owner_, &words::answer, answer_of(own, took));
      return handover::uncontended;
    }
    words_.write_direct(owner_, &words::answer, answer_of(own, is_claimed ? took : waits));
    channel_.await_signal(any_rank);
    return handover::remote;
  }

  /// Whether this node gets the lock of one that keeps it in that place.
  [[nodiscard]] bool claim(const place& at) {
    if (!reads_idle(at, &words::claim, found_claim_)) return false;
    if (high_of(found_claim_) == at.number && found_claim_ % outcomes != failed) return false;
    // Either the other has taken another place meanwhile, or nobody has claimed any of half of all numbers.
    if (is_later(high_of(found_claim_), at.number) && !is_free(at)) return false;
    const std::uint64_t mine = claim_to(at.number, open);
    words_.compare_and_swap(at.owner, &words::claim, found_claim_, mine, decided_);
    words_.flush(at.owner);
    if (decided_ != found_claim_) return false;
    // (3) Pairs with (1) and (2): who is not seen here sees the claim.
    world_->fence(std::memory_order_seq_cst);
    const bool may_succeed = is_free(at);
    const std::uint64_t outcome = claim_to(at.number, may_succeed ? succeeded : failed);
    words_.compare_and_swap(at.owner, &words::claim, mine, outcome, decided_);
    words_.flush(at.owner);
    return may_succeed && decided_ == mine;
  }

  /// Whether the other is idle in that place and nobody has registered there, in any order.
  [[nodiscard]] bool is_free(const place& kept) {
    return reads_idle(kept, next_of(kept.number), found_next_) && found_next_ == nobody_behind(kept.number);
  }

  /// Whether the other is idle in that place, besides what is in another of its words.
  [[nodiscard]] bool reads_idle(const place& kept, far<std::uint64_t> words::*other, std::uint64_t& into) {
    words_.get(kept.owner, &words::busy, found_);
    words_.get(kept.owner, other, into);
    words_.flush(kept.owner);
    return found_ == busy_of(kept.number, is_idle);
  }

  [[nodiscard]] static place_number counted_on(place_number number, place_number by) noexcept {
    constexpr std::uint64_t all = (std::uint64_t{1} << Policy.number_bits) - 1;
    return static_cast<place_number>((number + by) & all);
  }
  [[nodiscard]] static bool is_later(place_number one, place_number than) noexcept {
    const place_number ahead = counted_on(one, 0U - than);
    return ahead != 0 && ahead < place_number{1} << (Policy.number_bits - 1);
  }

  /// Gives the lock to who has come behind a place before this node could replace it.
  void release_claimed(const place& at) {
    words_.write_direct(owner_, &words::claimed, nobody);
    channel_.signal(rank_in(world_->await_get(words_, at.owner, next_of(at.number), &is_name)));
  }

  W* world_;
  typename W::template far_segment<words> words_;
  typename W::signal_channel channel_;
  int home_;
  int owner_;
  std::uint64_t name_;
  bool is_only_node_;
  unsigned takes_left_ = Policy.takes_per_progress;  ///< until the next call that drives progress
  // Origins and results of far operations.
  std::uint64_t entry_ = nobody;
  std::uint64_t before_ = nobody;
  std::uint64_t last_ = nobody;
  std::uint64_t registered_ = 0;
  std::uint64_t found_ = 0;
  std::uint64_t found_next_ = 0;
  std::uint64_t found_claim_ = 0;
  std::uint64_t decided_ = 0;
};

}  // namespace nearfar
