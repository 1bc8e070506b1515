// Compares the cost of a call of the C interface with the same call of C++: both in one process, by turns.
//
// Rank 0 calls alone, while the others wait in a barrier. The values from queues and maps are compared with
// those put in, and afterwards rank 1 tests whether the locks are locks, so no call can have done nothing.
// The C interface checks misuse in every build. C++ does not in a release build, and the first line says so.
// Run it as
//   scripts/run-mpi --mpi openmpi --ranks 2 --bind -- build/release-openmpi/bench/nearfar_c_cost

#include <fmt/format.h>
#include <mpi.h>
#include <nearfar.h>

#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/results/statistics.hpp"
#include "nearfar/core/checks.hpp"
#include "nearfar/lock/cohort_lock.hpp"
#include "nearfar/map/distributed_map.hpp"
#include "nearfar/memory/mpi/world.hpp"
#include "nearfar/queue/ticket_queue.hpp"

namespace {

using namespace nearfar;

constexpr int turns = 41;
constexpr double shortest_turn_ns = 1e7;
constexpr std::size_t capacity = 1024;
constexpr std::uint64_t keys = 256;

/// Keys and values as the C interface has them: of another type a key could belong to another rank.
using bytes = std::array<std::byte, sizeof(std::uint64_t)>;
bytes bytes_of(std::uint64_t number) { return std::bit_cast<bytes>(number); }

void expect(bool is_so, std::string_view what) {
  if (is_so) return;
  fmt::print(stderr, "nearfar_c_cost: not so: {} ({})\n", what, nearfar_last_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}
void succeed(nearfar_status status) { expect(status == NEARFAR_SUCCESS, nearfar_error_text(status)); }

/// Nanoseconds of one call.
template <typename Call>
double time_of(const Call& call, std::uint64_t calls) {
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < calls; ++i) call(i);
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  return took.count() / static_cast<double>(calls);
}

void print(std::vector<double> values, int digits) {
  const bench::median_interval of = bench::median_of(std::move(values));
  fmt::print("{0:>10.{3}f} [{1:>8.{3}f}, {2:>8.{3}f}]", of.median, of.low, of.high, digits);
}

template <typename Cpp, typename C>
void compare(std::string_view what, const Cpp& cpp, const C& c) {
  std::uint64_t calls = 1;
  while (time_of(cpp, calls) * static_cast<double>(calls) < shortest_turn_ns) calls *= 2;
  static_cast<void>(time_of(c, calls));
  std::vector<double> of_cpp;
  std::vector<double> of_c;
  std::vector<double> ratios;
  std::vector<double> differences;
  for (int turn = 0; turn < turns; ++turn) {
    // Neither is always the first.
    const double before = turn % 2 == 0 ? time_of(cpp, calls) : time_of(c, calls);
    const double after = turn % 2 == 0 ? time_of(c, calls) : time_of(cpp, calls);
    of_cpp.push_back(turn % 2 == 0 ? before : after);
    of_c.push_back(turn % 2 == 0 ? after : before);
    ratios.push_back(of_c.back() / of_cpp.back());
    differences.push_back(of_c.back() - of_cpp.back());
  }
  fmt::print("{:<16}", what);
  print(std::move(of_cpp), 1);
  print(std::move(of_c), 1);
  print(std::move(ratios), 3);
  print(std::move(differences), 1);
  fmt::print("\n");
  std::fflush(stdout);
}

/// That rank 1 does not get what rank 0 has, and gets it afterwards.
template <typename Acquire, typename Try, typename Release>
void expect_lock(mpi::world& w, const Acquire& acquire, const Try& try_acquire, const Release& release) {
  if (w.rank() == 0) acquire();
  w.barrier();
  if (w.rank() == 1) expect(!try_acquire(), "a lock that is held cannot be taken");
  w.barrier();
  if (w.rank() == 0) release();
  w.barrier();
  if (w.rank() == 1) {
    expect(try_acquire(), "a lock that was released can be taken");
    release();
  }
  w.barrier();
}

void locks(mpi::world& w, nearfar_world* c_world) {
  default_cohort_lock<mpi::world> lock(w);
  nearfar_lock* c_lock = nullptr;
  succeed(nearfar_lock_create(c_world, 0, &c_lock));
  const auto acquire = [&] { lock.lock(); };
  const auto release = [&] { lock.unlock(); };
  const auto c_acquire = [&] { succeed(nearfar_lock_acquire(c_lock)); };
  const auto c_release = [&] { succeed(nearfar_lock_release(c_lock)); };
  if (w.rank() == 0)
    compare(
        "lock, release", [&](std::uint64_t /*i*/) { acquire(), release(); },
        [&](std::uint64_t /*i*/) { c_acquire(), c_release(); });
  w.barrier();
  expect_lock(
      w, acquire, [&] { return lock.try_lock(); }, release);
  expect_lock(
      w, c_acquire, [&] { return nearfar_lock_try_acquire(c_lock) == NEARFAR_SUCCESS; }, c_release);
  succeed(nearfar_lock_destroy(&c_lock));
}

void queues(mpi::world& w, nearfar_world* c_world) {
  ticket_queue<mpi::world, bytes> queue(w, {.capacity = capacity});
  nearfar_queue* c_queue = nullptr;
  succeed(nearfar_queue_create(c_world, NEARFAR_QUEUE_TICKET, sizeof(bytes), capacity, &c_queue));
  if (w.rank() == 0)
    compare(
        "push, pop",
        [&](std::uint64_t i) {
          expect(queue.push(bytes_of(i)) == queue_status::success, "push");
          const popped<bytes> value = queue.pop();
          expect(value && *value == bytes_of(i), "what is popped was pushed");
        },
        [&](std::uint64_t i) {
          succeed(nearfar_queue_push(c_queue, &i));
          std::uint64_t value = ~i;
          succeed(nearfar_queue_pop(c_queue, &value));
          expect(value == i, "what is popped was pushed");
        });
  w.barrier();
  succeed(nearfar_queue_destroy(&c_queue));
}

void maps(mpi::world& w, nearfar_world* c_world) {
  distributed_map<mpi::world, bytes, bytes> map(w, {.cells = capacity});
  nearfar_map* c_map = nullptr;
  succeed(nearfar_map_create(c_world, sizeof(bytes), sizeof(bytes), capacity, &c_map));
  if (w.rank() == 0) {
    for (std::uint64_t key = 0; key < keys; ++key) {
      const std::uint64_t value = ~key;
      expect(map.insert(bytes_of(key), bytes_of(value)) == insert_result::inserted, "insert");
      succeed(nearfar_map_insert(c_map, &key, &value));
    }
    compare(
        "find",
        [&](std::uint64_t i) {
          const std::optional<bytes> value = map.find(bytes_of(i % keys));
          expect(value == bytes_of(~(i % keys)), "what is found was inserted");
        },
        [&](std::uint64_t i) {
          const std::uint64_t key = i % keys;
          std::uint64_t value = 0;
          succeed(nearfar_map_find(c_map, &key, &value));
          expect(value == ~key, "what is found was inserted");
        });
  }
  w.barrier();
  succeed(nearfar_map_destroy(&c_map));
}

void run() {
  mpi::world w(MPI_COMM_WORLD);
  nearfar_world* c_world = nullptr;
  succeed(nearfar_world_from_comm(MPI_COMM_WORLD, nullptr, &c_world));
  if (w.rank() == 0)
    fmt::print("# {}; C++ is {}checked\n# {:<14}{:>31}{:>31}{:>31}{:>31}\n",
               mpi::library_version().substr(0, 60), checked_build ? "" : "not ", "", "C++, ns [95 %]",
               "C, ns [95 %]", "C/C++ [95 %]", "C - C++, ns [95 %]");
  locks(w, c_world);
  queues(w, c_world);
  maps(w, c_world);
  succeed(nearfar_world_destroy(&c_world));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 2) {
    fmt::print(stderr, "nearfar_c_cost: needs 2 ranks: start it with mpirun -n 2\n");
    MPI_Finalize();
    return 2;
  }
  run();
  MPI_Finalize();
  return 0;
}
