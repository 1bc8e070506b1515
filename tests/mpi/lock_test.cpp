// Every registered lock in the world of MPI: the same checks as in the world of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "bench/kinds/locks/exclusion_check.hpp"
#include "bench/kinds/locks/lock_catalogue.hpp"
#include "nearfar/core/checks.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/lock/cohort_lock.hpp"
#include "nearfar/lock/mcs_lock.hpp"
#include "nearfar/memory/mpi/world.hpp"
#include "nearfar/topology/spec.hpp"
#include "tests/lock/conformance.hpp"
#include "tests/mpi/environment.hpp"

namespace nearfar::testing {
namespace {

using bench::catalogue;
using bench::lock_entry;
using bench::lock_parameters;
using mpi::world;

std::vector<std::string> locks() {
  std::vector<std::string> result;
  for (const lock_entry& entry : catalogue::instance().sound_entries())
    if (entry.exists_in<world>()) result.push_back(entry.name);
  return result;
}

std::string identifier(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return text;
}

lock_maker<world> maker(const lock_entry& entry, const lock_parameters& parameters = {}) {
  return [&entry, parameters](world& w, int home) { return entry.factory<world>()(w, home, parameters); };
}

class mpi_lock : public ::testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] static const lock_entry& entry() { return *catalogue::instance().find(GetParam()); }
  [[nodiscard]] static lock_maker<world> make() { return maker(entry()); }

  /// All checks of a lock, in one world.
  static void expect_conformance(world& w) {
    if (entry().one_node_only && w.locality().groups(level::node) > 1) {
      EXPECT_THROW(static_cast<void>(make()(w, 0)), topology_error);
      return;
    }
    const auto lock = make()(w, w.size() - 1);
    guarded<world> inside(w);
    EXPECT_EQ(check_alone(w, *lock), "");
    EXPECT_EQ(check_exclusion(w, *lock, inside, {.rounds = often(w)}), "");
    const bool can_try = entry().can_try;
    EXPECT_EQ(lock->has_try_lock(), can_try);
    if (can_try) {
      EXPECT_EQ(check_try_lock(w, *lock, {}), "");
    }
  }
};

TEST_P(mpi_lock, conforms) { expect_conformance(common_world()); }

TEST_P(mpi_lock, conforms_on_virtual_nodes) {
  if (common_world().size() == 1) return;
  mpi::options chosen;
  chosen.topology = topology_spec::parse(virtual_nodes());
  chosen.far_bytes = chosen.near_bytes = std::size_t{1} << 16U;
  world w(MPI_COMM_WORLD, chosen);
  expect_conformance(w);
}

TEST_P(mpi_lock, conforms_on_islands) {
  if (common_world().size() < 4 || entry().bypass != checker::bypass_bound::level_passes) return;
  mpi::options chosen;
  chosen.topology = topology_spec::parse("island:2 node:2");
  chosen.far_bytes = chosen.near_bytes = std::size_t{1} << 16U;
  world w(MPI_COMM_WORLD, chosen);
  expect_conformance(w);
}

TEST_P(mpi_lock, excludes_from_any_home) {
  world& w = common_world();
  if (entry().one_node_only && w.locality().groups(level::node) > 1) return;  // refused, see above
  EXPECT_EQ(check_homes(w, make(), {.rounds = often(w), .seed = 2}), "");
}

TEST_P(mpi_lock, is_not_confused_with_others) {
  world& w = common_world();
  if (entry().one_node_only && w.locality().groups(level::node) > 1) return;
  EXPECT_EQ(check_many_held(w, make(), {.rounds = std::max(3, often(w) / 4), .seed = 3}), "");
}

TEST_P(mpi_lock, leaves_its_memory_usable) {
  world& w = common_world();
  if (entry().one_node_only && w.locality().groups(level::node) > 1) return;
  // Windows are freed collectively, so locks that have a window are destroyed in one order.
  const bool any_order = entry().family() != "mpi_win";
  EXPECT_EQ(check_remade(w, make(), w.one_physical_node() ? 5 : 2, any_order, {.seed = 4}), "");
}

INSTANTIATE_TEST_SUITE_P(catalogue, mpi_lock, ::testing::ValuesIn(locks()),
                         [](const auto& of) { return identifier(of.param); });

