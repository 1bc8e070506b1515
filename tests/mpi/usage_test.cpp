// Programs with locks: data of their own in windows and files, many worlds, many locks, large windows.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "nearfar/lock/cohort_lock.hpp"
#include "nearfar/lock/dash_lock.hpp"
#include "nearfar/lock/tas_lock.hpp"
#include "nearfar/memory/mpi/world.hpp"
#include "tests/lock/guarded.hpp"
#include "tests/lock/jitter.hpp"
#include "tests/mpi/environment.hpp"

namespace nearfar::testing {
namespace {

using mpi::world;

mpi::options small_world() {
  mpi::options chosen;
  chosen.near_bytes = chosen.far_bytes = std::size_t{1} << 15U;
  return chosen;
}

/// Calls `body` `count` times on each rank, one rank at a time.
template <typename Body>
void in_critical_sections(world& w, int count, Body body) {
  default_cohort_lock<world> lock(w, w.size() - 1);
  jitter timing(1, w.rank());
  for (int round = 0; round < count; ++round) {
    lock.lock();
    body(timing);
    lock.unlock();
  }
  w.barrier();
}

// ---- the user's data ----

TEST(guarded_data, in_a_shared_window) {
  world& w = common_world();
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  std::uint64_t* mine = nullptr;
  MPI_Win shared = MPI_WIN_NULL;
  MPI_Win_allocate_shared(sizeof *mine, sizeof *mine, MPI_INFO_NULL, node, &mine, &shared);
  MPI_Aint bytes = 0;
  int unit = 0;
  std::uint64_t* count = nullptr;
  MPI_Win_shared_query(shared, 0, &bytes, &unit, &count);
  *mine = 0;
  w.barrier();
  in_critical_sections(w, often(w), [&](jitter& timing) {
    const std::uint64_t seen = *count;
    timing.pause();
    *count = seen + 1;
  });
  int mates = 0;
  MPI_Comm_size(node, &mates);
  EXPECT_EQ(*count, static_cast<std::uint64_t>(mates) * static_cast<std::uint64_t>(often(w)));
  w.barrier();
  MPI_Win_free(&shared);
  MPI_Comm_free(&node);
}

TEST(guarded_data, in_a_window_by_put) {
  world& w = common_world();
  std::uint64_t* memory = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  std::fill_n(memory, 8, 0);
  w.barrier();
  MPI_Win_lock_all(0, window);
  std::uint64_t value = 0;
  const auto read = [&] {
    MPI_Get(&value, 1, MPI_UINT64_T, 0, 0, 1, MPI_UINT64_T, window);
    MPI_Win_flush(0, window);
  };
  in_critical_sections(w, often(w), [&](jitter& timing) {
    read();
    timing.pause();
    ++value;
    MPI_Put(&value, 1, MPI_UINT64_T, 0, 0, 1, MPI_UINT64_T, window);
    MPI_Win_flush(0, window);
  });
  read();
  EXPECT_EQ(value, static_cast<std::uint64_t>(w.size()) * static_cast<std::uint64_t>(often(w)));
  w.barrier();
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
}

TEST(guarded_data, in_a_file) {
  world& w = common_world();
  std::array<char, 64> path{"/tmp/nearfar-guarded-XXXXXX"};
  const int made = w.rank() == 0 ? mkstemp(path.data()) : -1;
  MPI_Bcast(path.data(), static_cast<int>(path.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  const int file = w.rank() == 0 ? made : open(path.data(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(file, 0) << "the nodes share no /tmp";
  std::uint64_t value = 0;
  if (w.rank() == 0) {
    ASSERT_EQ(pwrite(file, &value, sizeof value, 0), 8);
  }
  w.barrier();
  in_critical_sections(w, often(w), [&](jitter& timing) {
    EXPECT_EQ(pread(file, &value, sizeof value, 0), 8);
    timing.pause();
    ++value;
    EXPECT_EQ(pwrite(file, &value, sizeof value, 0), 8);
  });
  EXPECT_EQ(pread(file, &value, sizeof value, 0), 8);
  EXPECT_EQ(value, static_cast<std::uint64_t>(w.size()) * static_cast<std::uint64_t>(often(w)));
  close(file);
  w.barrier();
  if (w.rank() == 0) unlink(path.data());
}

// ---- many ----

/// A world of the ranks of one colour, with a lock and its data.
struct member {
  member(int colour, int key) {
    MPI_Comm_split(MPI_COMM_WORLD, colour, key, &comm);
    w = std::make_unique<world>(comm, small_world());
    lock = std::make_unique<default_cohort_lock<world>>(*w, w->size() / 2);
    inside = std::make_unique<guarded<world>>(*w);
  }
  member(const member&) = delete;
  member& operator=(const member&) = delete;
  ~member() {
    inside.reset();
    lock.reset();
    w.reset();
    MPI_Comm_free(&comm);
  }
  MPI_Comm comm = MPI_COMM_NULL;
  std::unique_ptr<world> w;
  std::unique_ptr<default_cohort_lock<world>> lock;
  std::unique_ptr<guarded<world>> inside;
};

TEST(worlds, five_that_overlap_in_different_orders) {
  const int rank = common_world().rank();
  const int size = common_world().size();
  std::vector<std::unique_ptr<member>> worlds;
  worlds.push_back(std::make_unique<member>(0, rank));                      // all
  worlds.push_back(std::make_unique<member>(0, -rank));                     // all, reversed
  worlds.push_back(std::make_unique<member>(rank % 2, rank));               // even and odd
  worlds.push_back(std::make_unique<member>(rank / 2, -rank));              // pairs
  worlds.push_back(std::make_unique<member>(0, (rank + size / 2) % size));  // all, rotated
  jitter timing(3, rank);
  for (int round = 0; round < often(common_world()); ++round) {
    // Every rank takes the locks one after the other in one order, so that no cycle of ranks can wait for
    // each other.
    const std::size_t outer = timing.below(5);
    const std::size_t inner = outer + 1 + timing.below(5);
    worlds[outer]->lock->lock();
    worlds[outer]->inside->visit(timing);
    if (inner < worlds.size()) {
      worlds[inner]->lock->lock();
      worlds[inner]->inside->visit(timing);
      worlds[inner]->lock->unlock();
    }
    worlds[outer]->lock->unlock();
  }
  for (const auto& one : worlds) EXPECT_EQ(one->inside->violations(), "");
}

TEST(many_locks, destroyed_in_random_order) {
  mpi::options chosen;
  chosen.oversubscribed =
      true;  // thousands of collective calls, each of which would cost a busy machine's slice
  world w(MPI_COMM_WORLD, chosen);
  const std::size_t count = w.one_physical_node() ? 2000 : 20;
  std::vector<std::unique_ptr<tas_lock<world>>> locks;
  for (std::size_t i = 0; i < count; ++i)
    locks.push_back(std::make_unique<tas_lock<world>>(w, static_cast<int>(i) % w.size()));
  for (const auto& lock : locks)
    if (lock->try_lock()) lock->unlock();
  w.barrier();
  std::minstd_rand random(static_cast<unsigned>(w.rank()) + 1);
  std::shuffle(locks.begin(), locks.end(), random);
  // Half of them go, and others come between the rest.
  locks.resize(count / 2);
  locks.clear();
  default_cohort_lock<world> lock(w);
  guarded<world> inside(w);
  jitter timing(4, w.rank());
  for (int round = 0; round < 10; ++round) {
    lock.lock();
    inside.visit(timing);
    lock.unlock();
  }
  EXPECT_EQ(inside.violations(), "");
}

// ---- large ----

// The size exceeds 32 bits. Untouched pages take no memory, but /dev/shm must have room for them.
TEST(windows, of_five_gibibytes) {
  struct statvfs shm {};
  ASSERT_EQ(statvfs("/dev/shm", &shm), 0);
  const std::size_t room = static_cast<std::size_t>(shm.f_bavail) * shm.f_frsize;
  const std::size_t wanted = std::size_t{5} << 30U;
  world& all = common_world();
  const auto ranks = static_cast<std::size_t>(all.size());
  const bool fits = all.all_alike(room > ranks * (wanted + (std::size_t{1} << 24U)) ? 1 : 0) &&
                    room > ranks * (wanted + (std::size_t{1} << 24U));
  if (!fits) GTEST_SKIP() << "/dev/shm has no " << 5 * ranks << " GiB";
  mpi::options chosen = small_world();
  chosen.far_bytes = wanted;
  world w(MPI_COMM_WORLD, chosen);
  const int right = (w.rank() + 1) % w.size();
  const int left = (w.rank() + w.size() - 1) % w.size();
  // Stands in for a segment at the very end: a segment that reaches so far would have to be zeroed.
  const std::size_t last = wanted - sizeof(std::uint64_t);
  const rank_word me = to_word(w.rank());
  MPI_Put(&me, 1, MPI_UINT64_T, right, w.far_displacement(right) + static_cast<MPI_Aint>(last), 1,
          MPI_UINT64_T, w.far_window());
  MPI_Win_flush(right, w.far_window());
  w.barrier();
  EXPECT_EQ(*reinterpret_cast<const std::uint64_t*>(w.far_memory(w.rank()) + last), to_word(left));
  dash_lock<world> lock(w, w.size() - 1);
  guarded<world> inside(w);
  jitter timing(5, w.rank());
  for (int round = 0; round < 5; ++round) {
    lock.lock();
    inside.visit(timing);
    lock.unlock();
  }
  EXPECT_EQ(inside.violations(), "");
}

}  // namespace
}  // namespace nearfar::testing
