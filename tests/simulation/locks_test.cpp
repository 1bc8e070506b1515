// The unchanged locks and benchmarks in the simulation.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "bench/benchmark.hpp"
#include "bench/kinds/locks/ecsb.hpp"
#include "bench/kinds/locks/lock_catalogue.hpp"
#include "bench/kinds/locks/upb.hpp"
#include "bench/kinds/rw_locks/rw_benchmarks.hpp"
#include "bench/kinds/rw_locks/rw_catalogue.hpp"
#include "bench/latencies.hpp"
#include "nearfar/lock/biased_queue.hpp"
#include "nearfar/lock/clof_lock.hpp"
#include "nearfar/lock/cohort_lock.hpp"
#include "nearfar/lock/hmcs_lock.hpp"
#include "nearfar/lock/lockable.hpp"
#include "nearfar/lock/mcs_lock.hpp"
#include "nearfar/lock/near_ticket_lock.hpp"
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

/// Of 200 acquisitions of a rank 190 take 1 us, nine take 20 us and one takes 300 us, in mixed order.
class known_lock : public lockable<known_lock, world> {
 public:
  explicit known_lock(world& w) : lockable(w, {}), world_(&w) {}
  handover acquire() {
    constexpr int cycle = 200;
    constexpr int step = 77;  // has no common factor with the cycle
    const int which = step * (count_++ % cycle) % cycle;
    world_->compute(std::chrono::microseconds(which < 190 ? 1 : which < 199 ? 20 : 300));
    return handover::uncontended;
  }
  static void release() {}

 private:
  world* world_;
  int count_ = 0;
};

