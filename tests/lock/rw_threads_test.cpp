// Every registered reader-writer lock in the world of threads, on teams of several sizes and shapes.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "bench/kinds/rw_locks/rw_catalogue.hpp"
#include "nearfar/core/checks.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/lock/lock_tree.hpp"
#include "nearfar/lock/rma_mcs_lock.hpp"
#include "nearfar/lock/rma_rw_lock.hpp"
#include "nearfar/memory/threads/world.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/lock/rw_conformance.hpp"

namespace nearfar::testing {
namespace {

using bench::rw_catalogue;
using bench::rw_lock_entry;
using bench::rw_lock_parameters;
using threads::world;

struct shape {
  int ranks = 2;
  std::string topology{};  // empty: one node
};

struct lock_on_shape {
  std::string lock;
  shape on;
};

void PrintTo(const lock_on_shape& what, std::ostream* out) {
  *out << what.lock << " on " << what.on.ranks << " threads " << what.on.topology;
}

std::string identifier(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return text;
}

std::vector<lock_on_shape> locks_on_shapes() {
  const std::vector<shape> shapes{
      {1}, {2}, {3}, {8}, {2, "node:2"}, {4, "node:2 numa:2"}, {3, "node:3"}, {8, "node:4 numa:2"}};
  std::vector<lock_on_shape> result;
  for (const rw_lock_entry& entry : rw_catalogue::instance().entries())
    for (const shape& on : shapes)
      if (entry.exists_in<world>() && (on.topology.empty() || !entry.one_node_only))
        result.push_back({entry.name, on});
  return result;
}

/// Runs `body` on every rank of a team and expects no complaint from any.
void expect_good(const shape& on, const std::function<std::string(world&)>& body) {
  threads::options chosen;
  if (!on.topology.empty()) chosen.topology = topology_spec::parse(on.topology);
  threads::run(
      on.ranks, [&](world& w) { EXPECT_EQ(body(w), "") << "on rank " << w.rank(); }, chosen);
}

/// Thresholds that ranks reach all the time, and ones that no rank reaches.
const std::vector<rw_lock_parameters>& settings() {
  static const std::vector<rw_lock_parameters> all{
      {},
      {.max_local_passes = 1, .turns = {.max_writer_passes = 1, .max_readers = 1}, .nodes_per_counter = 2},
      {.max_local_passes = 0, .turns = {.max_writer_passes = 0, .max_readers = 1}, .nodes_per_counter = 9},
  };
  return all;
}

class threads_rw_lock : public ::testing::TestWithParam<lock_on_shape> {
 protected:
  [[nodiscard]] static rw_lock_maker<world> make(const rw_lock_parameters& of = {}) {
    return [of](world& w, int home) {
      return rw_catalogue::instance().find(GetParam().lock)->factory<world>()(w, home, of);
    };
  }
  [[nodiscard]] static const shape& on() { return GetParam().on; }
};

TEST_P(threads_rw_lock, excludes_writers_from_all) {
  for (const rw_lock_parameters& of : settings())
    expect_good(on(), [&](world& w) {
      const auto lock = make(of)(w, w.size() - 1);
      rw_guarded<world> inside(w);
      return check_rw_exclusion(w, *lock, inside, {.rounds = 600 / on().ranks});
    });
}

TEST_P(threads_rw_lock, lets_readers_meet) {
  expect_good(on(), [&](world& w) { return check_readers_meet(w, *make()(w, 0)); });
}

TEST_P(threads_rw_lock, tries_without_leaving_a_trace) {
  expect_good(on(), [&](world& w) -> std::string {
    const auto lock = make(settings()[1])(w, 0);
    const auto can = lock->can();
    if ((can.tries || can.tries_shared) != rw_catalogue::instance().find(GetParam().lock)->can_try)
      return "can_try is not what the algorithm allows";
    return check_rw_tries(w, *lock, {.seed = 3});
  });
}

TEST_P(threads_rw_lock, leaves_its_memory_usable) {
  expect_good(on(), [&](world& w) { return check_rw_remade(w, make(), 4, {.rounds = 10, .seed = 5}); });
}

INSTANTIATE_TEST_SUITE_P(catalogue, threads_rw_lock, ::testing::ValuesIn(locks_on_shapes()),
                         [](const auto& of) {
                           return identifier(
                               of.param.lock + "_" + std::to_string(of.param.on.ranks) +
                               (of.param.on.topology.empty() ? "" : "_" + of.param.on.topology));
                         });

TEST(lock_trees, are_what_users_write) {
  EXPECT_EQ(lock_tree::parse("").levels().size(), 0U);
  EXPECT_EQ(
      lock_tree::parse("node=3/numa=0/core").levels(),
      (std::vector<tree_level>{{level::node, 3}, {level::numa, 0}, {level::core, published_local_passes}}));
  for (const char* text : {"node=3/numa=0", "", "package=1048576", "island=9/node=3"})
    EXPECT_EQ(lock_tree::parse(text).text(), text);
  for (const char* text : {"rack", "node=", "node=x", "node=-1", "node=1048577", "numa/node", "node/node",
                           "node/island", "/", "node/", "node=1e3", "node=99999999999"})
    EXPECT_THROW(static_cast<void>(lock_tree::parse(text)), misuse) << text;
}

TEST(lock_trees, of_all_levels_hold_a_lock) {
  for (const char* text :
       {"", "node=1", "node=2/numa=1", "package=0/cache=3", "node=1/package=1/numa=1/cache=1/core=1",
        "island=1", "island=1/node=2", "island=2/numa=1", "island=1/node=1/numa=1"}) {
    const lock_tree shape_of_lock = lock_tree::parse(text);
    for (const char* topology :
         {"node:2 package:2 numa:2 cache:1 core:1", "node:1 numa:4 core:2", "island:2 node:2 numa:2"}) {
      SCOPED_TRACE(std::string(text) + " on " + topology);
      expect_good({8, topology}, [&](world& w) {
        bench::any_lock_of<world, rma_mcs_lock<world>> lock(w, 3, shape_of_lock);
        guarded<world> inside(w);
        bench::any_rw_lock_of<world, rma_rw_lock<world>> shared(
            w, 3,
            rma_rw_parameters{.tree = shape_of_lock,
                              .turns = {.max_writer_passes = 1, .max_readers = 8},
                              .nodes_per_counter = 2});
        rw_guarded<world> inside_shared(w);
        return check_exclusion(w, lock, inside, {.rounds = 60}) + check_try_lock(w, lock, {}) +
               check_rw_exclusion(w, shared, inside_shared, {.rounds = 60});
      });
    }
  }
}

TEST(rw_misuse, is_told_by_its_name) {
  if constexpr (!checked_build) return;
  threads::run(1, [](world& w) {
    rma_rw_lock<world> lock(w);
    const auto says = [](const auto& wrong, const std::string& words) {
      try {
        wrong();
        ADD_FAILURE() << "nothing was thrown: " << words;
      } catch (const misuse& told) {
        EXPECT_NE(std::string(told.what()).find(words), std::string::npos) << told.what();
      }
    };
    says([&] { lock.unlock_shared(); },
         "unlock_shared() by a rank that does not hold the lock: unlocked twice");
    lock.lock_shared();
    says([&] { lock.unlock(); }, "unlock() by a rank that does not hold the lock that way");
    says([&] { lock.lock(); }, "lock()");
    says([&] { lock.lock_shared(); }, "lock_shared()");
    says([&] { lock.unlock_and_lock_shared(); }, "unlock_and_lock_shared()");
    lock.unlock_shared();
    says([&] { static_cast<void>(lock.try_unlock_shared_and_lock()); }, "try_unlock_shared_and_lock()");
    lock.lock();
    says([&] { lock.unlock_shared(); }, "that way");
    says([&] { static_cast<void>(lock.try_lock_shared()); }, "try_lock_shared()");
    lock.unlock();
    // Spans of any unit, also endless ones.
    EXPECT_TRUE(lock.try_lock_shared_for(std::chrono::hours::max()));
    lock.unlock_shared();
    EXPECT_TRUE(lock.try_lock_shared_for(std::chrono::hours::min()));
    lock.unlock_shared();
  });
}

TEST(rw_thresholds, out_of_range_are_misuse) {
  const auto expect_misuse = [](const rma_rw_parameters& of) {
    EXPECT_THROW(threads::run(2, [&](world& w) { const rma_rw_lock<world> lock(w, 0, of); }), misuse);
  };
  expect_misuse({.turns = {.max_writer_passes = -2}});
  expect_misuse({.turns = {.max_readers = 0}});
  expect_misuse({.turns = {.max_readers = 1 << 29}});
  expect_misuse({.nodes_per_counter = 0});
  EXPECT_THROW(threads::run(1,
                            [](world& w) {
                              const consecutive_rma_rw_lock<world> lock(
                                  w, 0, {.turns = {.max_readers = (1 << 20) + 1}});
                            }),
               misuse);
}

TEST(rw_thresholds, of_readers_are_never_below_the_ranks_of_a_counter) {
  const auto limit_of = [](int ranks, int max_readers, int nodes_per_counter) {
    std::int64_t limit = 0;
    threads::options chosen;
    chosen.topology = topology_spec::parse("node:2");
    threads::run(
        ranks,
        [&](world& w) {
          const rma_rw_lock<world> lock(
              w, 0, {.turns = {.max_readers = max_readers}, .nodes_per_counter = nodes_per_counter});
          if (w.rank() == 0) limit = static_cast<std::int64_t>(lock.max_readers());
        },
        chosen);
    return limit;
  };
  EXPECT_EQ(limit_of(6, 1, 1), 3);
  EXPECT_EQ(limit_of(6, 1, 2), 6);
  EXPECT_EQ(limit_of(6, 5, 1), 5);
}

TEST(rw_thresholds, that_differ_between_ranks_are_told) {
  EXPECT_THROW(
      threads::run(
          2, [](world& w) { const rma_rw_lock<world> lock(w, 0, {.nodes_per_counter = 1 + w.rank()}); }),
      collective_mismatch);
}

}  // namespace
}  // namespace nearfar::testing
