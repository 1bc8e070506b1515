/// \file
/// The word in a waiting participant's far memory by which its predecessor hands a lock over, with a value.
///
/// Source: the status words of P. Schmid, M. Besta, T. Hoefler, "High-Performance Distributed RMA Locks",
/// HPDC 2016, doi 10.1145/2907294.2907323, written by MPI_Accumulate; by an MPI_Put of one byte in A.
/// Uffmann's master thesis, LMU Munich, 2022, section 3.4. Handing over by sum is nearfar's.
///
/// As published, the waiting participant resets the word, waits until it is no longer "wait", goes on, and
/// resets it again before its next acquisition. At that time the write that the participant saw need not be
/// complete: its origin may stay in the flush for as long as it likes, and nothing that the participant does
/// before the reset waits for the origin. So the old grant can come back after the reset, and two ranks hold
/// the lock. `far_queue` repairs the same problem by an order, but there is no such order here, because a
/// rank that has handed over may never wait again. One byte does not help: a library that copies it by one
/// store brings nothing back, but MPI leaves the outcome of the reset undefined all the same.
///
/// By sum the word is never reset. Only accumulates write it, and they exclude each other. A grant adds its
/// value, which is not 0. The waiting participant compares the total with the one it saw last: the difference
/// is the grant's value, since there is at most one grant for each wait.
#pragma once

#include <cstdint>
#include <type_traits>

#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/far_queue.hpp"
#include "nearfar/lock/participant.hpp"

namespace nearfar {

/// The far write that hands a lock over.
enum class handover_by : std::uint8_t {
  sum,         ///< accumulate, to a word that is never reset
  accumulate,  ///< accumulate that replaces, as published: unsound, kept for comparison
  put,         ///< put of a word: unsound, kept for comparison
  put_byte,    ///< put of one byte, as in the thesis: unsound, kept for comparison
};

/// The parameters of a `far_handover`.
struct far_handover_policy {
  participant queued = participant::rank;
  handover_by by = handover_by::sum;
  /// Whether the write is flushed at once. Without, MPI may begin it at any later flush of the same target,
  /// or never: as first published, kept for comparison.
  bool flushes = true;
  /// How the participant polls its word.
  node_access waits = node_access::direct;
  /// How the participant writes its word, and reads what it has written, where it does.
  node_access writes = node_access::direct;
};

/// Cost in far operations (each with its flush): 1 write for a hand-over; by sum no others.
template <world W, far_handover_policy Policy = far_handover_policy{}>
class far_handover {
  static constexpr bool is_byte = Policy.by == handover_by::put_byte;
  static_assert(!is_byte || (Policy.waits == node_access::direct && Policy.writes == node_access::direct),
                "ranks access a byte of their own node in place");

 public:
  /// A value that is handed over.
  using value_type = std::conditional_t<is_byte, std::uint8_t, std::uint64_t>;

  /// Collective.
  explicit far_handover(W& w) : far_handover(w, owner_of<Policy.queued>(w)) {}
  /// The same, with the words of this rank's participant at `owner`.
  far_handover(W& w, int owner) : world_(&w), words_(w), seen_(w, owner), kept_(w, owner), owner_(owner) {}

  /// Must be called before a predecessor can know the participant.
  void prepare() {
    if constexpr (Policy.by != handover_by::sum) write(wait);
  }

  /// Waits for the predecessor's grant; returns its value.
  [[nodiscard]] std::uint64_t await() {
    const std::uint64_t before =
        Policy.by == handover_by::sum ? seen_.load(words_, owner_, &words::seen) : wait;
    const std::uint64_t now = await_other_than(static_cast<value_type>(before));
    if constexpr (Policy.by == handover_by::sum) seen_.store(words_, owner_, &words::seen, now);
    return now - before;
  }

  /// Hands over to the participant whose word is at `owner`. `value` must not be 0, and must live until the
  /// write is flushed.
  void give(int owner, const value_type& value) {
    if constexpr (Policy.by == handover_by::put || is_byte)
      words_.put(owner, &words::status, value);
    else
      words_.accumulate(owner, &words::status, value,
                        Policy.by == handover_by::sum ? far_op::sum : far_op::replace);
    if constexpr (Policy.flushes) words_.flush(owner);
  }

  /// Remembers a value for the participant. As published, in the word in which it was handed over.
  void keep(const std::uint64_t& value) {
    if constexpr (Policy.by == handover_by::sum)
      kept_.store(words_, owner_, &words::kept, value);
    else
      write(value);
  }
  /// The value of the last `keep`.
  [[nodiscard]] std::uint64_t kept() {
    if constexpr (Policy.by == handover_by::sum) return kept_.load(words_, owner_, &words::kept);
    if constexpr (Policy.writes == node_access::direct) return words_.read_direct(owner_, &words::status);
    std::uint64_t value = wait;
    words_.get(owner_, &words::status, value);
    words_.flush(owner_);
    return value;
  }

 private:
  struct alignas(slot_bytes) words {
    std::conditional_t<is_byte, far_byte, far<std::uint64_t>> status;
    far<std::uint64_t> seen;  ///< the total at the last grant, of a participant that is a node
    far<std::uint64_t> kept;  ///< by sum, where the status alone tells nothing
  };
  // An origin of far operations, so it must be an object.
  static constexpr value_type wait = 0;

  void write(const value_type& value) {
    if constexpr (Policy.writes == node_access::direct) {
      words_.write_direct(owner_, &words::status, value);
    } else {
      words_.put(owner_, &words::status, value);
      words_.flush(owner_);
    }
  }

  [[nodiscard]] value_type await_other_than(value_type before) {
    const auto is_given = [before](value_type value) { return value != before; };
    if constexpr (Policy.waits == node_access::direct)
      return world_->await_direct(words_, owner_, &words::status, is_given);
    else if constexpr (Policy.by == handover_by::put)
      return world_->await_get(words_, owner_, &words::status, is_given);
    else
      return world_->await_fetch(words_, owner_, &words::status, is_given);
  }

  W* world_;
  typename W::template far_segment<words> words_;
  participant_memory<W, Policy.queued> seen_;  ///< the total at the last grant
  participant_memory<W, Policy.queued> kept_;
  int owner_;
};

}  // namespace nearfar
