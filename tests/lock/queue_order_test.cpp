// The order of acquisitions where a test can tell it for certain: the test sees a rank wait before the holder
// lets go.
#include <gtest/gtest.h>

#include <atomic>
#include <concepts>
#include <cstdint>
#include <string>

#include "nearfar/lock/cohort_lock.hpp"
#include "nearfar/lock/d_mcs_lock.hpp"
#include "nearfar/lock/dash_lock.hpp"
#include "nearfar/lock/mcs_lock.hpp"
#include "nearfar/memory/threads/world.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/lock/jitter.hpp"

namespace {

using nearfar::handover;
using nearfar::threads::world;
namespace threads = nearfar::threads;

threads::options shaped(const std::string& topology) {
  threads::options chosen;
  chosen.topology = nearfar::topology_spec::parse(topology);
  return chosen;
}

/// Whether a rank is registered behind the holder of the lock.
template <typename Lock>
bool has_waiter(Lock& lock) {
  if constexpr (requires { lock.is_wanted(); })
    return lock.is_wanted();
  else
    return !lock.alone();
}

template <typename Lock>
class fifo_lock : public ::testing::Test {};

using fifo_locks = ::testing::Types<
    nearfar::mcs_lock<world>, nearfar::d_mcs_lock<world>,
    nearfar::d_mcs_lock<world, nearfar::d_mcs_policy{.by = nearfar::handover_by::accumulate}>,
    nearfar::d_mcs_lock<world, nearfar::d_mcs_policy{.by = nearfar::handover_by::put_byte}>,
    nearfar::dash_lock<world>,
    nearfar::dash_lock<world, nearfar::dash_policy{.stage = nearfar::dash_stage::direct_reads}>>;
TYPED_TEST_SUITE(fifo_lock, fifo_locks);

// Bound 0: a rank that asks again after it has seen a waiting rank comes after that rank, whose acquisition
// reports that it waited.
TYPED_TEST(fifo_lock, lets_nobody_overtake_a_waiting_rank) {
  threads::run(2, [](world& w) {
    TypeParam lock(w);
    for (int round = 0; round < 200; ++round) {
      static std::uint64_t entered = 0;  // guarded by the lock
      const int holder = round % 2;
      if (w.rank() == holder) {
        lock.lock();
        entered = 0;
        w.barrier();
        while (!has_waiter(lock)) w.delay(std::chrono::nanoseconds{1});
        lock.unlock();
        lock.lock();
        EXPECT_EQ(entered, 1) << "the holder overtook the waiter in round " << round;
        lock.unlock();
      } else {
        w.barrier();
        lock.lock();
        entered = 1;
        EXPECT_EQ(lock.last_handover(), handover::local);
        lock.unlock();
      }
      w.barrier();
    }
  });
}

TYPED_TEST(fifo_lock, says_where_the_waiting_rank_got_it_from) {
  if constexpr (!std::same_as<TypeParam, nearfar::mcs_lock<world>>) {
    threads::run(
        4,
        [](world& w) {
          TypeParam lock(w);
          for (int holder = 0; holder < 4; ++holder) {
            for (int waiter = 0; waiter < 4; ++waiter) {
              if (waiter == holder) continue;
              if (w.rank() == holder) lock.lock();
              w.barrier();
              if (w.rank() == holder) {
                EXPECT_EQ(lock.last_handover(), handover::uncontended);
                while (!has_waiter(lock)) w.delay(std::chrono::nanoseconds{1});
                lock.unlock();
              }
              if (w.rank() == waiter) {
                lock.lock();
                EXPECT_EQ(lock.last_handover(),
                          holder / 2 == waiter / 2 ? handover::local : handover::remote);
                lock.unlock();
              }
              w.barrier();
            }
          }
        },
        shaped("node:2"));
  }
}

// ---- the limit of a cohort's local passes ----

/// The default global lock, which tells the test when another node waits. One cohort at a time.
class watched_global
    : public nearfar::dash_lock<world, nearfar::dash_policy{.queued = nearfar::participant::node}> {
 public:
  explicit watched_global(world& w, int home) : dash_lock(w, home) { of_this_thread = this; }
  ~watched_global() { of_this_thread = nullptr; }
  static thread_local watched_global* of_this_thread;
};
thread_local watched_global* watched_global::of_this_thread = nullptr;

// Ranks 0 and 1 pass the lock to and fro on their node. The test sees rank 2 wait on the other node.
TEST(cohort_lock, lets_at_most_max_local_passes_overtake_another_node) {
  for (const int limit : {1, 2, 3, 20}) {
    std::atomic<bool> other_came = false;
    bool armed = false;  // these two are guarded by the lock
    int overtook = 0;
    threads::run(
        4,
        [&](world& w) {
          nearfar::cohort_lock<watched_global, nearfar::mcs_lock<world>> lock(w, 0, limit);
          if (w.rank() == 0) lock.lock();
          w.barrier();
          if (w.rank() == 2) {
            lock.lock();
            EXPECT_TRUE(armed);
            EXPECT_LE(overtook, limit);
            EXPECT_EQ(lock.last_handover(), handover::remote);
            other_came.store(true, std::memory_order_relaxed);
            lock.unlock();
          } else if (w.rank() < 2) {
            if (w.rank() == 0) {
              while (!watched_global::of_this_thread->is_wanted()) w.delay(std::chrono::nanoseconds{1});
              armed = true;
              lock.unlock();
            }
            // The number of turns is bounded, so that a lock that never gives up fails above instead of
            // hanging.
            for (int turn = 0; turn < 5000 && !other_came.load(std::memory_order_relaxed); ++turn) {
              lock.lock();
              if (armed && !other_came.load(std::memory_order_relaxed)) ++overtook;
              lock.unlock();
            }
          }
          w.barrier();
        },
        shaped("node:2"));
  }
}

// A waiting rank of the node does get the lock: the lock must not keep the bound above by never handing over
// within the node.
TEST(cohort_lock, passes_the_lock_on_within_the_node) {
  threads::run(
      4,
      [](world& w) {
        nearfar::default_cohort_lock<world> lock(w);
        int passed_on = 0;
        // Chance decides whether a rank waits. Among all these turns one rank is certain to wait, unless the
        // lock never hands over within the node.
        nearfar::testing::jitter timing(1, w.rank());
        for (int round = 0; round < 2000; ++round) {
          lock.lock();
          timing.pause();
          passed_on += static_cast<int>(lock.last_handover() == handover::local);
          lock.unlock();
        }
        const auto all = w.sum_over_ranks({passed_on});
        EXPECT_GT(all[0], 0);
      },
      shaped("node:2"));
}

}  // namespace
