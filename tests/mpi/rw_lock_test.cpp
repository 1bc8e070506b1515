// The reader-writer lock of MPI: which ranks are in together, and that writers are alone.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <mutex>
#include <shared_mutex>

#include "nearfar/core/checks.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/lock/mpi_rw_lock.hpp"
#include "nearfar/memory/mpi/world.hpp"
#include "tests/lock/jitter.hpp"
#include "tests/mpi/environment.hpp"

namespace nearfar::testing {
namespace {

using mpi::world;

/// A writer writes the words one after the other. Readers must find them equal.
struct alignas(slot_bytes) pair_of_words {
  far<std::uint64_t> first;
  far<std::uint64_t> second;
};

/// The data of the lock, at one rank.
class guarded_pair {
 public:
  guarded_pair(world& w, int home) : words_(w), home_(home) {}

  [[nodiscard]] std::uint64_t first() { return get(&pair_of_words::first); }
  [[nodiscard]] bool is_whole() {
    const std::uint64_t first = get(&pair_of_words::first);
    return get(&pair_of_words::second) == first;
  }
  void add_one(jitter& timing) {
    const std::uint64_t sum = first() + 1;
    put(&pair_of_words::first, sum);
    timing.pause();
    put(&pair_of_words::second, sum);
  }

 private:
  using field = far<std::uint64_t> pair_of_words::*;

  std::uint64_t get(field of) {
    std::uint64_t value = 0;
    words_.get(home_, of, value);
    words_.flush(home_);
    return value;
  }
  void put(field of, const std::uint64_t& value) {
    words_.put(home_, of, value);
    words_.flush(home_);
  }

  world::far_segment<pair_of_words> words_;
  int home_;
};

TEST(lock_epochs, are_shared_by_all_ranks_at_once) {
  world& w = common_world();
  for (const int home : {0, w.size() - 1}) {
    world::lock_epoch epoch(w, home);
    for (int round = 0; round < 3; ++round) {
      epoch.begin_shared();
      w.barrier();
      epoch.end();
      w.barrier();
      // The ranks come one after the other, in any order.
      epoch.begin();
      epoch.end();
      w.barrier();
    }
  }
}

TEST(mpi_rw_locks, let_readers_in_together) {
  world& w = common_world();
  mpi_rw_lock<world> lock(w, w.size() - 1);
  for (int round = 0; round < 3; ++round) {
    const std::shared_lock hold(lock);
    EXPECT_EQ(lock.last_handover(), handover::unknown);
    w.barrier();
  }
  w.barrier();
}

TEST(mpi_rw_locks, keep_readers_from_what_is_being_written) {
  world& w = common_world();
  for (const int home : {0, w.size() - 1}) {
    mpi_rw_lock<world> lock(w, home);
    guarded_pair pair(w, 0);
    jitter timing(7, w.rank());
    std::int64_t written = 0;
    std::int64_t torn = 0;
    const int rounds = often(w);
    for (int round = 0; round < rounds; ++round) {
      timing.pause();
      if (timing.below(3) == 0) {
        const std::lock_guard hold(lock);
        pair.add_one(timing);
        ++written;
      } else {
        const std::shared_lock hold(lock);
        if (!pair.is_whole()) ++torn;
      }
    }
    EXPECT_EQ(torn, 0);
    w.barrier();
    const std::int64_t all = w.sum_over_ranks({written}).front();
    EXPECT_EQ(static_cast<std::int64_t>(pair.first()), all);
    w.barrier();
  }
}

TEST(mpi_rw_locks, are_held_in_one_way_at_a_time) {
  world& w = common_world();
  if constexpr (!checked_build) GTEST_SKIP() << "in checked builds";
  mpi_rw_lock<world> lock(w);
  EXPECT_THROW(lock.unlock_shared(), not_held);
  lock.lock_shared();
  EXPECT_THROW(lock.lock(), already_held);
  EXPECT_THROW(lock.lock_shared(), already_held);
  EXPECT_THROW(lock.unlock(), not_held);
  lock.unlock_shared();
  lock.lock();
  EXPECT_THROW(lock.unlock_shared(), not_held);
  lock.unlock();
  w.barrier();
}

}  // namespace
}  // namespace nearfar::testing
