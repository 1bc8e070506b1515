// The locks and benchmarks in the simulation, as they are.
#include <gtest/gtest.h>

#include "bench/catalogue.hpp"
#include "bench/ecsb.hpp"
#include "bench/rw_benchmarks.hpp"
#include "bench/rw_catalogue.hpp"
#include "bench/upb.hpp"
#include "nearfar/lock/shared_lockable.hpp"
#include "tests/adversarial/broken_locks.hpp"
#include "tests/simulation/simulated.hpp"

namespace nearfar::simulation::testing {
namespace {

using bench::lock_entry;
using bench::sample;

sample ecsb_of(const lock_entry& entry, const machine& on, const std::string& spec, int ranks) {
  sample result;
  run(on, placed(spec, ranks), [&](world& w) {
    sample mine = bench::run_ecsb(w, entry, {}, std::chrono::microseconds(500));
    if (w.rank() == 0) result = std::move(mine);
  });
  return result;
}

template <typename Make>
lock_entry entry_of(Make make) {
  lock_entry entry{
      .name = "under_test", .summary = "", .paper = "", .fairness = "", .cost = "", .parameters = {}};
  std::get<lock_entry::factory_in<world>>(entry.factories) = make;
  return entry;
}

TEST(simulated_locks, exclude) {
  int tried = 0;
  for (const lock_entry& entry : bench::catalogue::instance().entries()) {
    ASSERT_TRUE(entry.exists_in<world>()) << entry.name;
    for (const executor by : {executor::nic, executor::target}) {
      for (const auto& [spec, ranks] : {std::pair("node:2 core:4", 8), std::pair("node:1 numa:2 core:2", 4),
                                        std::pair("node:4 core:1", 4)}) {
        if (entry.one_node_only && std::string(spec).find("node:1") == std::string::npos) continue;
        SCOPED_TRACE(entry.name + " on " + spec + (by == executor::nic ? " by nic" : " by target"));
        const sample result = ecsb_of(entry, plain_machine(by), spec, ranks);
        EXPECT_TRUE(result.verified);
        EXPECT_GT(result.iterations, 30);
        ++tried;
      }
    }
  }
  EXPECT_GE(tried, 40);
}

TEST(simulated_locks, that_let_everybody_in_are_found_out) {
  const lock_entry broken = entry_of([](world& w, int, const bench::lock_parameters&) {
    return bench::make_any_lock<nearfar::testing::no_lock<world>>(w);
  });
  EXPECT_FALSE(ecsb_of(broken, plain_machine(), "node:2 core:4", 8).verified);
  EXPECT_FALSE(ecsb_of(broken, plain_machine(), "node:1 core:4", 4).verified);
}

/// Lets everybody in.
class open_house : public shared_lockable<open_house, world> {
 public:
  explicit open_house(world& w) : open_house::shared_lockable(w, {}) {}
  static handover acquire() { return handover::uncontended; }
  static void release() {}
  static handover acquire_shared() { return handover::uncontended; }
  static void release_shared() {}
};

TEST(simulated_locks, that_let_readers_and_writers_meet_are_found_out) {
  bench::rw_lock_entry broken{
      .name = "under_test", .summary = "", .paper = "", .fairness = "", .cost = "", .parameters = {}};
  std::get<bench::rw_lock_entry::factory_in<world>>(broken.factories) =
      [](world& w, int, const bench::rw_lock_parameters&) { return bench::make_any_rw_lock<open_house>(w); };
  for (const char* spec : {"node:2 core:4", "node:1 core:4"}) {
    sample result;
    run(plain_machine(), placed(spec, 4), [&](world& w) {
      const sample mine = bench::run_rw(w, "rw_ecsb", broken, {}, std::chrono::microseconds(500), 0.5,
                                        bench::rw_work::none, 1);
      if (w.rank() == 0) result = mine;
    });
    EXPECT_FALSE(result.verified) << spec;
  }
}

TEST(simulated_locks, whose_swap_is_torn_are_found_out) {
  using nearfar::testing::flaw;
  const auto is_right = [](const auto& make) {
    try {
      return ecsb_of(entry_of(make), plain_machine(), "node:2 core:4", 8).verified;
    } catch (const engine::deadlock&) {
      return false;
    }
  };
  EXPECT_TRUE(is_right([](world& w, int home, const bench::lock_parameters&) {
    return bench::make_any_lock<nearfar::testing::flawed_mcs_lock<world, flaw::none>>(w, home);
  }));
  EXPECT_FALSE(is_right([](world& w, int home, const bench::lock_parameters&) {
    return bench::make_any_lock<nearfar::testing::flawed_mcs_lock<world, flaw::torn_swap>>(w, home);
  }));
  EXPECT_FALSE(is_right([](world& w, int home, const bench::lock_parameters&) {
    return bench::make_any_lock<nearfar::testing::flawed_mcs_lock<world, flaw::no_grant_reset>>(w, home);
  }));
}

TEST(simulated_locks, wait_within_their_node_less_than_between_nodes) {
  const lock_entry& cohort = *bench::catalogue::instance().find("cohort");
  const lock_entry& flat = *bench::catalogue::instance().find("d_mcs");
  const double with = ecsb_of(cohort, plain_machine(), "node:2 core:8", 16).ns_per_acquisition();
  const double without = ecsb_of(flat, plain_machine(), "node:2 core:8", 16).ns_per_acquisition();
  EXPECT_LT(3 * with, without);
}

// Where far operations wait for the target to enter the library, as a failed attempt must make it do.
TEST(simulated_locks, can_be_tried_in_a_loop) {
  for (const std::string name : {"cohort", "mcs", "dash", "tas"}) {
    int entered = 0;
    run(plain_machine(executor::target), placed(name == "mcs" ? "node:1" : "node:2", 4), [&](world& w) {
      const auto lock = bench::catalogue::instance().find(name)->factory<world>()(w, 0, {});
      for (int round = 0; round < 5; ++round) {
        while (!lock->try_lock()) {
        }
        ++entered;
        lock->unlock();
      }
    });
    EXPECT_EQ(entered, 20) << name;
  }
}

TEST(simulated_locks, play_all_scenarios_of_the_upb) {
  for (const lock_entry& entry : bench::catalogue::instance().entries()) {
    if (entry.one_node_only) continue;
    SCOPED_TRACE(entry.name);
    std::vector<sample> samples;
    run(plain_machine(), placed("node:2 core:2", 4), [&](world& w) {
      bench::upb_locks<world> locks(w, entry, {}, 20);
      auto mine = locks.run();
      if (w.rank() == 0) samples = std::move(mine);
    });
    ASSERT_EQ(samples.size(), bench::upb_scenarios.size());
    for (const sample& one : samples) {
      EXPECT_TRUE(one.verified) << *one.scenario;
      EXPECT_GT(one.ns_per_acquisition(), 0) << *one.scenario;
    }
  }
}

}  // namespace
}  // namespace nearfar::simulation::testing
