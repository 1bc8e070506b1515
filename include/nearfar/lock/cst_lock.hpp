/// \file
/// CST: a cohort lock whose waiting ranks sleep after a while, for machines that run more ranks than they
/// have processors; and its local lock alone.
///
/// Source: S. Kashyap, C. Min, T. Kim, "Scalable NUMA-aware blocking synchronization primitives", USENIX ATC
/// 2017. Two things differ. There a socket's part is allocated when its first thread comes; here all ranks
/// make the shared memory when they make the lock. There a count of tasks on a processor decides about sleep;
/// here a time does. Ranks that wait for the lock above on behalf of their node stay awake, because no rank
/// can wake a rank of another node. The queue is that of selective_queue.hpp.
///
/// A waiting rank polls for `spin`, then writes that it sleeps (1), and sleeps until it is given the lock or
/// recalled (2). The holder hands over to the first rank that is awake, and sets the sleeping ranks before
/// that one aside: waking a rank takes longer than many critical sections, and no rank would have the lock
/// meanwhile. When the turn of the ranks set aside comes, the holder recalls all of them, so that the later
/// ones are awake when they are given the lock. If all ranks sleep, the holder wakes the first.
///
/// Fairness: for each sleeping rank that is before it and is given the lock, a sleeping rank is overtaken at
/// most `max_local_passes` times; among ranks that are awake, first come, first served. Progress: an
/// acquiring rank waits for the ranks in the queue, none of which can be passed over for ever.
///
/// Cost: no far operations but those of the lock above. Cache-line transfers: those of MCS, and at a release
/// the queue node of each rank that the holder examines; a hand-over is an exchange where MCS stores. A rank
/// that sleeps makes a system call, and the rank that wakes it another; a sleeping rank wakes each
/// millisecond to drive MPI's progress. Memory: 128 bytes of near memory for each rank.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "nearfar/core/agreement.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/cohort_lock.hpp"
#include "nearfar/lock/d_mcs_lock.hpp"
#include "nearfar/lock/selective_queue.hpp"
#include "nearfar/memory/parking.hpp"
#include "nearfar/memory/waiting.hpp"

namespace nearfar {

/// About as long as waking a rank takes: a rank that spins in vain loses no more than it would have lost by
/// sleeping at once.
inline constexpr std::chrono::nanoseconds default_spin{50'000};

namespace detail {

/// Prefers ranks that do not sleep.
template <near_world W>
class prefers_awake {
 public:
  using parameter = std::chrono::nanoseconds;  ///< the time for which a rank polls before it sleeps
  static constexpr std::chrono::nanoseconds standard = default_spin;
  static constexpr bool recalls = true;
  struct per_rank {
    parking_word<W> woken{};
  };

  prefers_awake(W& w, std::chrono::nanoseconds spin) : world_(&w), spin_(spin) {
    if (spin < std::chrono::nanoseconds::zero()) throw misuse("spin must not be negative");
  }

  [[nodiscard]] static named_value named(std::chrono::nanoseconds spin) { return {"spin_ns", spin.count()}; }
  template <typename Cell>
  [[nodiscard]] bool prefers(int /*rank*/, const Cell& given) const {
    return given.load(std::memory_order_relaxed) != asleep;
  }
  template <typename Cell>
  [[nodiscard]] std::uint64_t await(Cell& given, per_rank& own) {
    const auto is_given = [](std::uint64_t word) { return word != not_given; };
    for (;;) {
      const std::optional<std::uint64_t> word =
          world_->await_until(time_for_waiting(*world_) + spin_, given, is_given);
      if (word) return *word;
      std::uint64_t expected = not_given;
      // (1) Relaxed: the rank's earlier writes are released already, by its place in the queue, and
      // `sleep_until_told` acquires what was given in the meantime.
      static_cast<void>(
          given.compare_exchange(expected, asleep, std::memory_order_relaxed, std::memory_order_relaxed));
      const std::uint64_t now = sleep_until_told(given, own);
      if (is_given(now)) return now;
    }
  }
  template <typename Cell>
  void give(Cell& given, per_rank& theirs, std::uint64_t word) {
    if (given.exchange(word, std::memory_order_release) == asleep) wake_up(theirs);  // (2)
  }
  /// A recalled rank is awake and polls as before.
  template <typename Cell>
  void recall(Cell& given, per_rank& theirs) {
    std::uint64_t expected = asleep;
    if (given.compare_exchange(expected, not_given, std::memory_order_relaxed, std::memory_order_relaxed))
      wake_up(theirs);  // (2)
  }

 protected:
  static constexpr std::uint64_t asleep = 1;  ///< of a rank that has not been given the lock

 private:
  template <typename Cell>
  [[nodiscard]] std::uint64_t sleep_until_told(const Cell& given, per_rank& own) {
    [[maybe_unused]] ongoing_wait lasts{{"a lock"}};
    for (;;) {
      // Loaded before `given`, so that a rank that changes `given` later also changes the word that this rank
      // sleeps on. Pairs with (3).
      const std::uint32_t seen = own.woken.value.load(std::memory_order_acquire);
      const std::uint64_t now = given.load(std::memory_order_acquire);
      if (now != asleep) return now;
      park(*world_, own.woken, seen);
      if constexpr (is_hardware<W>)
        world_->rest(lasts);
      else
        world_->rest();
    }
  }
  void wake_up(per_rank& theirs) {
    theirs.woken.value.fetch_add(1, std::memory_order_release);  // (3) after the change of the word
    unpark(*world_, theirs.woken, 1);
  }

  W* world_;
  std::chrono::nanoseconds spin_;
};

}  // namespace detail

/// Exclusive lock for the ranks of one node, which sleep after waiting for a while. See the file's comment.
template <near_world W>
using parking_lock = selective_queue<W, detail::prefers_awake<W>>;

/// The same for all ranks of a world. Constructor arguments from the third on: `max_local_passes` of a node,
/// `max_local_passes` of the ranks that are awake, and how long a rank spins.
template <near_world W>
using cst_lock = cohort_lock<d_mcs_lock<W, d_mcs_policy{.queued = participant::node}>, parking_lock<W>>;

}  // namespace nearfar
