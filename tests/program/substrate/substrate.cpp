// nearfar's own MPI world as a program for the checker of MPI programs: objects over src/memory/mpi.
//
//   substrate cohort|readers|queue|self_test|unlocked [TIMES]
#include <mpi.h>

#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "nearfar/lock/cohort_lock.hpp"
#include "nearfar/lock/cohort_rw_lock.hpp"
#include "nearfar/memory/mpi/self_test.hpp"
#include "nearfar/memory/mpi/world.hpp"
#include "nearfar/queue/ticket_queue.hpp"

namespace {

using world = nearfar::mpi::world;

struct alignas(nearfar::slot_bytes) shared_words {
  nearfar::far<std::uint64_t> count;
};

constexpr int keeper = 0;

std::uint64_t read(world::far_segment<shared_words>& memory) {
  std::uint64_t count = 0;
  memory.get(keeper, &shared_words::count, count);
  memory.flush(keeper);
  return count;
}

void increment(world::far_segment<shared_words>& memory) {
  std::uint64_t count = read(memory);
  ++count;
  memory.put(keeper, &shared_words::count, count);
  memory.flush(keeper);
}

void expect_count(world& w, world::far_segment<shared_words>& memory, int expected) {
  w.barrier();
  if (w.rank() == keeper)
    assert(memory.read_direct(keeper, &shared_words::count) == static_cast<std::uint64_t>(expected));
}

/// All ranks increment a counter. Without the lock the checker must find that.
void check_cohort_lock(world& w, int times, bool is_locked) {
  nearfar::default_cohort_lock<world> lock(w);
  world::far_segment<shared_words> memory(w);
  for (int i = 0; i < times; ++i) {
    std::unique_lock guard(lock, std::defer_lock);
    if (is_locked) guard.lock();
    increment(memory);
  }
  expect_count(w, memory, times * w.size());
}

/// Rank 0 increments a counter twice under the writer's lock, and the others never see an odd number.
void check_rw_lock(world& w, int times) {
  nearfar::cohort_rw_lock<world> lock(w);
  world::far_segment<shared_words> memory(w);
  for (int i = 0; i < times; ++i)
    if (w.rank() == 0) {
      const std::lock_guard guard(lock);
      increment(memory);
      increment(memory);
    } else {
      const std::shared_lock guard(lock);
      const std::uint64_t count = read(memory);
      assert(count % 2 == 0);
    }
  expect_count(w, memory, 2 * times);
}

/// Each rank pushes numbers and pops as many. No number is lost or comes twice.
void check_queue(world& w, int times) {
  nearfar::ticket_queue<world, std::uint32_t> queue(w, {.capacity = 4});
  std::int64_t sum = 0;
  for (int i = 0; i < times; ++i) {
    const nearfar::queue_status pushed = queue.push(static_cast<std::uint32_t>(1) << (w.rank() * times + i));
    assert(pushed == nearfar::queue_status::success);
    sum += *queue.pop();
  }
  assert(w.sum_over_ranks({sum})[0] == (std::int64_t{1} << (w.size() * times)) - 1);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string what = argc > 1 ? argv[1] : "cohort";
  const int times = argc > 2 ? std::atoi(argv[2]) : 1;
  {
    nearfar::mpi::options chosen;
    chosen.far_bytes = chosen.near_bytes = std::size_t{1} << 14U;
    chosen.oversubscribed = false;
    chosen.self_test = what == "self_test";
    world w(MPI_COMM_WORLD, chosen);
    if (what == "cohort") check_cohort_lock(w, times, true);
    if (what == "unlocked") check_cohort_lock(w, times, false);
    if (what == "readers") check_rw_lock(w, times);
    if (what == "queue") check_queue(w, times);
  }
  MPI_Finalize();
  return 0;
}
