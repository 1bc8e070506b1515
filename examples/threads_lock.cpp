// The same locks without MPI: the threads of one process append to a list.
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <numeric>
#include <vector>

#include "nearfar/lock/cohort_lock.hpp"
#include "nearfar/memory/threads/world.hpp"
#include "nearfar/topology/spec.hpp"

int main() {
  using nearfar::threads::world;
  constexpr int threads = 4;
  constexpr int rounds = 1000;
  std::vector<int> list;

  // Treats the threads as if they were on two nodes. The lock stays on a node up to its pass limit.
  nearfar::threads::options chosen;
  chosen.topology = nearfar::topology_spec::parse("node:2");
  nearfar::threads::run(
      threads,
      [&](world& w) {
        nearfar::default_cohort_lock<world> lock(w);
        for (int i = 0; i < rounds; ++i) {
          const std::lock_guard hold(lock);
          list.push_back(w.rank());
        }
      },
      chosen);

  const int sum = std::accumulate(list.begin(), list.end(), 0);
  std::printf("%zu entries, sum %d\n", list.size(), sum);
  return list.size() == std::size_t{threads} * rounds && sum == rounds * (0 + 1 + 2 + 3) ? 0 : 1;
}
