// Every registered reader-writer lock in the world of MPI: the same checks as in the world of threads.
#include "tests/lock/rw_conformance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "bench/kinds/rw_locks/rw_catalogue.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/lock/cohort_rw_lock.hpp"
#include "nearfar/memory/mpi/world.hpp"
#include "nearfar/topology/level.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/mpi/environment.hpp"

namespace nearfar::testing {
namespace {

using bench::rw_catalogue;
using bench::rw_lock_entry;
using bench::rw_lock_parameters;
using mpi::world;

std::vector<std::string> locks() {
  std::vector<std::string> result;
  for (const rw_lock_entry& entry : rw_catalogue::instance().sound_entries())
    if (entry.exists_in<world>()) result.push_back(entry.name);
  return result;
}

std::string identifier(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return text;
}

/// The defaults, and thresholds that ranks reach all the time.
std::vector<rw_lock_parameters> settings() {
  rw_lock_parameters low;
  low.max_local_passes = 1;
  low.turns.max_writer_passes = 1;
  low.turns.max_readers = 1;
  low.nodes_per_counter = 2;
  return {{}, low};
}

class rw_conformance : public ::testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] static rw_lock_maker<world> make(const rw_lock_parameters& of = {}) {
    return [of](world& w, int home) {
      return rw_catalogue::instance().find(GetParam())->factory<world>()(w, home, of);
    };
  }
  [[nodiscard]] static bool is_refused_on(const world& w) {
    return rw_catalogue::instance().find(GetParam())->one_node_only && w.locality().groups(level::node) > 1;
  }
  static void expect_conformance(world& w) {
    if (is_refused_on(w)) {
      EXPECT_THROW(static_cast<void>(make()(w, 0)), topology_error);
      return;
    }
    for (const rw_lock_parameters& of : settings()) {
      const auto lock = make(of)(w, w.size() - 1);
      rw_guarded<world> inside(w);
      EXPECT_EQ(check_rw_exclusion(w, *lock, inside, {.rounds = often(w) / 2}), "");
      EXPECT_EQ(check_readers_meet(w, *lock), "");
      EXPECT_EQ(check_rw_tries(w, *lock, {}), "");
    }
  }
};

TEST_P(rw_conformance, holds) { expect_conformance(common_world()); }

TEST_P(rw_conformance, holds_on_virtual_nodes) {
  if (common_world().size() == 1) return;
  mpi::options chosen;
  chosen.topology = topology_spec::parse(virtual_nodes());
  chosen.far_bytes = chosen.near_bytes = std::size_t{1} << 16U;
  world w(MPI_COMM_WORLD, chosen);
  expect_conformance(w);
}

TEST_P(rw_conformance, holds_on_islands) {
  if (common_world().size() < 4 || GetParam() != "rma_rw.island") return;
  mpi::options chosen;
  chosen.topology = topology_spec::parse("island:2 node:2");
  chosen.far_bytes = chosen.near_bytes = std::size_t{1} << 16U;
  world w(MPI_COMM_WORLD, chosen);
  expect_conformance(w);
}

TEST_P(rw_conformance, holds_where_locks_were_before) {
  world& w = common_world();
  if (is_refused_on(w)) return;  // see above
  EXPECT_EQ(check_rw_remade(w, make(), w.one_physical_node() ? 4 : 2, {.rounds = 3, .seed = 4}), "");
}

INSTANTIATE_TEST_SUITE_P(catalogue, rw_conformance, ::testing::ValuesIn(locks()),
                         [](const auto& of) { return identifier(of.param); });

TEST(rw_locks, work_with_the_guards_of_the_standard) {
  world& w = common_world();
  cohort_rw_lock<world> lock(w);
  rw_guarded<world> inside(w);
  jitter timing(1, w.rank());
  for (int round = 0; round < std::max(3, often(w) / 10); ++round) {
    {
      const std::shared_lock hold(lock);
      inside.read(timing);
    }
    {
      const std::shared_lock hold(lock, std::chrono::nanoseconds(1000));
      if (hold.owns_lock()) inside.read(timing);
    }
    const std::unique_lock hold(lock);
    inside.write(timing);
  }
  EXPECT_EQ(inside.violations(), "");
}

}  // namespace
}  // namespace nearfar::testing
