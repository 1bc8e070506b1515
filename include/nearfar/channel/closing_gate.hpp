/// \file
/// How a channel is closed: under the senders' lock, or, if there is one sender without a lock, while it
/// sends.
///
/// Without a lock the sender counts its message (1), and then checks whether the channel is open (2). The
/// closer sets the state to closing (3), reads the count (4), and sets the state to closed (5). The messages
/// in that count are sent. If the sender counted its message later, it withdraws it (7), and keeps the
/// channel from being reopened meanwhile (6). The fences between these steps ensure that a sender that finds
/// the channel open has counted in time.
///
/// One kind of receiver reads the count, between two reads of the state (8, 9). If both reads find the same
/// open state, the counted messages are sent: a message withdrawn before is no longer counted, and a later
/// closer reads this count or a greater one. Another kind sees stamps, which the sender sets after (2), and
/// reads only the closer's count (10). A message counted in time counts as sent, even before its stamp is
/// visible. Reopening (11) shows to a sender that finds the channel open (12) which messages were received
/// while it was closed; otherwise the sender might take the channel to be as full as before.
///
/// Source: E. Dijkstra's and T. Dekker's two flags, in the asymmetric form of D. Dice, H. Huang, M. Yang,
/// "Asymmetric Dekker synchronization", 2001. The sender, which does this for each message, pays nothing for
/// its fence. The closer, which does it once, makes all threads pass a fence. The two reads of the state are
/// those of a sequence lock.
///
/// Cost: without a lock, a sender, and a receiver that reads the count, load twice a word that is in every
/// cache. Memory: one cache line.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "nearfar/core/layout.hpp"

namespace nearfar::detail {

/// If senders have a lock (`is_locked`), all members except `look_at` and `is_closed` are called under it.
/// The count is a cell of the buffer that this class writes.
template <typename Memory, bool is_locked>
class closing_gate {
  using counter = typename Memory::template near<std::uint64_t>;

 public:
  explicit closing_gate(Memory& memory) : memory_(&memory), words_(memory) {}

  /// Called by the sender before it makes a message.
  [[nodiscard]] bool is_open() {
    const std::uint64_t seen = state().load(std::memory_order_acquire);  // (12) pairs with (11)
    return phase_of(seen) == open || (phase_of(seen) == closing && phase_of(settled()) == open);
  }
  /// Called by the sender after it has made a message, `before` being the number of earlier ones. Returns
  /// false if the channel is closed and the message is not sent.
  [[nodiscard]] bool count_one(counter& count, std::uint64_t before) {
    count.store(before + 1, std::memory_order_release);  // (1)
    if constexpr (is_locked) return true;
    memory_->light_fence();
    return phase_of(state().load(std::memory_order_relaxed)) == open || !withdraw(count, before);  // (2)
  }

  struct sent_so_far {
    std::uint64_t count;
    bool is_closed;  ///< `count` is final until the channel is open again
  };
  [[nodiscard]] sent_so_far look_at(const counter& count) {
    if constexpr (is_locked) {
      const bool is_all = is_closed();
      return {.count = count.load(std::memory_order_acquire), .is_closed = is_all};  // pairs with (1)
    } else {
      for (;;) {
        std::uint64_t seen = state().load(std::memory_order_acquire);  // (8) pairs with (5, 7)
        if (phase_of(seen) == closing || phase_of(seen) == withdrawing) seen = settled();
        if (phase_of(seen) == closed)
          return {.count = words_[0].all.load(std::memory_order_acquire), .is_closed = true};  // with (4)
        const std::uint64_t now = count.load(std::memory_order_acquire);                       // with (1)
        memory_->light_fence();
        if (state().load(std::memory_order_relaxed) == seen)
          return {.count = now, .is_closed = false};  // (9)
      }
    }
  }
  /// The number of messages sent, if the channel is closed.
  [[nodiscard]] std::optional<std::uint64_t> sent_if_closed() const {
    std::uint64_t seen = state().load(std::memory_order_acquire);  // (10) pairs with (5)
    if (phase_of(seen) == closing) seen = settled();
    if (phase_of(seen) == open) return std::nullopt;
    return words_[0].all.load(std::memory_order_acquire);  // with (4)
  }
  /// A caller that sees true also sees everything that was sent, until the channel is open again.
  [[nodiscard]] bool is_closed() const {
    return phase_of(state().load(std::memory_order_acquire)) >= closed;  // pairs with (5)
  }

  /// Returns whether this call closed it.
  bool close(const counter& count) {
    std::uint64_t from = 0;
    if (!move_on(from, open, is_locked ? closed : closing)) return false;  // (3), or (5)
    if constexpr (!is_locked) {
      memory_->heavy_fence();
      words_[0].all.store(count.load(std::memory_order_acquire), std::memory_order_release);  // (4) with (1)
      state().store(from + closed, std::memory_order_release);                                // (5)
    }
    return true;
  }
  /// Returns whether this call opened it.
  bool reopen() {
    std::uint64_t from = 0;
    return move_on(from, closed, phases - closed);
  }

 private:
  /// The state is a phase; its higher bits number the open periods.
  static constexpr std::uint64_t open = 0;
  static constexpr std::uint64_t closing = 1;
  static constexpr std::uint64_t closed = 2;
  static constexpr std::uint64_t withdrawing = 3;  ///< closed, and the sender is between (6) and (7)
  static constexpr std::uint64_t phases = 4;

  struct alignas(cache_line) words {
    counter state{};
    counter all{};  ///< messages sent, valid while closed
  };

  [[nodiscard]] static constexpr std::uint64_t phase_of(std::uint64_t state) noexcept {
    return state % phases;
  }
  [[nodiscard]] counter& state() const { return words_[0].state; }
  [[nodiscard, gnu::noinline]] std::uint64_t settled() const {
    return memory_->await(
        state(), [](std::uint64_t now) { return phase_of(now) != closing && phase_of(now) != withdrawing; });
  }

  /// Returns false if the message was counted in time, or if the channel is open again.
  [[nodiscard, gnu::noinline, gnu::cold]] bool withdraw(counter& count, std::uint64_t before) {
    for (;;) {
      std::uint64_t seen = settled();
      if (phase_of(seen) == open || before < words_[0].all.load(std::memory_order_relaxed)) return false;
      if (state().compare_exchange(seen, seen - closed + withdrawing, std::memory_order_relaxed,
                                   std::memory_order_relaxed)) {  // (6)
        count.store(before, std::memory_order_relaxed);
        state().store(seen, std::memory_order_release);  // (7)
        return true;
      }
    }
  }
  /// Leaves `phase`. Returns whether this call did it; `from` is the state that it found.
  [[nodiscard]] bool move_on(std::uint64_t& from, std::uint64_t phase, std::uint64_t steps) {
    for (;;) {
      from = settled();
      if (phase_of(from) != phase) return false;
      if constexpr (is_locked) {
        state().store(from + steps, std::memory_order_release);
        return true;
      } else if (state().compare_exchange(from, from + steps, std::memory_order_release,  // (11)
                                          std::memory_order_relaxed)) {
        return true;
      }
    }
  }

  Memory* memory_;
  typename Memory::template few<words, 1> words_;
};

}  // namespace nearfar::detail
