/// \file Checks for every exclusive lock, in any world. All ranks make a check together. Each rank gets a
/// text with the fault that it found, or an empty one. It makes the same collective calls in both cases, so
/// that no rank waits for one that gave up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/kinds/locks/any_lock.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/lockable.hpp"
#include "tests/lock/guarded.hpp"
#include "tests/lock/jitter.hpp"

namespace nearfar::testing {

/// Makes the lock under test. Collective.
template <nearfar::world W>
using lock_maker = std::function<std::unique_ptr<bench::any_lock<W>>(W&, int home)>;

/// The size of a check.
struct effort {
  int rounds = 100;  ///< acquisitions of each rank
  std::uint32_t seed = 1;
  access how = access::plain;
};

/// The fault in what a lock says about an acquisition, given the rank that held it before.
template <nearfar::world W>
[[nodiscard]] std::string check_handover(const W& w, handover how, rank_word before) {
  const bool from_this_node = before != nobody && w.locality().same(level::node, w.rank(), to_rank(before));
  // A rank that may overtake may also come before the ranks to whom it has itself handed the lock over.
  if (how == handover::local && !from_this_node)
    return "hand-over: 'local', but the rank before was " + std::to_string(to_rank(before)) + "; ";
  if (how == handover::remote && (before == nobody || from_this_node))
    return "hand-over: 'remote', but the rank before was " + std::to_string(to_rank(before)) + "; ";
  return {};
}

/// All ranks at once, by lock and try_lock in random turns: exclusion, and truthful hand-overs.
template <nearfar::world W>
[[nodiscard]] std::string check_exclusion(W& w, bench::any_lock<W>& lock, guarded<W>& inside,
                                          const effort& much) {
  jitter timing(much.seed, w.rank());
  std::string complaint;
  w.barrier();
  for (int round = 0; round < much.rounds; ++round) {
    timing.pause();
    if (!(lock.has_try_lock() && timing.below(4) == 0 && lock.try_lock())) lock.lock();
    const handover how = lock.last_handover();
    const rank_word before = inside.visit(timing);
    inside.note(how == handover::local);
    if (complaint.empty()) complaint = check_handover(w, how, before);
    lock.unlock();
  }
  return complaint + inside.violations();
}

/// The same check with one lock for each home rank in turn.
template <nearfar::world W>
[[nodiscard]] std::string check_homes(W& w, const lock_maker<W>& make, effort much) {
  std::string complaint;
  much.rounds = std::max(3, much.rounds / w.size());
  for (int home = 0; home < w.size(); ++home) {
    const auto lock = make(w, home);
    guarded<W> inside(w, much.how);
    complaint += check_exclusion(w, *lock, inside, much);
  }
  return complaint;
}

/// An uncontended acquisition reports that it was uncontended. No rank waits for what one rank leaves behind.
template <nearfar::world W>
[[nodiscard]] std::string check_alone(W& w, bench::any_lock<W>& lock) {
  std::string complaint;
  for (int turn = 0; turn < w.size(); ++turn) {
    for (int again = 0; again < 2 && turn == w.rank(); ++again) {
      lock.lock();
      const handover how = lock.last_handover();
      if (how != handover::uncontended && how != handover::unknown)
        complaint = "hand-over: waited for a lock that was free; ";
      lock.unlock();
    }
    w.barrier();
  }
  return complaint;
}

/// try_lock: takes a free lock, fails while another rank holds it, and leaves no trace when it fails.
template <nearfar::world W>
[[nodiscard]] std::string check_try_lock(W& w, bench::any_lock<W>& lock, const effort& much) {
  std::string complaint;
  guarded<W> inside(w, much.how);
  jitter timing(much.seed, w.rank());
  for (int holder = 0; holder < w.size(); ++holder) {
    bool held = false;
    if (w.rank() == holder) {
      held = lock.try_lock();
      if (!held) complaint += "try_lock: failed on a free lock; ";
      if (held && lock.last_handover() != handover::uncontended)
        complaint += "try_lock: says that it waited; ";
    }
    w.barrier();
    for (int attempt = 0; attempt < 3 && w.rank() != holder; ++attempt) {
      if (!lock.try_lock()) continue;
      complaint += "try_lock: took a lock that another rank held; ";
      lock.unlock();
    }
    w.barrier();
    if (held) lock.unlock();
    w.barrier();
    // All ranks at once would find here a place in the queue that a failed attempt has left behind.
    lock.lock();
    inside.visit(timing);
    lock.unlock();
    w.barrier();
  }
  return complaint + inside.violations();
}

/// Each rank holds up to three of several locks at once and gives them up in any order. The queues, counters
/// and wake-ups of two locks must never be confused.
template <nearfar::world W>
[[nodiscard]] std::string check_many_held(W& w, const lock_maker<W>& make, const effort& much) {
  constexpr std::size_t locks_count = 6;
  std::vector<std::unique_ptr<bench::any_lock<W>>> locks;
  for (std::size_t i = 0; i < locks_count; ++i) locks.push_back(make(w, static_cast<int>(i) % w.size()));
  guarded_counts<W, locks_count> counts(w, much.how);
  jitter timing(much.seed, w.rank());
  w.barrier();
  for (int round = 0; round < much.rounds; ++round) {
    std::vector<std::size_t> chosen;
    // Every rank takes locks in ascending order, so that no cycle of ranks can wait for each other.
    for (std::size_t i = timing.below(2); i < locks_count && chosen.size() < 3; i += 1 + timing.below(3))
      chosen.push_back(i);
    for (const std::size_t i : chosen) {
      locks[i]->lock();
      counts.visit(i, timing);
    }
    for (std::size_t left = chosen.size(); left != 0; --left) {
      const auto next = chosen.begin() + timing.below(static_cast<std::uint32_t>(left));
      counts.visit(*next, timing);
      locks[*next]->unlock();
      chosen.erase(next);
    }
  }
  return counts.violations();
}

/// Locks are made and destroyed again and again, so that each finds in its memory what the last has left.
/// With `any_order` the ranks destroy them in different orders.
template <nearfar::world W>
[[nodiscard]] std::string check_remade(W& w, const lock_maker<W>& make, int times, bool any_order,
                                       const effort& much) {
  std::string complaint;
  for (int time = 0; time < times; ++time) {
    auto first = make(w, time % w.size());
    auto second = make(w, 0);
    guarded<W> inside_first(w, much.how);
    guarded<W> inside_second(w, much.how);
    complaint +=
        check_exclusion(w, *first, inside_first, {3, much.seed + static_cast<std::uint32_t>(time), much.how});
    complaint += check_exclusion(w, *second, inside_second, {3, much.seed, much.how});
    if (any_order && (w.rank() + time) % 2 == 0) {
      first.reset();
      second.reset();
    } else {
      second.reset();
      first.reset();
    }
  }
  return complaint;
}

/// Hundreds of locks in one world. Each rank goes through them from another start and comes across the
/// others.
template <nearfar::world W, std::size_t Locks>
[[nodiscard]] std::string check_crowd(W& w, const lock_maker<W>& make, const effort& much) {
  std::vector<std::unique_ptr<bench::any_lock<W>>> locks;
  locks.reserve(Locks);
  for (std::size_t i = 0; i < Locks; ++i) locks.push_back(make(w, static_cast<int>(i) % w.size()));
  guarded_counts<W, Locks> counts(w, much.how);
  jitter timing(much.seed, w.rank());
  w.barrier();
  const std::size_t start = timing.below(16);
  for (std::size_t i = 0; i < Locks; ++i) {
    const std::size_t at = (start + i) % Locks;
    locks[at]->lock();
    counts.visit(at, timing);
    locks[at]->unlock();
  }
  return counts.violations();
}

}  // namespace nearfar::testing