TEST(mpi_locks, a_thousand_share_one_world) {
  world& w = common_world();
  EXPECT_EQ((check_crowd<world, 1000>(w, maker(*catalogue::instance().find("cohort")), {.seed = 5})), "");
}

/// A rank that has the lock again and again without a far operation drives the progress that another rank
/// needs to ask for it.
TEST(mpi_locks, that_are_kept_are_given_away) {
  struct alignas(slot_bytes) word {
    far<std::uint64_t> came;
  };
  world& w = common_world();
  const int other = w.size() - 1;
  for (const std::string name : {"cohort", "cohort.timed"})
    for (const int home : {0, other}) {
      const auto lock = maker(*catalogue::instance().find(name))(w, home);
      world::far_segment<word> words(w);
      const std::uint64_t yes = 1;
      if (w.rank() == 0) {
        lock->lock();
        lock->unlock();
      }
      w.barrier();
      if (w.rank() == other) {
        lock->lock();
        words.put(0, &word::came, yes);
        words.flush(0);
        lock->unlock();
      }
      if (w.rank() == 0) {
        bool has_come = false;
        // The number of turns is bounded, so that a lock that is never given away fails instead of hanging.
        for (int turn = 0; turn < 50'000'000 && !has_come; ++turn) {
          lock->lock();
          has_come = words.read_direct(0, &word::came) == yes;
          lock->unlock();
        }
        EXPECT_TRUE(has_come) << name << ", home " << home;
      }
      w.barrier();
    }
}

TEST(mpi_locks, limits_of_local_passes) {
  world& w = common_world();
  for (const std::string name : {"cohort", "cohort.strict", "cohort.global_counter", "rma_mcs"}) {
    for (const int limit : {1, 2, 254}) {
      const auto lock = maker(*catalogue::instance().find(name), {.max_local_passes = limit})(w, 0);
      guarded<world> inside(w);
      EXPECT_EQ(check_exclusion(w, *lock, inside, {.rounds = often(w) / 2, .seed = 6}), "")
          << name << " " << limit;
      if (w.locality().groups(level::node) == 1 && name != "cohort") {
        EXPECT_LE(inside.longest_run(), static_cast<std::uint64_t>(limit)) << name;
      }
      w.barrier();
    }
  }
}

TEST(mpi_locks, work_with_the_guards_of_the_standard) {
  world& w = common_world();
  default_cohort_lock<world> first(w);
  default_cohort_lock<world> second(w, w.size() - 1);
  bench::exclusion_check<world> check(w);
  for (int round = 0; round < std::max(3, often(w) / 10); ++round) {
    {
      const std::lock_guard hold(first);
      check.count_everywhere();
      check.count_in_node();
    }
    {
      std::unique_lock hold(first, std::defer_lock);
      EXPECT_FALSE(hold.owns_lock());
      if (!hold.try_lock()) hold.lock();
      EXPECT_TRUE(hold.owns_lock());
      check.count_everywhere();
    }
    {
      // Ranks name the locks in both orders. std::lock's algorithm keeps them from waiting for each other for
      // ever.
      const bool even = w.rank() % 2 == 0;
      const std::scoped_lock hold(even ? first : second, even ? second : first);
      check.count_in_node();
    }
  }
  EXPECT_TRUE(check.holds());
}

#if NEARFAR_CHECKED
TEST(mpi_locks, misuse_is_told) {
  world& w = common_world();
  {
    default_cohort_lock<world> lock(w);
    EXPECT_THROW(lock.unlock(), not_held);
    for (int turn = 0; turn < w.size(); ++turn) {
      if (turn == w.rank()) {
        lock.lock();
        EXPECT_THROW(lock.lock(), already_held);
        EXPECT_THROW(static_cast<void>(lock.try_lock()), already_held);
        lock.unlock();
        EXPECT_THROW(lock.unlock(), not_held);
      }
      w.barrier();
    }
  }
  // The lock is not in a std::unique_ptr or std::optional: these let no exception of a destructor out.
  auto* const held = new default_cohort_lock<world>(w);
  if (w.rank() == w.size() - 1) {
    held->lock();
    EXPECT_THROW(delete held, destroyed_while_held);
  } else {
    delete held;
  }
  w.barrier();
}
#endif

}  // namespace
}  // namespace nearfar::testing
