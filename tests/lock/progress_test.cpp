// A rank that takes a lock again and again has to let others in: a kept lock calls the library in no other
// way.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "nearfar/lock/biased_queue.hpp"
#include "nearfar/lock/cohort_lock.hpp"
#include "nearfar/memory/threads/world.hpp"
#include "nearfar/topology/spec.hpp"

namespace {

/// Counts the calls by which an algorithm drives progress without waiting.
class counting_world : public nearfar::threads::world {
 public:
  using nearfar::threads::world::world;

  void rest() {
    ++rests_;
    nearfar::threads::world::rest();
  }
  [[nodiscard]] unsigned rests() const noexcept { return rests_; }

 private:
  unsigned rests_ = 0;
};

constexpr unsigned often = 10;
constexpr unsigned per_rest = nearfar::biased_policy{}.takes_per_progress;

/// How often rank 0 drives progress while it takes the default lock often enough for `often` such calls. The
/// other ranks do not want the lock.
unsigned rests_while_taking(int ranks, const std::string& topology, bool tries) {
  nearfar::threads::team all(ranks, {.topology = nearfar::topology_spec::parse(topology)});
  unsigned rests = 0;
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&all, &rests, rank, tries] {
      counting_world w(all, rank);
      nearfar::default_cohort_lock<counting_world> lock(w);
      if (rank == 0) {
        // The first acquisition between nodes keeps the lock, and the later ones take up the kept lock.
        lock.lock();
        lock.unlock();
        const unsigned before = w.rests();
        for (unsigned i = 0; i < often * per_rest; ++i) {
          if (tries)
            EXPECT_TRUE(lock.try_lock());
          else
            lock.lock();
          lock.unlock();
        }
        rests = w.rests() - before;
      }
      w.barrier();
    });
  threads.clear();
  return rests;
}

TEST(default_lock, lets_others_in_while_a_rank_of_the_only_node_takes_it) {
  for (const bool tries : {false, true}) EXPECT_EQ(rests_while_taking(1, "node:1", tries), often);
}

TEST(default_lock, lets_others_in_while_a_node_keeps_it) {
  for (const bool tries : {false, true}) EXPECT_EQ(rests_while_taking(2, "node:2", tries), often);
}

}  // namespace
