/// \file
/// How a channel is closed while one thread sends without a lock: the sender says that it is about to send
/// (1), and then looks whether the channel is open (2); who closes says so (3), and then waits until the
/// sender is not at it (4). By the fences between one of the two sees the other.
///
/// Source: E. Dijkstra's and T. Dekker's two flags, in the asymmetric form of D. Dice, H. Huang, M. Yang,
/// "Asymmetric Dekker synchronization", 2001: the sender, who does this for each message, pays nothing for
/// its fence, and who closes, once, makes all threads pass one.
///
/// Cost: two stores to a line that only the sender and who closes touch, and the load of a word that is in
/// every cache. Memory: two lines.
#pragma once

#include <atomic>
#include <cstdint>

#include "nearfar/core/layout.hpp"

namespace nearfar::detail {

/// Where senders have a lock (`is_locked`) all of this is under it, but for `is_closed`.
template <typename Memory, bool is_locked>
class closing_gate {
 public:
  explicit closing_gate(Memory& memory) : memory_(&memory), words_(memory, 1) {}

  /// Of the sender, before it looks whether there is room. If not, it is closed.
  [[nodiscard]] bool is_open() {
    const std::uint32_t seen = words_[0].state.load(std::memory_order_relaxed);
    return seen == open || (seen == closing && settled() == open);
  }
  /// Of the sender. If not, it is closed; otherwise it is not before `leave`.
  [[nodiscard]] bool enter() {
    if constexpr (is_locked) return words_[0].state.load(std::memory_order_relaxed) == open;
    do {
      words_[0].sending.store(1, std::memory_order_relaxed);  // (1)
      memory_->light_fence();
      if (words_[0].state.load(std::memory_order_relaxed) == open) return true;  // (2)
      leave();
    } while (settled() == open);
    return false;
  }
  void leave() {
    if constexpr (!is_locked) words_[0].sending.store(0, std::memory_order_release);  // (5)
  }

  /// Once it is seen everything that was sent is seen, too, until it is open again.
  [[nodiscard]] bool is_closed() const {
    return words_[0].state.load(std::memory_order_acquire) == closed;  // pairs with (6)
  }
  /// Whether this call did it.
  bool set(bool closes) {
    auto& state = words_[0].state;
    for (;;) {
      std::uint32_t seen = settled();
      if ((seen == closed) == closes) return false;
      if constexpr (is_locked) {
        state.store(closes ? closed : open, std::memory_order_release);  // (6)
        return true;
      } else {
        if (!state.compare_exchange(seen, closes ? closing : open, std::memory_order_relaxed,
                                    std::memory_order_relaxed))
          continue;  // (3)
        if (closes) {
          memory_->heavy_fence();
          memory_->await(words_[0].sending,
                         [](std::uint32_t now) { return now == 0; });  // (4) pairs with (5)
          state.store(closed, std::memory_order_release);              // (6)
        }
        return true;
      }
    }
  }

 private:
  static constexpr std::uint32_t open = 0;
  static constexpr std::uint32_t closing = 1;
  static constexpr std::uint32_t closed = 2;

  struct words {
    alignas(cache_line) typename Memory::template near<std::uint32_t> sending{};
    alignas(cache_line) typename Memory::template near<std::uint32_t> state{};
  };
  [[nodiscard]] std::uint32_t settled() {
    return memory_->await(words_[0].state, [](std::uint32_t now) { return now != closing; });
  }

  Memory* memory_;
  typename Memory::template array<words> words_;
};

}  // namespace nearfar::detail
