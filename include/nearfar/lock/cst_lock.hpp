/// \file
/// CST: a cohort lock whose ranks sleep when they have waited for long, for machines on which more ranks run
/// than there are processors; and its local lock alone.
///
/// Source: S. Kashyap, C. Min, T. Kim, "Scalable NUMA-aware blocking synchronization primitives", USENIX ATC
/// 2017. There a socket's part is allocated when the first thread of it comes; here memory that ranks share
/// is made by all of them when they make the lock, so that there is nothing to come later. There a count of
/// tasks on a processor decides about sleep, here a time. Those that lead their nodes wait for the lock above
/// awake, as nobody can wake a rank of another node. How the queue is kept is that of selective_queue.hpp.
///
/// Who waits looks for `spin`, then writes that it sleeps (1), and does until it is given the lock or
/// recalled (2). Who releases hands over to the first that is awake, and sets those before it aside: being
/// woken takes longer than many critical sections, and nobody has the lock meanwhile. When their turn comes
/// all of those are recalled, so that the rest of them is awake when it is given the lock. If all sleep, the
/// first is woken.
///
/// Fairness: a rank that sleeps is overtaken `max_local_passes` times at most for each of those that sleep
/// before it and are given the lock; those that are awake, first come, first served. Progress: an acquiring
/// rank waits for those that are in the queue, of which none can be passed over for ever.
///
/// Cost: no far operations but those of the lock above. Cache-line transfers: those of MCS, and at a release
/// the queue node of each rank that is looked at; handing over is an exchange where MCS stores. A rank that
/// sleeps makes a system call, and who wakes it another; it wakes each millisecond to drive MPI's progress.
/// Memory: 128 bytes of near memory for each rank.
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

namespace nearfar {

/// About as long as it takes to be woken, so that who spins in vain loses no more than it would have lost by
/// sleeping at once.
inline constexpr std::chrono::nanoseconds default_spin{50'000};

namespace detail {

/// Ranks that do not sleep.
template <world W>
class prefers_awake {
 public:
  using parameter = std::chrono::nanoseconds;  ///< how long one looks before it sleeps
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
      const std::optional<std::uint64_t> word = world_->await_until(world_->now() + spin_, given, is_given);
      if (word) return *word;
      std::uint64_t expected = not_given;
      // (1) What the rank has written before is released already, by its place in the queue; what was given
      // in the meantime is acquired below.
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
  /// Awake, it waits as before.
  template <typename Cell>
  void recall(Cell& given, per_rank& theirs) {
    std::uint64_t expected = asleep;
    if (given.compare_exchange(expected, not_given, std::memory_order_relaxed, std::memory_order_relaxed))
      wake_up(theirs);  // (2)
  }

 protected:
  static constexpr std::uint64_t asleep = 1;  ///< of a rank that has not been given anything

 private:
  template <typename Cell>
  [[nodiscard]] std::uint64_t sleep_until_told(const Cell& given, per_rank& own) {
    for (;;) {
      // Before the look, so that who changes the word after that changes what is slept on, too. Pairs with
      // (3).
      const std::uint32_t seen = own.woken.value.load(std::memory_order_acquire);
      const std::uint64_t now = given.load(std::memory_order_acquire);
      if (now != asleep) return now;
      park(*world_, own.woken, seen);
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

/// Exclusive lock for the ranks of one node, which sleep when they have waited for long. See the file's
/// comment.
template <world W>
using parking_lock = selective_queue<W, detail::prefers_awake<W>>;

/// The same for all ranks of a world: its third parameter is `max_local_passes` of a node, then come the
/// `max_local_passes` of those that are awake, and how long a rank spins.
template <world W>
using cst_lock = cohort_lock<d_mcs_lock<W, d_mcs_policy{.queued = participant::node}>, parking_lock<W>>;

}  // namespace nearfar
