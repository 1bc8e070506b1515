// The judges of the critical section see a rank that waits from its first step on, a gap between two holds of
// one rank, and readers that never share.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "nearfar/checker/checker.hpp"
#include "nearfar/checker/lock_program.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/engine/world.hpp"
#include "nearfar/lock/rw_spin_lock.hpp"
#include "nearfar/topology/spec.hpp"

namespace nearfar::checker {
namespace {

using engine::world;

struct alignas(cache_line) words {
  world::near<std::uint64_t> held{};
};

/// A lock that any waiting rank may get.
class spinning {
 public:
  explicit spinning(world& w) : world_(&w), words_(w, 1), held_(&words_.at(0).held) {}
  void lock() {
    while (held_->exchange(1, std::memory_order_acquire) != 0)
      world_->await(*held_, [](std::uint64_t now) { return now == 0; });
  }
  void unlock() { held_->store(0, std::memory_order_release); }

 private:
  world* world_;
  world::near_array<words> words_;
  world::near<std::uint64_t>* held_;
};

/// A right lock, of which others replace a function by a wrong one.
class right {
 public:
  explicit right(world& w) : of_(w, 0) {}
  void lock() { of_.lock(); }
  void unlock() { of_.unlock(); }
  void lock_shared() { of_.lock_shared(); }
  void unlock_shared() { of_.unlock_shared(); }
  bool try_lock_shared() { return of_.try_lock_shared(); }
  void unlock_and_lock_shared() { of_.unlock_and_lock_shared(); }
  bool try_unlock_shared_and_lock() { return of_.try_unlock_shared_and_lock(); }

 protected:
  rw_spin_lock<world> of_;
};
struct downgrades_with_a_gap : right {
  using right::right;
  void unlock_and_lock_shared() {
    unlock();
    lock_shared();
  }
};
struct upgrades_with_a_gap : right {
  using right::right;
  bool try_unlock_shared_and_lock() {
    unlock_shared();
    lock();
    return true;
  }
};
/// Gives up what it holds where the upgrade fails.
struct drops_a_failed_upgrade : right {
  using right::right;
  bool try_unlock_shared_and_lock() {
    if (right::try_unlock_shared_and_lock()) return true;
    right::unlock_shared();
    is_dropped_ = true;
    return false;
  }
  void unlock_shared() {
    if (!std::exchange(is_dropped_, false)) right::unlock_shared();
  }

 private:
  bool is_dropped_ = false;
};
/// Lets only one reader in by an attempt.
struct attempts_alone : right {
  using right::right;
  bool try_lock_shared() { return is_alone_ = of_.try_lock(); }
  void unlock_shared() { std::exchange(is_alone_, false) ? unlock() : right::unlock_shared(); }

 private:
  bool is_alone_ = false;
};

template <typename Lock>
[[nodiscard]] report check_rw(std::vector<rw_script> scripts, const overtaking_limits& limits = {}) {
  const auto ranks = static_cast<int>(scripts.size());
  return check(rw_program(
                   topology_spec::parse("node:2").place(ranks), std::move(scripts),
                   [](world& w) { return std::make_unique<Lock>(w); }, limits),
               {});
}
template <typename Lock>
[[nodiscard]] std::string fault_of(std::vector<rw_script> scripts, const overtaking_limits& limits = {}) {
  const report result = check_rw<Lock>(std::move(scripts), limits);
  if (!result.found) return result.complete ? "none" : "none before the limit";
  return std::string(name(result.found->what));
}

TEST(overtaking, counts_for_the_first_acquisition_of_a_rank) {
  const auto of_ranks = [](int ranks) {
    return lock_program(
        topology_spec::parse("node:1").place(ranks), 1,
        [](world& w) { return std::make_unique<spinning>(w); }, bypass_bound::fifo);
  };
  EXPECT_FALSE(check(of_ranks(2), {}).found) << "nobody is there to be overtaken by";
  const report three = check(of_ranks(3), {});
  ASSERT_TRUE(three.found);
  EXPECT_EQ(three.found->what, fault::bypass);
}

TEST(overtaking, counts_for_ranks_that_downgrade_and_upgrade) {
  EXPECT_EQ(fault_of<right>({"dd", "ww"}, {.writers_past_writer = 0}), "bypass");
  EXPECT_EQ(fault_of<right>({"u", "www"}, {.writers_past_reader = 0}), "bypass");
  EXPECT_EQ(fault_of<right>({"dd", "ww"}), "none");
}

TEST(holds, may_have_no_gap) {
  for (const std::vector<rw_script>& scripts :
       {std::vector<rw_script>{"d", "w"}, {"u", "w"}, {"u", "u"}, {"u", "r", "w"}, {"d", "d"}, {"d", "r"}})
    EXPECT_EQ(fault_of<right>(scripts), "none") << scripts[0] << ' ' << scripts[1];
  EXPECT_EQ(fault_of<downgrades_with_a_gap>({"d", "w"}), "exclusion");
  EXPECT_EQ(fault_of<upgrades_with_a_gap>({"u", "w"}), "exclusion");
  EXPECT_EQ(fault_of<upgrades_with_a_gap>({"u", "u"}), "exclusion");
  EXPECT_EQ(fault_of<drops_a_failed_upgrade>({"u", "r", "w"}), "order");
}

TEST(readers, have_to_share_by_whatever_they_read) {
  EXPECT_EQ(fault_of<right>({"R", "R"}), "none");
  EXPECT_EQ(fault_of<attempts_alone>({"R", "R"}), "unreached");
}

TEST(scripts, are_one_for_each_rank) {
  const auto make = [](world& w) { return std::make_unique<right>(w); };
  const locality three = topology_spec::parse("node:2").place(3);
  for (const std::vector<rw_script>& scripts : {std::vector<rw_script>{"w", "w"}, {"w", "w", "w", "w"}})
    EXPECT_THROW(static_cast<void>(rw_program(three, scripts, make)), misuse);
}

}  // namespace
}  // namespace nearfar::checker
