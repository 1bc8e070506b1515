/// \file
/// How a channel is closed: under the lock of those who send, or while one thread sends without a lock. That
/// one counts its message (1), and then looks whether the channel is open (2). Who closes says so (3), looks
/// at the count (4), and says that it has (5): what is counted there is sent, and what is counted later its
/// sender withdraws (7), while nobody opens the channel (6). By the fences between, a sender that finds it
/// open has counted in time.
///
/// Who receives what is counted looks at the count between two looks at the state (8, 9). If it was open all
/// that time, what is counted is sent: what was withdrawn before is not counted any more, and who closes
/// later has seen the same count, or a later one. Who is shown each message after (2) needs no look at the
/// count but that of who closed (10): a message that was counted in time and is not shown yet is sent all the
/// same. Who opens it again (11) tells a sender that finds it open (12) what was received while it was
/// closed: it must not take it for as full as it was before.
///
/// Source: E. Dijkstra's and T. Dekker's two flags, in the asymmetric form of D. Dice, H. Huang, M. Yang,
/// "Asymmetric Dekker synchronization", 2001: the sender, who does this for each message, pays nothing for
/// its fence, and who closes, once, makes all threads pass one. The two looks are those of a sequence lock.
///
/// Cost: without a lock a sender, and a receiver that looks at the count, load twice a word that is in every
/// cache. Memory: a line.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "nearfar/core/layout.hpp"

namespace nearfar::detail {

/// Where senders have a lock (`is_locked`) all of this is under it, but for `look_at` and `is_closed`. The
/// count is a cell of the buffer's, which this changes.
template <typename Memory, bool is_locked>
class closing_gate {
  using counter = typename Memory::template near<std::uint64_t>;

 public:
  explicit closing_gate(Memory& memory) : memory_(&memory), words_(memory) {}

  /// Of the sender, before it makes a message.
  [[nodiscard]] bool is_open() {
    const std::uint64_t seen = state().load(std::memory_order_acquire);  // (12) pairs with (11)
    return phase_of(seen) == open || (phase_of(seen) == closing && phase_of(settled()) == open);
  }
  /// Of the sender, who has made one message after so many. If not, it is closed.
  [[nodiscard]] bool count_one(counter& count, std::uint64_t before) {
    count.store(before + 1, std::memory_order_release);  // (1)
    if constexpr (is_locked) return true;
    memory_->light_fence();
    return phase_of(state().load(std::memory_order_relaxed)) == open || !withdraw(count, before);  // (2)
  }

  struct sent_so_far {
    std::uint64_t count;
    bool is_closed;  ///< these are all, until it is open again
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
  /// How many messages were sent, if it is closed.
  [[nodiscard]] std::optional<std::uint64_t> sent_if_closed() const {
    std::uint64_t seen = state().load(std::memory_order_acquire);  // (10) pairs with (5)
    if (phase_of(seen) == closing) seen = settled();
    if (phase_of(seen) == open) return std::nullopt;
    return words_[0].all.load(std::memory_order_acquire);  // with (4)
  }
  /// Once it is seen everything that was sent is seen, too, until it is open again.
  [[nodiscard]] bool is_closed() const {
    return phase_of(state().load(std::memory_order_acquire)) >= closed;  // pairs with (5)
  }

  /// Whether this call did it.
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
  /// Whether this call did it.
  bool reopen() {
    std::uint64_t from = 0;
    return move_on(from, closed, phases - closed);
  }

 private:
  /// The state is a phase, and above it a number of the period in which it was open.
  static constexpr std::uint64_t open = 0;
  static constexpr std::uint64_t closing = 1;
  static constexpr std::uint64_t closed = 2;
  static constexpr std::uint64_t withdrawing = 3;  ///< closed, and its sender is at (7)
  static constexpr std::uint64_t phases = 4;

  struct alignas(cache_line) words {
    counter state{};
    counter all{};  ///< that were sent, as long as it is closed
  };

  [[nodiscard]] static constexpr std::uint64_t phase_of(std::uint64_t state) noexcept {
    return state % phases;
  }
  [[nodiscard]] counter& state() const { return words_[0].state; }
  [[nodiscard, gnu::noinline]] std::uint64_t settled() const {
    return memory_->await(
        state(), [](std::uint64_t now) { return phase_of(now) != closing && phase_of(now) != withdrawing; });
  }

  /// Not if it was counted in time, or if it is open again.
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
  /// From that phase. Whether this call did it, and from which state.
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
