// The same locks without MPI: a list that the threads of one process append to.
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

  // As if the threads were on two nodes: the lock stays on one while it may.
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
