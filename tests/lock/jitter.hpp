/// \file Adversarial timing without sleeping: pauses of random length from a seed, so that a failure is
/// repeatable.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <random>

namespace nearfar::testing {

/// One rank's source of pauses and of other random choices.
class jitter {
 public:
  jitter(std::uint32_t seed, int rank) : engine_(seed * 7919U + static_cast<std::uint32_t>(rank) + 1U) {}

  /// Does mostly nothing, often a few dozen instructions, and sometimes lets another thread run. Also keeps
  /// the compiler from joining the plain accesses before and after it.
  void pause() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    switch (below(8)) {
      case 0:
        sched_yield();
        break;
      case 1:
      case 2:
        for (std::uint32_t turns = below(200); turns != 0; --turns)
          std::atomic_signal_fence(std::memory_order_seq_cst);
        break;
      default:
        break;
    }
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }

  /// A number from 0 to `bound` - 1.
  [[nodiscard]] std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(engine_()) % bound;
  }

 private:
  std::minstd_rand engine_;
};

}  // namespace nearfar::testing
