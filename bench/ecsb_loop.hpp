/// \file
/// The timed loop of the empty critical section benchmark.
///
/// Source: A. Uffmann, master thesis, LMU Munich, 2022, sections 4 and 4.2.2.
#pragma once

#include <chrono>
#include <cstdint>

#include "bench/exclusion_check.hpp"
#include "bench/timed_loop.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/lock/lockable.hpp"

namespace nearfar::bench {

/// What one rank counted. Only `checked` and `followed_other` are of the warm-up.
struct ecsb_counts : loop_counts {
  std::int64_t iterations = 0;
  std::int64_t contended = 0;
  std::int64_t local_handovers = 0;
  std::int64_t checked = 0;         ///< acquisitions of the warm-up, each of which counted
  std::int64_t followed_other = 0;  ///< of those, how many followed another rank's acquisition
  bool knows_contention = true;
};

/// Every how many acquisitions of the measured part count in the node's counter. Each costs a cache-line
/// transfer beside the lock's own, so counting all would measure that line: the critical section of this
/// benchmark is empty.
inline constexpr std::int64_t check_interval = 16;
/// The same for the counter of all ranks, which costs far operations where there are several nodes.
inline constexpr std::int64_t far_check_interval = 256;

/// Acquires and releases until the time is over, which is looked at after each round; the warm-up does not
/// count, but is where every acquisition is checked. Collective.
template <world W, typename Lock>
ecsb_counts ecsb_loop(W& w, Lock& lock, exclusion_check<W>& check, const run_times& times) {
  ecsb_counts counts;
  timed_loop(
      w, times, counts,
      [&] {
        lock.lock();
        ++counts.checked;
        if (check.count_everywhere()) ++counts.followed_other;
        lock.unlock();
      },
      [&](std::chrono::nanoseconds) {
        lock.lock();
        if (counts.iterations % check_interval == 0) check.count_in_node();
        if (counts.iterations % far_check_interval == 0) check.count_everywhere();
        const handover how = lock.last_handover();
        lock.unlock();
        ++counts.iterations;
        counts.contended += static_cast<std::int64_t>(how != handover::uncontended);
        counts.local_handovers += static_cast<std::int64_t>(how == handover::local);
        counts.knows_contention = counts.knows_contention && how != handover::unknown;
        return w.now();
      });
  return counts;
}

}  // namespace nearfar::bench
