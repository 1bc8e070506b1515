/// \file
/// The timed loop of the benchmarks of reader-writer locks.
///
/// Source: P. Schmid, M. Besta, T. Hoefler, "High-Performance Distributed RMA Locks", HPDC 2016, doi
/// 10.1145/2907294.2907323, evaluation: benchmarks LB, ECSB, SOB, WCSB, WARB.
#pragma once

#include <chrono>
#include <cstdint>

#include "bench/draws.hpp"
#include "bench/results/latency_histogram.hpp"
#include "bench/timed_loop.hpp"
#include "nearfar/core/world.hpp"

namespace nearfar::bench {

/// The work of a rank inside the critical section, and after it.
enum class rw_work : std::uint8_t {
  none,
  one_access,   ///< a reader gets a word at home, a writer puts it
  work_inside,  ///< 1 to 4 us, at random
  wait_after,   ///< 1 to 4 us, at random
};

/// The deeds of each rank from the common start.
struct rw_plan {
  run_times times{};
  double writer_share = 0;  ///< 0 to 1; each acquisition draws whether it reads or writes
  rw_work work = rw_work::none;
  std::uint64_t seed = 1;
};

/// Tests whether writers excluded all other ranks, and whether readers saw no half-done write. Two words at
/// home are equal when no writer is in the critical section. A writer increments both, one after the other,
/// by get and put.
template <world W>
class rw_check {
 public:
  /// Collective.
  explicit rw_check(W& w, int home = 0) : world_(&w), words_(w), home_(home) {}

  /// The caller must hold the lock exclusively.
  void write() {
    const std::uint64_t count = read_word(&pair::first) + 1;
    write_word(&pair::first, count);
    write_word(&pair::second, count);
    ++writes_;
  }
  /// The caller must share the lock.
  void read() {
    const std::uint64_t second = read_word(&pair::second);
    if (read_word(&pair::first) != second) ++torn_;
    ++reads_;
  }
  /// One access to a word that is not checked.
  void put(const std::uint64_t& value) { write_word(&pair::accessed, value); }
  void get() { static_cast<void>(read_word(&pair::accessed)); }

  /// Faults of all ranks so far: lost writes, and reads that found two different words. Collective; no rank
  /// may be in the critical section.
  [[nodiscard]] std::int64_t faults() {
    world_->barrier();
    const auto at_home = world_->rank() == home_
                             ? static_cast<std::int64_t>(words_.read_direct(home_, &pair::first))
                             : std::int64_t{0};
    const auto sums = world_->sum_over_ranks({writes_ - at_home, torn_});
    return sums[0] + sums[1];
  }
  [[nodiscard]] std::int64_t checked() const noexcept { return reads_ + writes_; }

 private:
  struct alignas(slot_bytes) pair {
    far<std::uint64_t> first;
    far<std::uint64_t> second;
    far<std::uint64_t> accessed;
  };

  [[nodiscard]] std::uint64_t read_word(far<std::uint64_t> pair::*field) {
    std::uint64_t value = 0;
    words_.get(home_, field, value);
    words_.flush(home_);
    return value;
  }
  void write_word(far<std::uint64_t> pair::*field, const std::uint64_t& value) {
    words_.put(home_, field, value);
    words_.flush(home_);
  }

  W* world_;
  typename W::template far_segment<pair> words_;
  int home_;
  std::int64_t writes_ = 0;
  std::int64_t reads_ = 0;
  std::int64_t torn_ = 0;
};

/// Counts of one rank in the measured part.
struct rw_counts : loop_counts {
  std::int64_t reads = 0;
  std::int64_t writes = 0;
  latency_histogram read_latency{};  ///< from before lock to after unlock, including the work inside
  latency_histogram write_latency{};
};

/// One acquisition in this many is checked in the measured part, which costs far operations at home. Odd, so
/// that it coincides with no pattern.
inline constexpr std::int64_t rw_check_interval = 255;

/// Acquires and releases until the time is over. Every acquisition is checked in the warm-up, which is not
/// measured. Collective.
template <world W, typename Lock>
rw_counts rw_loop(W& w, Lock& lock, rw_check<W>& check, const rw_plan& plan) {
  using std::chrono::nanoseconds;
  rw_counts counts;
  draws random(plan.seed, w.rank());
  const auto some_time = [&] {
    constexpr double shortest = 1000;
    constexpr double longest = 4000;
    return nanoseconds(static_cast<std::int64_t>(shortest + (longest - shortest) * random.share()));
  };
  const auto once = [&](bool is_writer, bool checks) {
    if (is_writer)
      lock.lock();
    else
      lock.lock_shared();
    if (plan.work == rw_work::work_inside) w.delay(some_time());
    if (plan.work == rw_work::one_access) is_writer ? check.put(random.next()) : check.get();
    if (checks) is_writer ? check.write() : check.read();
    if (is_writer)
      lock.unlock();
    else
      lock.unlock_shared();
  };

  timed_loop(
      w, plan.times, counts, [&] { once(random.share() < plan.writer_share, true); },
      [&](nanoseconds before) {
        const bool is_writer = random.share() < plan.writer_share;
        once(is_writer, (counts.reads + counts.writes) % rw_check_interval == 0);
        nanoseconds now = w.now();
        (is_writer ? counts.write_latency : counts.read_latency).add(now - before);
        ++(is_writer ? counts.writes : counts.reads);
        if (plan.work == rw_work::wait_after) {
          w.delay(some_time());
          now = w.now();
        }
        return now;
      });
  return counts;
}

}  // namespace nearfar::bench
