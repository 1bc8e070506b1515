/// \file
/// The queue of waiting participants in far memory on which the MCS locks over RMA are built: a tail word at
/// the home rank, and for each participant a queue node with two `next` words.
///
/// Source: the distributed MCS queue of P. Schmid, M. Besta, T. Hoefler, "High-Performance Distributed RMA
/// Locks", HPDC 2016, doi 10.1145/2907294.2907323. It follows J. Mellor-Crummey, M. Scott, "Algorithms for
/// scalable synchronization on shared-memory multiprocessors", 1991, doi 10.1145/103727.103729. Variants are
/// from A. Uffmann's master thesis, LMU Munich, 2022, sections 3.4, 4.3 and 5.4.1. The two words are
/// nearfar's.
///
/// Why two words. The published queues have one `next` word, which its owner P resets before each
/// acquisition. The successor S writes its name there. P may see the name, hand over, come back and reset the
/// word before S's flush has returned. Until the flush returns, S's write is not complete: MPI leaves the
/// effect of such a reset undefined, and libraries that copy a word by two stores bring S's name back after
/// the reset. P then hands over to a rank that does not wait. (An accumulate by S has the same problem:
/// accumulates exclude each other only, and the reset is not one.)
///
/// Here the words take turns. Let P's acquisitions be numbered. Acquisition k uses word k mod 2, which P's
/// entry in the tail names. P resets that word, if it was used, just before P enters the tail. Its last use
/// was acquisition k-2, in which some S wrote to it. At that time S was behind P in the queue, and P's
/// acquisition k-1 came behind S, first come, first served. S waits for the lock only after its flush has
/// returned. So
///   S's flush returns  ->  S acquires  ->  S releases  ->  ...  ->  P acquires (k-1)  ->  P resets,
/// where each arrow is program order or a hand-over. Where the queue was empty in between, the arrow is the
/// tail's compare-and-swap by the last participant to leave and P's swap or compare-and-swap that reads it.
/// The reset therefore happens after the completion of every earlier write, and before the next write, whose
/// origin has read P's entry in the tail. An attempt that fails (`enqueue_if_empty`) does not count: the turn
/// stays.
/// For a participant that is a node the argument is the same. S is then the rank of its node that registered
/// and that waits, and the lock that admits the ranks of P's node one at a time orders what they do. For an
/// element of several nodes, too: each access to its words is complete before the rank hands that lock on.
#pragma once

#include <cstdint>

#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/participant.hpp"
#include "nearfar/memory/nearest_access.hpp"

namespace nearfar {

/// How a rank accesses a queue node on its own node: through memory, or through RMA like any other.
enum class node_access : std::uint8_t { direct, rma };

/// The operation by which a participant registers behind its predecessor. No other rank writes that word at
/// that time, so the cheapest, `put`, suffices.
enum class registration : std::uint8_t { fetch_and_op, accumulate, put };

/// How many `next` words a participant has; see the file's comment.
enum class next_words : std::uint8_t {
  in_turn,  ///< two
  single,   ///< one, as published: unsound, kept for comparison
};

/// The parameters of a `far_queue`.
struct far_queue_policy {
  participant queued = participant::rank;
  next_words words = next_words::in_turn;
  registration registers_by = registration::put;
  /// Whether a registering participant flushes at once. Without, MPI may begin its write at any later flush
  /// of the same target, or never: as first published, kept for comparison.
  bool flushes_registration = true;
  /// Whether a leaving participant looks for a successor before it tries to empty the queue. That saves a
  /// compare-and-swap at the home rank whenever there is a successor.
  bool looks_early = true;
  /// How the participant reads its queue node.
  node_access reads = node_access::direct;
  /// How the participant resets its queue node; no other rank resets it. By RMA it is reset for every
  /// acquisition, as published; in place only if it was used.
  node_access resets = node_access::direct;
};

/// Cost in far operations (each with its flush): enqueue 1 atomic at the home rank, and 1 write to the
/// predecessor if there is one; leave 1 atomic at the home rank if nobody is behind, else none.
template <world W, far_queue_policy Policy = far_queue_policy{}>
class far_queue {
 public:
  static constexpr participant queued = Policy.queued;

  /// Collective. `home` keeps the tail; `announced` is the rank that a predecessor gets to know as its
  /// successor.
  far_queue(W& w, int home, int announced) : far_queue(w, home, announced, owner_of<queued>(w)) {}
  /// The same, with the words of this rank's participant at `owner`. The participant may be any part of a
  /// node, or an element of several nodes, whose queue node all ranks read and reset by RMA.
  far_queue(W& w, int home, int announced, int owner)
      : world_(&w),
        words_(w),
        memory_(w, checked_rank(w, owner)),
        home_(checked_rank(w, home)),
        owner_(owner),
        announced_(to_word(announced)) {}

