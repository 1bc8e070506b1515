/// \file
/// MCS queue of nodes over RMA in which the last node keeps the lock until another node asks for it. As the
/// global lock of a cohort it costs the node that held it last no far operation.
///
/// Source: the queue is that of dash_lock.hpp, handed over by messages. Biased locks are the source of two
/// ideas. The last holder keeps the lock. The keeper loses it without an atomic operation of its own, because
/// each side writes a flag of its own before it reads the other's. K. Kawachiya, A. Koseki, T. Onodera, "Lock
/// reservation: Java locks can mostly do without atomic operations", OOPSLA 2002, doi 10.1145/582419.582433;
/// T. Onodera, K. Kawachiya, A. Koseki, "Lock reservation for Java reconsidered", ECOOP 2004. The protocol
/// over RMA is nearfar's.
///
/// Releasing and acquiring. A node that releases while no node is registered behind it stays the last of the
/// queue and marks itself idle. An acquiring node registers behind the last one, as in any MCS queue, and
/// then reads whether that node is busy. If it is busy, the acquiring node waits for its message; if it is
/// idle, the acquiring node has the lock. It writes in place which of the two it is. A keeper that takes its
/// lock again marks itself busy, and then looks whether a node has registered; if none has, the keeper has
/// the lock. Each side writes before it reads, with a fence in between, so at most one of them misses the
/// other. A keeper that finds a registered node asks it, by far operations, what it has read. Then the keeper
/// either has the lock and hands it over at its release, or takes a new place in the queue.
///
/// Attempts. An attempt must not register, since it could not leave the queue again. It claims the keeper's
/// place by a compare-and-swap of a word beside it. Then it reads whether that node is idle and no node has
/// registered behind it. Only if so, a second compare-and-swap makes the claim succeed. A keeper that marks
/// itself busy, or a node that registers, makes an undecided claim that it finds fail in the same way, so
/// neither waits for the attempt. A place whose claim has succeeded no longer belongs to its node: that node
/// takes a new place, and a node that registers at the claimed place waits, whatever else it reads. Finally
/// the attempting node replaces the claimed place by its own at the end of the queue. If another node has
/// come behind the claimed place meanwhile, the attempting node stays outside the queue, and hands over to
/// that node.
///
/// Numbers. Places have numbers, which are part of the end of the queue and of everything that is said about
/// a place. A node that read the end of the queue long ago finds a different number, and fails. Numbers
/// repeat after 2^32 places of a node; the protocol assumes that no call lasts that long. A release that is
/// delayed while another node goes through all numbers may mistake that node's newer answer for the one it
/// asked for, and let the node in too early; tests have seen this with 2 or 3 bits. A node skips a number
/// that an old claim still holds, because it would take that claim for one to its new place.
///
/// Completion. A write that has been seen need not be complete. The names of registering nodes are written
/// from afar, so they go into two words in turn, as in far_queue.hpp. A node resets such a word in place when
/// it takes the second place after the one that used the word. The node that registered there held the lock
/// before the place in between did, even if that place was claimed; an attempt only reads these words. Claims
/// are always written by compare-and-swap, never in place, so they need no reset. Whether a node is busy, and
/// what it has read, only its own ranks write, in place, while others read it from afar. Answers carry a
/// number, since a node that asks late may find a later answer.
///
/// Fairness: first come, first served among nodes (bound 0). An attempt that finds the lock idle may overtake
/// a node that is about to register, once: the next attempt finds that node at the end of the queue.
/// Progress: an acquiring node waits for its predecessors only, and until the MPI libraries of the keeper and
/// of the home have carried out its operations. A rank that takes a kept lock again and again makes no other
/// call into the library, so it drives progress at one of `takes_per_progress` acquisitions. While it
/// computes outside the library others wait for it, as for any rank whose memory they use. A keeper that
/// finds a registered node waits until that node has read two words. An attempt waits for no other rank. It
/// fails only if another node holds the lock, waits for it, is taking it, or is trying to.
///
/// Cost in far operations, each completed by a flush; a get of two words is two gets with one flush:
///  - acquire: by the node that held the lock last none; otherwise 1 swap at home and, unless the lock was
///    never held, 1 put and 1 get of two words at the node that holds or held it;
///  - release: 1 zero-byte message if a node waits, otherwise none;
///  - a keeper that another node asks for the lock just while it takes it or releases it: 1 get at that node
///    for each poll;
///  - attempt by the node that held the lock last: none;
///  - attempt while the lock is held: 1 get at home and 1 get of two words at the last node of the queue;
///  - attempt while another node keeps the lock: in addition 2 compare-and-swaps and 1 get of two words at
///    that node, 1 compare-and-swap at home, and 1 get more at the release if a node came behind;
///  - a node that meets an undecided claim: 1 compare-and-swap.
/// With all ranks on one node no other node can ask for the lock: acquire only counts acquisitions, and
/// release does nothing.
/// Memory: 128 bytes of far memory for each rank and one message tag.
#pragma once

