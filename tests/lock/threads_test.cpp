// Every registered lock that exists in the world of threads, on teams of several sizes and shapes.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "bench/kinds/locks/lock_catalogue.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/memory/threads/world.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/instrumented.hpp"
#include "tests/lock/conformance.hpp"

namespace nearfar::testing {
namespace {

using bench::catalogue;
using bench::lock_entry;
using bench::lock_parameters;
using threads::world;

struct shape {
  int ranks = 2;
  std::string topology{};  // empty: one node
};

struct lock_on_shape {
  std::string lock;
  shape on;
};

std::string identifier(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return text;
}

void PrintTo(const lock_on_shape& what, std::ostream* out) {
  *out << what.lock << " on " << what.on.ranks << " threads " << what.on.topology;
}

const std::vector<shape>& shapes() {
  static const std::vector<shape> few{{2}, {4}, {3, "node:2"}, {8, "node:4 numa:2"}};
  static const std::vector<shape> all{{2},
                                      {3},
                                      {4},
                                      {8},
                                      {2, "node:2"},
                                      {3, "node:2"},
                                      {4, "node:2 numa:2"},
                                      {8, "node:2"},
                                      {8, "node:4 numa:2"}};
  return is_instrumented ? few : all;
}

std::vector<lock_on_shape> locks_on_shapes() {
  std::vector<lock_on_shape> result;
  for (const lock_entry& entry : catalogue::instance().entries())
    for (const shape& on : shapes())
      if (entry.exists_in<world>() && (on.topology.empty() || !entry.one_node_only))
        result.push_back({entry.name, on});
  return result;
}

std::vector<std::string> locks() {
  std::vector<std::string> result;
  for (const lock_entry& entry : catalogue::instance().entries())
    if (entry.exists_in<world>()) result.push_back(entry.name);
  return result;
}

bool takes(const lock_entry& entry, const std::string& parameter) {
  return std::find(entry.parameters.begin(), entry.parameters.end(), parameter) != entry.parameters.end();
}

lock_maker<world> maker(const lock_entry& entry, const lock_parameters& parameters = {}) {
  return [&entry, parameters](world& w, int home) { return entry.factory<world>()(w, home, parameters); };
}

/// Runs `body` on every rank of a team and expects no complaint from any.
void expect_good(const shape& on, const std::function<std::string(world&)>& body) {
  threads::options chosen;
  if (!on.topology.empty()) chosen.topology = topology_spec::parse(on.topology);
  threads::run(
      on.ranks, [&](world& w) { EXPECT_EQ(body(w), "") << "on rank " << w.rank(); }, chosen);
}

/// Acquisitions of each rank, so that a test takes about as long with few threads as with many.
int rounds(const shape& on) { return 1000 / on.ranks; }

class threads_lock : public ::testing::TestWithParam<lock_on_shape> {
 protected:
  [[nodiscard]] static const lock_entry& entry() { return *catalogue::instance().find(GetParam().lock); }
  [[nodiscard]] static lock_maker<world> make() { return maker(entry()); }
  [[nodiscard]] static const shape& on() { return GetParam().on; }
};

TEST_P(threads_lock, excludes_and_reports_handovers) {
  expect_good(on(), [&](world& w) {
    const auto lock = make()(w, 0);
    guarded<world> inside(w);
    return check_alone(w, *lock) + check_exclusion(w, *lock, inside, {.rounds = rounds(on())});
  });
}

TEST_P(threads_lock, excludes_from_any_home) {
  expect_good(on(),
              [&](world& w) { return check_homes(w, make(), {.rounds = rounds(on()) / 2, .seed = 2}); });
}

TEST_P(threads_lock, tries) {
  expect_good(on(), [&](world& w) -> std::string {
    const auto lock = make()(w, 0);
    const bool can_try = entry().can_try;
    if (lock->has_try_lock() != can_try) return "has_try_lock is not what the algorithm allows";
    if (can_try) return check_try_lock(w, *lock, {.seed = 3});
    try {
      if (lock->try_lock()) return "took the lock without a try_lock";
      return "failed without a try_lock";
    } catch (const std::logic_error&) {
      return {};
    }
  });
}

TEST_P(threads_lock, is_not_confused_with_others) {
  expect_good(on(),
              [&](world& w) { return check_many_held(w, make(), {.rounds = rounds(on()) / 4, .seed = 4}); });
}

TEST_P(threads_lock, leaves_its_memory_usable) {
  expect_good(on(), [&](world& w) { return check_remade(w, make(), 8, true, {.seed = 5}); });
}

INSTANTIATE_TEST_SUITE_P(catalogue, threads_lock, ::testing::ValuesIn(locks_on_shapes()), [](const auto& of) {
  return identifier(of.param.lock + "_" + std::to_string(of.param.on.ranks) +
                    (of.param.on.topology.empty() ? "" : "_" + of.param.on.topology));
});

class threads_crowd : public ::testing::TestWithParam<std::string> {};

TEST_P(threads_crowd, thousand_locks_in_one_world) {
  const lock_entry& entry = *catalogue::instance().find(GetParam());
  const shape on = entry.one_node_only ? shape{3} : shape{3, "node:2"};
  // ThreadSanitizer takes half a minute for a thousand of some locks.
  constexpr std::size_t count = is_instrumented ? 100 : 1000;
  expect_good(on, [&](world& w) { return check_crowd<world, count>(w, maker(entry), {.seed = 6}); });
}

INSTANTIATE_TEST_SUITE_P(catalogue, threads_crowd, ::testing::ValuesIn(locks()),
                         [](const auto& of) { return identifier(of.param); });

class threads_passes : public ::testing::TestWithParam<std::string> {};

std::vector<std::string> locks_with_passes() {
  std::vector<std::string> result;
  for (const std::string& name : locks()) {
    const lock_entry& entry = *catalogue::instance().find(name);
    if (takes(entry, "max_local_passes") && !entry.one_node_only) result.push_back(name);
  }
  return result;
}

/// Locks that give up after the limit whether another node waits or not, so that a test can count the runs.
bool is_strict(const lock_entry& entry) {
  return entry.name == "rma_mcs" || entry.name == "cohort.strict" || entry.name.ends_with("_counter") ||
         entry.name == "cohort.mcs_ticket" || entry.name == "cohort.mcs_clh" ||
         entry.name.starts_with("cohort.mcs_hemlock") || entry.name.ends_with("_tts_published");
}

TEST_P(threads_passes, limit_holds) {
  const lock_entry& entry = *catalogue::instance().find(GetParam());
  for (const int limit : {1, 2, 50, 254}) {
    for (const shape& on : {shape{4}, shape{4, "node:2"}}) {
      expect_good(on, [&](world& w) {
        const auto lock = maker(entry, {.max_local_passes = limit})(w, 0);
        guarded<world> inside(w);
        std::string complaint = check_exclusion(w, *lock, inside, {.rounds = 300, .seed = 7});
        if (is_strict(entry) && inside.longest_run() > static_cast<std::uint64_t>(limit))
          complaint += "passed on " + std::to_string(inside.longest_run()) +
                       " times in a row within a node, not " + std::to_string(limit);
        w.barrier();
        return complaint;
      });
    }
  }
}

TEST_P(threads_passes, limit_out_of_range_is_misuse) {
  const lock_entry& entry = *catalogue::instance().find(GetParam());
  for (const int limit : {-1, 0, 255, 1000}) {
    EXPECT_THROW(
        threads::run(2,
                     [&](world& w) { static_cast<void>(maker(entry, {.max_local_passes = limit})(w, 0)); }),
        misuse)
        << limit;
  }
}

INSTANTIATE_TEST_SUITE_P(catalogue, threads_passes, ::testing::ValuesIn(locks_with_passes()),
                         [](const auto& of) { return identifier(of.param); });

TEST(lock_parameters, say_how_often_each_level_inside_a_node_hands_on) {
  const locality where = topology_spec::parse("node:1 package:2 numa:2 core:2").place(8);
  const auto inside = [&](const std::string& levels) {
    const levels_around_nodes found =
        lock_parameters{.max_local_passes = 7, .levels = levels}.levels_around(where);
    EXPECT_FALSE(found.island) << levels;
    return found.inside.text();
  };
  EXPECT_EQ(inside("all"), "package=7/numa=7");
  EXPECT_EQ(inside("none"), "");
  EXPECT_EQ(inside("numa"), "numa=7");
  EXPECT_EQ(inside("package=100/numa=20/core"), "package=100/numa=20/core=7");
}

TEST(lock_parameters, have_islands_where_they_divide_the_nodes) {
  const auto on = [](const std::string& topology, const std::string& levels) {
    const locality where = topology_spec::parse(topology).place(16);
    const levels_around_nodes found =
        lock_parameters{.max_local_passes = 7, .levels = levels}.levels_around(where);
    return (found.island ? "island=" + std::to_string(found.island->max_passes) : "none") + "|" +
           found.inside.text();
  };
  EXPECT_EQ(on("island:2 node:2 numa:2", "all"), "island=7|numa=7");
  EXPECT_EQ(on("island:2 node:2 numa:2", "none"), "none|");
  EXPECT_EQ(on("island:2 node:2 numa:2", "numa"), "none|numa=7");
  EXPECT_EQ(on("island:2 node:2 numa:2", "island"), "island=7|");
  EXPECT_EQ(on("island:2 node:2 numa:2", "island=20/numa=3"), "island=20|numa=3");
  // A level of one island, or of islands of one node, would be useless.
  EXPECT_EQ(on("island:1 node:4 numa:2", "all"), "none|numa=7");
  EXPECT_EQ(on("island:4 numa:2", "all"), "none|numa=7");
  EXPECT_EQ(on("node:4 numa:2", "all"), "none|numa=7");
}

TEST(threads_islands, locks_with_queues_of_islands_conform) {
  for (const std::string name : {"hmcs", "ahmcs"}) {
    const lock_entry& entry = *catalogue::instance().find(name);
    for (const shape& on :
         {shape{4, "island:2 node:2"}, shape{6, "island:3 node:2"}, shape{8, "island:2 node:2 numa:2"}})
      for (const lock_parameters& of : {lock_parameters{.max_local_passes = 1}, lock_parameters{},
                                        lock_parameters{.levels = "island=2"}}) {
        SCOPED_TRACE(name + " on " + on.topology);
        const lock_maker<world> make = maker(entry, of);
        expect_good(on, [&](world& w) {
          const auto lock = make(w, 0);
          guarded<world> inside(w);
          return check_alone(w, *lock) + check_exclusion(w, *lock, inside, {.rounds = rounds(on)}) +
                 check_try_lock(w, *lock, {.seed = 3});
        });
        expect_good(on, [&](world& w) {
          return check_homes(w, make, {.rounds = rounds(on) / 2, .seed = 2}) +
                 check_many_held(w, make, {.rounds = rounds(on) / 4, .seed = 4}) +
                 check_remade(w, make, 4, true, {.seed = 5});
        });
      }
  }
}

class threads_sleep : public ::testing::TestWithParam<std::string> {};

std::vector<std::string> locks_that_sleep() {
  std::vector<std::string> result;
  for (const std::string& name : locks())
    if (takes(*catalogue::instance().find(name), "spin_ns")) result.push_back(name);
  return result;
}

TEST_P(threads_sleep, excludes_where_all_sleep_at_once) {
  const lock_entry& entry = *catalogue::instance().find(GetParam());
  for (const int limit : {1, 254}) {
    for (const shape& on : shapes()) {
      if (!on.topology.empty() && entry.one_node_only) continue;
      expect_good(on, [&](world& w) {
        const auto lock =
            maker(entry, {.max_local_passes = limit, .spin = std::chrono::nanoseconds(0)})(w, 0);
        guarded<world> inside(w);
        std::string complaint = check_exclusion(w, *lock, inside, {.rounds = rounds(on), .seed = 3});
        w.barrier();
        return complaint;
      });
    }
  }
}

TEST_P(threads_sleep, a_time_below_nothing_is_misuse) {
  const lock_entry& entry = *catalogue::instance().find(GetParam());
  EXPECT_THROW(threads::run(2,
                            [&](world& w) {
                              static_cast<void>(maker(entry, {.spin = std::chrono::nanoseconds(-1)})(w, 0));
                            }),
               misuse);
}

INSTANTIATE_TEST_SUITE_P(catalogue, threads_sleep, ::testing::ValuesIn(locks_that_sleep()),
                         [](const auto& of) { return identifier(of.param); });

TEST(threads_catalogue, has_the_first_seven_families) {
  std::vector<std::string> families;
  for (const lock_entry& entry : catalogue::instance().entries())
    if (families.empty() || families.back() != entry.family()) families.push_back(entry.family());
  for (const std::string name : {"mpi_win", "d_mcs", "dash", "rma_mcs", "tas", "mcs", "cohort"})
    EXPECT_EQ(std::count(families.begin(), families.end(), name), 1) << name;
  for (const lock_entry& entry : catalogue::instance().entries())
    EXPECT_EQ(entry.exists_in<world>(), entry.name != "mpi_win") << entry.name;
}

}  // namespace
}  // namespace nearfar::testing