  /// Makes the following calls those of the participant whose words are at `owner`, a rank of this node, and
  /// of which a predecessor gets to know `announced`. For locks whose ranks join on behalf of others.
  void act_for(int owner, int announced)
    requires(queued == participant::node)
  {
    owner_ = owner;
    announced_ = to_word(announced);
  }

  /// Joins at the end. Returns the predecessor's owner, or `nobody` at the head.
  [[nodiscard]] rank_word enqueue() {
    return enqueue([](int /*predecessor*/) {});
  }
  /// The same. Calls `expect` with the predecessor's owner before the predecessor can know of this
  /// participant.
  template <typename Expect>
  [[nodiscard]] rank_word enqueue(Expect expect) {
    const turn_state state = next_turn();
    const std::uint64_t entry = entry_in(state);
    std::uint64_t predecessor = nobody;
    words_.swap(home_, &words::tail, entry, predecessor);
    words_.flush(home_);
    remember(state);
    if (predecessor == nobody) return nobody;
    expect(owner_of_entry(predecessor));
    register_at(owner_of_entry(predecessor), next_in(predecessor % turns));
    return predecessor / turns;
  }

  /// Joins if the queue is empty. Returns whether it was.
  [[nodiscard]] bool enqueue_if_empty() {
    const turn_state state = next_turn();
    if (compare_and_swap_tail(nobody, entry_in(state)) != nobody) return false;
    remember(state);
    return true;
  }

  /// Leaves the head. Returns the rank that the successor announced, which the caller must notify, or
  /// `nobody` if the queue is empty now. Waits for a successor that is about to register.
  [[nodiscard]] rank_word leave() {
    if constexpr (Policy.looks_early)
      if (const rank_word successor = leave_if_followed(); successor != nobody) return successor;
    const std::uint64_t entry = entry_in(state());
    if (compare_and_swap_tail(entry, nobody) == entry) return nobody;
    return noted(await_successor());
  }

  /// Leaves like `leave` if a successor has registered by now. Otherwise stays at the head and returns
  /// `nobody`.
  [[nodiscard]] rank_word leave_if_followed() {
    const rank_word successor = look();
    return successor == nobody ? nobody : noted(successor);
  }

  /// Whether no participant is in the queue. 1 fetch at home.
  [[nodiscard]] bool is_empty() {
    std::uint64_t tail = nobody;
    words_.fetch(home_, &words::tail, tail);
    words_.flush(home_);
    return tail == nobody;
  }

  // An entry that several ranks hold one after the other. The rank that enters the queue hands its entry over
  // together with what the queue admits it to, and another rank leaves in its stead. That rank cannot tell
  // the owner whether a word was used, so the owner resets it in any case: its next turn in that word has the
  // same place in the order above.

  /// The entry of this rank, which has just entered the queue.
  [[nodiscard]] std::uint64_t shared_entry()
    requires(queued == participant::rank && Policy.words == next_words::in_turn)
  {
    remember(state().using_now());
    return entry_in(state());
  }
  /// As `look`, for the entry of another rank: 1 get, or none if that rank is on this node.
  [[nodiscard]] rank_word look_for(std::uint64_t entry) {
    return access_to(entry).read(words_, owner_of_entry(entry), next_in(entry % turns));
  }
  /// As `leave`, for the entry of another rank.
  [[nodiscard]] rank_word leave_for(std::uint64_t entry) {
    if (const rank_word successor = look_for(entry); successor != nobody) return successor;
    if (compare_and_swap_tail(entry, nobody) == entry) return nobody;
    return access_to(entry).await(words_, owner_of_entry(entry), next_in(entry % turns), is_there);
  }

  /// Completes what this rank has written to the words of `owner`.
  void complete_at(int owner) { words_.flush(owner); }

  /// The rank announced by the successor that has registered by now, or `nobody`.
  [[nodiscard]] rank_word look() {
    const next_word next = next_in(state().turn());
    if constexpr (Policy.reads == node_access::direct) {
      return words_.read_direct(owner_, next);
    } else {
      rank_word successor = nobody;
      if constexpr (registers_atomically)
        words_.fetch(owner_, next, successor);
      else
        words_.get(owner_, next, successor);
      words_.flush(owner_);
      return successor;
    }
  }

 private:
  struct alignas(slot_bytes) words {
    far<std::uint64_t> tail;  ///< nobody, or the owner and the turn of the last participant
    alignas(slot_bytes) far<rank_word> next;
    far<rank_word> other_next;
    far<std::uint64_t> state;  ///< the bits of `turn_state`, of a participant that is a node
    far<std::uint64_t> claim;  ///< written to get the slot's cache line for writing
  };
  using next_word = far<rank_word> words::*;
  static constexpr std::uint64_t turns = 2;