#include <cstdint>

#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/lockable.hpp"
#include "nearfar/lock/participant.hpp"

namespace nearfar {

/// The parameters of a `biased_queue`.
struct biased_policy {
  /// Bits of a place's number. Small values are for tests of repeating numbers, which are safe only as long
  /// as no call lasts while another node goes through all numbers: see the file's comment.
  unsigned number_bits = 32;
  /// Acquisitions of a kept lock between two calls that drive progress: as many as polls in a wait
  /// (`wait_ratios`), for the same reasons. Such a call takes one to three times as long as an acquisition.
  unsigned takes_per_progress = 64;
};

/// See the file's comment. The ranks of a node must use it one at a time; a cohort's local lock ensures that.
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
    // No other node has seen the new place, so `state` is not remembered: the next acquisition takes that
    // place.
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
    bool waits_for_us = true;  // a node that has yet to read will read that this node is busy
    if (!is_name(registered)) {
      // (1) Pairs with (2): a registering node that is not seen below sees this write.
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

  /// Whether another node is behind this one. Called by the holder.
  [[nodiscard]] bool is_wanted() { return !is_only_node_ && has_anybody_behind(); }

 private:
  [[nodiscard]] bool has_anybody_behind() {
    return words_.read_direct(owner_, &words::claimed) != nobody ||
           is_name(words_.read_direct(owner_, next_of(remembered().number())));
  }

  /// The number of a node's place in the queue.
  using place_number = std::uint32_t;

  static_assert(Policy.number_bits >= 2 && Policy.number_bits <= 32);
  static_assert(Policy.takes_per_progress >= 1);
  static constexpr unsigned low_bits = 32;
  static constexpr std::uint64_t is_busy = 0;
  static constexpr std::uint64_t is_idle = 1;
  // The result of a node's look at its predecessor. Combined with the number of the node's own place.
  static constexpr std::uint64_t undecided = 0;
  static constexpr std::uint64_t waits = 1;
  static constexpr std::uint64_t took = 2;
  static constexpr std::uint64_t answers = 4;
  // The outcome of a claim. Combined with the claim's author and the number of the place.
  static constexpr std::uint64_t failed = 0;
  static constexpr std::uint64_t open = 1;
  static constexpr std::uint64_t succeeded = 2;
  static constexpr std::uint64_t outcomes = 4;

  struct alignas(slot_bytes) words {
    far<std::uint64_t> tail;  ///< at home: nobody, or the last place
    // Of each node, in a line that its ranks touch anyway.
    alignas(slot_bytes) far<std::uint64_t> next;  ///< the node that has registered, or the place's number
    far<std::uint64_t> other_next;
    far<std::uint64_t> claim;    ///< to the node's place; written by compare-and-swap only
    far<std::uint64_t> busy;     ///< with the number of the place; written in place, as all below
    far<std::uint64_t> answer;   ///< tells an asking keeper what this node has read
    far<std::uint64_t> state;    ///< the bits of `node_state`
    far<std::uint64_t> claimed;  ///< nobody, or the place, not the last, by whose claim the node has the lock
  };
  using next_word = far<std::uint64_t> words::*;

  /// The number of the place that the node took last, and whether the node keeps the lock there. All ranks of
  /// the node share it; the local lock guards it.
  struct node_state {
    std::uint64_t bits = 0;

    [[nodiscard]] bool keeps() const noexcept { return (bits & keeping) != 0; }
    [[nodiscard]] place_number number() const noexcept { return static_cast<place_number>(bits >> low_bits); }
    [[nodiscard]] node_state kept() const noexcept { return {bits | keeping}; }
    /// When another node has the lock or will get it.
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
  /// Whether the word names a node that has registered.
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

  /// A new place, not yet visible to other nodes, in which this node is busy.
  [[nodiscard]] node_state with_new_place(node_state last) {
    place_number number = counted_on(last.number(), 1);
    // An old claim would be taken for one to this place. Two places on, `next_of` names the same word.
    if (high_of(words_.read_direct(owner_, &words::claim)) == number) number = counted_on(number, 2);
    words_.write_direct(owner_, next_of(number), nobody_behind(number));
    words_.write_direct(owner_, &words::busy, busy_of(number, is_busy));
    return {above(number, 0)};
  }

  /// Whether the node that has registered here waits for a message. If not, it has the lock already, or waits
  /// for the node that has claimed this place.
  [[nodiscard]] bool waits_for(std::uint64_t registered) {
    const auto number = static_cast<place_number>(registered);
    const std::uint64_t answer = world_->await_get(
        words_, world_->locality().leader(level::node, rank_in(registered)), &words::answer,
        [number](std::uint64_t now) { return now / answers != number || now % answers != undecided; });
    // A node that waits here has no later number yet.
    return answer == answer_of(number, waits);
  }

  /// Whether the claim that was found is to that place and has succeeded. Makes an open claim fail.
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

  /// Whether this node, which keeps the lock, still has it. If so, the node is busy now.
  [[nodiscard]] bool takes_up(node_state state) {
    let_progress();
    // (1) As in `release`, with busy in place of idle. Pairs with (2) and (3).
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
    // (2) Pairs with (1) and (3): a node that does not see the registration is seen here.
    world_->fence(std::memory_order_seq_cst);
    words_.get(before.owner, &words::busy, found_);
    words_.get(before.owner, &words::claim, found_claim_);
    words_.flush(before.owner);
    // The claim comes first. The claiming node may have read that no node is registered before this node
    // registered, and that the keeper is idle after this node read that it is busy.
    const bool is_claimed = has_succeeded(found_claim_, before);
    if (!is_claimed && says_idle(found_)) {
      words_.write_direct(owner_, &words::answer, answer_of(own, took));
      return handover::uncontended;
    }
    words_.write_direct(owner_, &words::answer, answer_of(own, is_claimed ? took : waits));
    channel_.await_signal(any_rank);
    return handover::remote;
  }

  /// Whether this node gets the lock from the one that keeps it in that place.
  [[nodiscard]] bool claim(const place& at) {
    if (!reads_idle(at, &words::claim, found_claim_)) return false;
    if (high_of(found_claim_) == at.number && found_claim_ % outcomes != failed) return false;
    // Either the other node has taken a later place meanwhile, or half of all numbers have passed without a
    // claim.
    if (is_later(high_of(found_claim_), at.number) && !is_free(at)) return false;
    const std::uint64_t mine = claim_to(at.number, open);
    words_.compare_and_swap(at.owner, &words::claim, found_claim_, mine, decided_);
    words_.flush(at.owner);
    if (decided_ != found_claim_) return false;
    // (3) Pairs with (1) and (2): a node that is not seen below sees the claim.
    world_->fence(std::memory_order_seq_cst);
    const bool may_succeed = is_free(at);
    const std::uint64_t outcome = claim_to(at.number, may_succeed ? succeeded : failed);
    words_.compare_and_swap(at.owner, &words::claim, mine, outcome, decided_);
    words_.flush(at.owner);
    return may_succeed && decided_ == mine;
  }

  /// Whether the other node is idle in that place and no node has registered there. The order of the two
  /// reads does not matter.
  [[nodiscard]] bool is_free(const place& kept) {
    return reads_idle(kept, next_of(kept.number), found_next_) && found_next_ == nobody_behind(kept.number);
  }

  /// Whether the other node is idle in that place. Also reads another of its words into `into`.
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

  /// Hands over to the node that came behind a claimed place before this node could replace that place.
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