TEST(simulated_locks, have_the_latencies_that_they_take) {
  const lock_entry known = entry_of(
      [](world& w, int, const bench::lock_parameters&) { return bench::make_any_lock<known_lock>(w); });
  const auto measure = [&](std::int64_t interval) {
    sample result;
    run(plain_machine(), placed("node:1", 1),
        [&](world& w) { result = bench::run_ecsb(w, known, {}, std::chrono::seconds(4), interval); });
    return result;
  };
  const sample untimed = measure(0);
  EXPECT_EQ(untimed.count("acquire_timed"), 0);
  EXPECT_FALSE(untimed.count("acquire_p50").has_value());
  for (const std::int64_t interval : {std::int64_t{1}, bench::standard_latency_interval}) {
    const sample one = measure(interval);
    const auto timed = (one.iterations - 1) / interval + 1;
    EXPECT_EQ(one.count("acquire_timed"), static_cast<double>(timed));
    EXPECT_EQ(one.count("acquire_min"), 1000);
    EXPECT_EQ(one.count("acquire_max"), 300'000);
    const std::vector<std::pair<const char*, double>> exact{
        {"acquire_p50", 1000}, {"acquire_p90", 1000}, {"acquire_p99", 20'000}, {"acquire_p999", 300'000}};
    for (const auto& [name, span] : exact) EXPECT_NEAR(*one.count(name), span, 0.035 * span) << name;
    EXPECT_NEAR(*one.count("acquire_mean"), 3350, 0.05 * 3350) << "not all cycles are whole";
    EXPECT_EQ(one.iterations, untimed.iterations) << "the clock takes no virtual time";
  }
}

TEST(simulated_locks, let_each_wait_for_all_others_in_turn) {
  const lock_entry& fifo = *bench::catalogue::instance().find("mcs");
  sample one;
  constexpr int ranks = 4;
  run(plain_machine(), placed("node:1 core:4", ranks), [&](world& w) {
    sample mine = bench::run_ecsb(w, fifo, {}, std::chrono::milliseconds(2), 1);
    if (w.rank() == 0) one = std::move(mine);
  });
  // A round is the wait for all others and the release, so it is a little longer than the acquisition.
  const double round = ranks * one.ns_per_acquisition();
  EXPECT_LT(*one.count("acquire_mean"), round);
  EXPECT_GT(*one.count("acquire_mean"), 0.7 * round);
  EXPECT_LE(*one.count("acquire_min"), *one.count("acquire_p50"));
  EXPECT_LE(*one.count("acquire_p999"), *one.count("acquire_max"));
}

TEST(simulated_locks, that_let_everybody_in_are_found_out) {
  const lock_entry broken = entry_of([](world& w, int, const bench::lock_parameters&) {
    return bench::make_any_lock<nearfar::testing::no_lock<world>>(w);
  });
  EXPECT_FALSE(ecsb_of(broken, plain_machine(), "node:2 core:4", 8).verified);
  EXPECT_FALSE(ecsb_of(broken, plain_machine(), "node:1 core:4", 4).verified);
}

/// A lock that lets every rank in.
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

// Far operations wait for the target to enter the library. A failed attempt must make the rank enter it.
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

/// The order in which ranks get a lock for which they ask one after the other.
std::vector<int> order_of(const std::string& name, const std::vector<int>& asking,
                          const bench::lock_parameters& parameters = {}) {
  std::vector<int> order;
  const auto ranks = static_cast<int>(asking.size());
  run(plain_machine(), placed(fmt::format("node:2 core:{}", ranks / 2), ranks), [&](world& w) {
    const auto lock = bench::catalogue::instance().find(name)->factory<world>()(w, 0, parameters);
    const auto place = std::find(asking.begin(), asking.end(), w.rank()) - asking.begin();
    w.delay(std::chrono::microseconds(20) * place);
    lock->lock();
    order.push_back(w.rank());
    w.delay(std::chrono::microseconds(200));
    lock->unlock();
  });
  return order;
}

TEST(simulated_locks, that_shuffle_put_the_queue_in_order) {
  // Ranks 0 to 2 are of one node. As the first of the queue rank 0 moves rank 1 up, and leaves rank 2, which
  // is last.
  const std::vector<int> asking{3, 4, 0, 5, 1, 2};
  const std::vector<int> shuffled{3, 4, 0, 1, 5, 2};
  for (const char* name : {"shfl", "shfl.tts", "shfl.d_mcs", "shfl.named_at_once"})
    EXPECT_EQ(order_of(name, asking), shuffled) << name;
  for (const char* name : {"shfl.steal", "shfl.steal_tts", "d_mcs"})
    EXPECT_EQ(order_of(name, asking), asking) << name;
}

TEST(simulated_locks, that_shuffle_keep_the_limit_of_a_batch) {
  // Rank 0 is the first of a batch, and counts.
  const std::vector<int> asking{4, 5, 0, 6, 1, 7, 2, 3};
  const std::vector<int> two_at_once{4, 5, 0, 1, 6, 7, 2, 3};
  for (const char* name : {"shfl", "shfl.tts", "shfl.d_mcs", "shfl.named_at_once"}) {
    EXPECT_EQ(order_of(name, asking, {.max_local_passes = 1}), asking) << name;
    EXPECT_EQ(order_of(name, asking, {.max_local_passes = 2}), two_at_once) << name;
  }
}

constexpr std::array all_of_shfl{"shfl",
                                 "shfl.tts",
                                 "shfl.d_mcs",
                                 "shfl.named_at_once",
                                 "shfl.steal",
                                 "shfl.steal_tts",
                                 "shfl.published",
                                 "shfl.published_tas",
                                 "shfl.published_steal",
                                 "shfl.published_steal_tts"};

TEST(simulated_locks, of_shfl_are_closed_to_newcomers_while_a_rank_waits) {
  for (const char* name : all_of_shfl)
    run(plain_machine(), placed("node:1", 2), [&](world& w) {
      const auto lock = bench::catalogue::instance().find(name)->factory<world>()(w, 0, {});
      if (w.rank() == 0) {
        lock->lock();
        // By then the other rank waits, and has closed the word.
        w.delay(std::chrono::microseconds(200));
        lock->unlock();
        if (lock->try_lock()) {
          ADD_FAILURE() << name << " was taken before the rank that waits";
          lock->unlock();
        }
        w.delay(std::chrono::microseconds(200));
        // The queue is empty again.
        EXPECT_TRUE(lock->try_lock()) << name;
        lock->unlock();
      } else {
        w.delay(std::chrono::microseconds(20));
        lock->lock();
        lock->unlock();
      }
    });
}

TEST(simulated_locks, of_shfl_stay_closed_until_the_first_of_the_queue_has_come_from_far) {
  for (const char* name : all_of_shfl)
    run(plain_machine(), placed("node:2 core:2", 4), [&](world& w) {
      const auto lock = bench::catalogue::instance().find(name)->factory<world>()(w, 0, {});
      const std::chrono::microseconds apart(20);
      w.delay(apart * w.rank());
      lock->lock();
      if (w.rank() == 0) w.delay(10 * apart);
      lock->unlock();
      // Rank 2 is on another node, and has just become the first of the queue.
      if (w.rank() == 1 && lock->try_lock()) {
        ADD_FAILURE() << name << " was taken before the rank that waits";
        lock->unlock();
      }
    });
}

TEST(simulated_locks, that_prefer_a_node_or_domain_serve_it_first) {
  const std::vector<int> asking{3, 0, 4, 1, 5, 2};
  EXPECT_EQ(order_of("cohort", asking), (std::vector<int>{3, 4, 5, 0, 1, 2}));
  EXPECT_EQ(order_of("rma_mcs", asking), (std::vector<int>{3, 4, 5, 0, 1, 2}));
}

sample ccwb_or_wbab(const std::string& benchmark, const bench::point& at, const std::string& lock) {
  sample result;
  run(plain_machine(executor::target), placed("node:2 core:4", 8), [&](world& w) {
    const bench::benchmark& of = *bench::find_benchmark(benchmark);
    auto mine = of.runner_in<world>()(w, *of.kind->find(lock), at, [] {});
    if (w.rank() == 0) result = std::move(mine.at(0));
  });
  EXPECT_TRUE(result.verified) << benchmark << " of " << lock;
  return result;
}

bench::point point_of(const std::vector<std::pair<std::string, bench::axis_value>>& values) {
  bench::point result;
  for (const auto& [name, value] : values) result.set(name, value);
  result.set("draw", std::int64_t{1});
  result.set("duration", 0.002);
  result.set("latency_interval", std::int64_t{1});
  return result;
}

TEST(simulated_locks, work_inside_takes_its_time) {
  const auto at = [](std::int64_t inside) {
    return ccwb_or_wbab("ccwb", point_of({{"critical_work", inside}}), "cohort");
  };
  const sample none = at(0);
  const sample much = at(12);
  // Beyond the equilibrium a round takes at least its work inside; before the equilibrium, its share of all
  // work.
  EXPECT_GE(much.ns_per_acquisition(), 12 * *much.count("piece_ns") * 0.9);
  EXPECT_GE(much.ns_per_acquisition(), *much.count("optimum_ns") * 0.9);
  EXPECT_DOUBLE_EQ(*none.count("optimum_ns"), 3 * *none.count("piece_ns"));
  EXPECT_GE(none.ns_per_acquisition(), *none.count("optimum_ns") * 0.9);
}

TEST(simulated_locks, waits_before_take_their_time_and_block_others_without_progress) {
  const auto at = [](std::int64_t wait, bool progress) {
    return ccwb_or_wbab("wbab", point_of({{"wait_ns", wait}, {"progress", progress}}), "d_mcs");
  };
  const sample with = at(50'000, true);
  const sample without = at(50'000, false);
  EXPECT_DOUBLE_EQ(*with.count("optimum_ns"), 1.5 * 50'000 / 8);
  EXPECT_GE(with.ns_per_acquisition(), *with.count("optimum_ns") * 0.9);
  EXPECT_LT(*with.count("acquire_p50"), 50'000) << "the wait before is no part of the latency";
  // Operations at a rank wait until the rank has computed.
  EXPECT_GT(without.ns_per_acquisition(), 1.2 * with.ns_per_acquisition());
}

TEST(simulated_locks, cost_as_much_beyond_a_long_wait_as_beyond_a_short_one) {
  // The waits are so long that ranks never meet. All ranks' time less the mean of all possible waits is noise
  // then, larger than the lock's cost and of either sign.
  const auto overhead = [](std::int64_t wait) {
    return *ccwb_or_wbab("wbab", point_of({{"wait_ns", wait}, {"progress", true}}), "d_mcs")
                .count("overhead_ns");
  };
  const double beyond_short = overhead(10'000'000);
  EXPECT_GT(beyond_short, 0);
  EXPECT_NEAR(overhead(1'000'000'000), beyond_short, 0.5 * beyond_short);
}

/// The share of acquisitions that followed one of another domain. All ranks want the lock. `scope`: the
/// argument of the lock between home and levels.
template <typename Lock, typename Scope = near_scope>
double share_from_other_domains(int passes, Scope scope = near_scope::world) {
  std::vector<int> domains;
  run(plain_machine(), placed("node:1 numa:2 core:6", 12), [&](world& w) {
    Lock lock(w, 0, scope, lock_tree({{.at = level::numa, .max_passes = passes}}));
    for (int i = 0; i < 200; ++i) {
      lock.lock();
      domains.push_back(w.rank() / 6);
      w.delay(std::chrono::nanoseconds(500));
      lock.unlock();
    }
    w.barrier();
  });
  double changes = 0;
  for (std::size_t i = 1; i < domains.size(); ++i) changes += domains[i] != domains[i - 1];
  return changes / static_cast<double>(domains.size());
}

using shared_ticket_lock = near_ticket_lock<world, ticket_waiting::at_ticket, ticket_memory::served>;
/// The same near lock within nodes and within domains.
template <typename Near>
using composed = clof_lock<biased_queue<world>, Near, Near>;

TEST(simulated_locks, of_levels_stay_in_a_domain_for_as_long_as_they_may) {
  for (const int passes : {4, 9, 19}) {
    SCOPED_TRACE(passes);
    // The share is a little higher at the beginning and at the end, when some ranks of a domain do not want
    // the lock.
    const double least = 1.0 / (passes + 1);
    for (const double share :
         {share_from_other_domains<near_hmcs_lock<world>>(passes),
          share_from_other_domains<near_hmcs_lock<world, hmcs_entry::adaptive>>(passes),
          share_from_other_domains<composed<mcs_lock<world>>>(passes, most_local_passes),
          share_from_other_domains<composed<shared_ticket_lock>>(passes, most_local_passes)}) {
      EXPECT_GT(share, 0.9 * least);
      EXPECT_LT(share, 1.1 * least + 0.02);
    }
  }
}

/// The limits of a node and of the domains inside it do not multiply.
TEST(simulated_locks, of_composed_levels_leave_a_node_after_its_limit) {
  for (const int passes : {4, 9, 19}) {
    SCOPED_TRACE(passes);
    std::vector<int> nodes;
    run(plain_machine(), placed("node:2 numa:2 core:3", 12), [&](world& w) {
      composed<mcs_lock<world>> lock(w, 0, passes, lock_tree({{.at = level::numa, .max_passes = passes}}));
      for (int i = 0; i < 200; ++i) {
        lock.lock();
        nodes.push_back(w.rank() / 6);
        w.delay(std::chrono::nanoseconds(500));
        lock.unlock();
      }
      w.barrier();
    });
    double changes = 0;
    for (std::size_t i = 1; i < nodes.size(); ++i) changes += nodes[i] != nodes[i - 1];
    const double share = changes / static_cast<double>(nodes.size());
    EXPECT_GT(share, 0.9 / (passes + 1));
    EXPECT_LT(share, 1.1 / (passes + 1) + 0.02);
  }
}

/// A rank that has the lock again and again without a far operation is the home that other ranks ask.
TEST(simulated_locks, that_are_kept_are_given_away_where_the_target_must_progress) {
  for (const int home : {0, 1}) {
    SCOPED_TRACE(home);
    std::vector<int> turns(2);
    run(plain_machine(executor::target), placed("node:2 core:1", 2), [&](world& w) {
      default_cohort_lock<world> lock(w, home);
      const std::chrono::nanoseconds end = w.now() + std::chrono::milliseconds(2);
      while (w.now() < end) {
        lock.lock();
        ++turns[static_cast<std::size_t>(w.rank())];
        w.compute(std::chrono::nanoseconds(50));
        lock.unlock();
      }
      w.barrier();
    });
    EXPECT_GT(turns[0], 20);
    EXPECT_GT(turns[1], 20);
  }
}

TEST(simulated_locks, of_timed_turns_stay_in_a_node_for_that_time) {
  using timed = cohort_lock<biased_queue<world>, mcs_lock<world>, cohort_policy{.turn = turn_limit::time}>;
  using std::chrono::nanoseconds;
  constexpr nanoseconds work(500);
  for (const nanoseconds longest : {nanoseconds(0), nanoseconds(20'000), nanoseconds(100'000)}) {
    SCOPED_TRACE(longest.count());
    std::vector<std::pair<int, nanoseconds>> entered;  // each holder's node, and the time
    run(plain_machine(), placed("node:2 core:6", 12), [&](world& w) {
      timed lock(w, 0, longest);
      for (int i = 0; i < 200; ++i) {
        lock.lock();
        entered.emplace_back(w.rank() / 6, w.now());
        w.delay(work);
        lock.unlock();
      }
      w.barrier();
    });
    std::vector<nanoseconds> turns;
    for (std::size_t i = 1, first = 0; i < entered.size(); ++i)
      if (entered[i].first != entered[i - 1].first) {
        turns.push_back(entered[i - 1].second - entered[first].second);
        first = i;
      }
    // At the beginning and at the end one of the nodes may be absent.
    ASSERT_GT(turns.size(), 8U);
    for (std::size_t i = 2; i + 2 < turns.size(); ++i) {
      EXPECT_GE(turns[i] + work * 2, longest);
      EXPECT_LE(turns[i], longest + 20 * 2 * work);
    }
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