  /// The state of a participant: which word's turn it is, and which words were written since their reset.
  struct turn_state {
    std::uint64_t bits = 0;

    [[nodiscard]] std::uint64_t turn() const noexcept { return bits % turns; }
    [[nodiscard]] bool is_used(std::uint64_t word) const noexcept { return (bits & used(word)) != 0; }
    [[nodiscard]] turn_state using_now() const noexcept { return {bits | used(turn())}; }
    /// The state in the other word's turn, with that word unused.
    [[nodiscard]] turn_state switched() const noexcept {
      const std::uint64_t next = 1 - turn();
      return {(bits & used(turn())) | next};
    }

   private:
    [[nodiscard]] static std::uint64_t used(std::uint64_t word) noexcept { return turns << word; }
  };

  [[nodiscard]] turn_state state() {
    if constexpr (Policy.words == next_words::single)
      return {};
    else
      return {memory_.load(words_, owner_, &words::state)};
  }
  void remember(turn_state state) {
    if constexpr (Policy.words == next_words::in_turn)
      memory_.store(words_, owner_, &words::state, state.bits);
  }
  [[nodiscard]] static next_word next_in(std::uint64_t turn) noexcept {
    return turn == 0 ? &words::next : &words::other_next;
  }
  [[nodiscard]] std::uint64_t entry_in(turn_state of) const noexcept {
    return to_word(owner_) * turns + of.turn();
  }

  /// The state of the acquisition that is about to begin. Its word is reset.
  [[nodiscard]] turn_state next_turn() {
    if constexpr (Policy.words == next_words::single) {
      reset(&words::next);
      return {};
    } else {
      // A read first would transfer the slot from the node's last rank twice, for reading and then for
      // writing.
      if constexpr (queued == participant::node)
        if (memory_.is_in_place()) words_.write_direct(owner_, &words::claim, nobody);
      const turn_state last = state();
      const turn_state next = last.switched();
      if (Policy.resets == node_access::rma || last.is_used(next.turn())) reset(next_in(next.turn()));
      return next;
    }
  }

  /// Notes that the word of this turn is used. Returns `successor`, which has written its name there.
  [[nodiscard]] rank_word noted(rank_word successor) {
    remember(state().using_now());
    return successor;
  }

  void reset(next_word next) {
    if constexpr (Policy.resets == node_access::direct) {
      words_.write_direct(owner_, next, nobody);
    } else {
      // In the same way as the successor writes it: a word that is written by accumulates must not be put to.
      if constexpr (registers_atomically)
        words_.accumulate(owner_, next, nobody, far_op::replace);
      else
        words_.put(owner_, next, nobody);
      words_.flush(owner_);
    }
  }

  void register_at(int predecessor, next_word next) {
    if constexpr (Policy.registers_by == registration::put) {
      words_.put(predecessor, next, announced_);
    } else if constexpr (Policy.registers_by == registration::accumulate) {
      words_.accumulate(predecessor, next, announced_, far_op::replace);
    } else {
      words_.swap(predecessor, next, announced_, ignored_);
    }
    if constexpr (Policy.flushes_registration) words_.flush(predecessor);
  }

  [[nodiscard]] std::uint64_t compare_and_swap_tail(const std::uint64_t& expected,
                                                    const std::uint64_t& desired) {
    std::uint64_t seen = nobody;
    words_.compare_and_swap(home_, &words::tail, expected, desired, seen);
    words_.flush(home_);
    return seen;
  }

  static constexpr auto is_there = [](rank_word next) { return next != nobody; };

  [[nodiscard]] static int owner_of_entry(std::uint64_t entry) noexcept { return to_rank(entry / turns); }
  [[nodiscard]] nearest_access<W, far_read::get> access_to(std::uint64_t entry) {
    return {*world_, owner_of_entry(entry)};
  }

  [[nodiscard]] rank_word await_successor() {
    const next_word next = next_in(state().turn());
    if constexpr (Policy.reads == node_access::direct) {
      return world_->await_direct(words_, owner_, next, is_there);
    } else if constexpr (registers_atomically) {
      return world_->await_fetch(words_, owner_, next, is_there);
    } else {
      return world_->await_get(words_, owner_, next, is_there);
    }
  }

  static constexpr bool registers_atomically = Policy.registers_by != registration::put;

  W* world_;
  typename W::template far_segment<words> words_;
  participant_memory<W, queued> memory_;
  int home_;
  int owner_;
  rank_word announced_;
  rank_word ignored_ = nobody;
};

}  // namespace nearfar
