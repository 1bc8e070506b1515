#include "apps/nearfar/doctor/near_probe.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <set>
#include <thread>

#include "bench/results/statistics.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/topology/hardware.hpp"

namespace nearfar::command {

namespace {

using clock = std::chrono::steady_clock;
using ns = std::chrono::duration<double, std::nano>;

struct alignas(cache_line) line {
  std::atomic<std::uint64_t> word = 0;
};

/// Each of two threads, bound to two cores, answers the other's store by a store, `n` times.
void ping_pong(const hardware& here, int core, int other_core, int n, double& elapsed_ns) {
  line shared;
  std::atomic<int> ready = 0;
  const auto play = [&](int on, std::uint64_t first) {
    here.bind_this_thread_to_core(on);
    ++ready;
    while (ready < 2) std::this_thread::yield();
    const clock::time_point start = clock::now();
    const auto last = first + 2 * static_cast<std::uint64_t>(n);
    // Yields now and then: on a machine that others use too, both threads may be on one processor.
    for (std::uint64_t turn = first; turn < last; turn += 2) {
      constexpr int polls_per_yield = 1 << 14;
      for (int polls = 1; shared.word.load(std::memory_order_acquire) != turn; ++polls)
        if (polls % polls_per_yield == 0) std::this_thread::yield();
      shared.word.store(turn + 1, std::memory_order_release);
    }
    if (first == 0) elapsed_ns = ns(clock::now() - start).count();
  };
  const std::jthread partner([&] { play(other_core, 1); });
  const std::jthread self([&] { play(core, 0); });
}

/// One store and one load of a line that another core has had: a quarter of a round trip each.
double line_transfer(const hardware& here, int core, int other_core) {
  constexpr int rounds = 2000;
  constexpr int repetitions = 7;
  constexpr double transfers_per_round = 4;
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) {
    double elapsed = 0;
    ping_pong(here, core, other_core, rounds, elapsed);
    times.push_back(elapsed / rounds / transfers_per_round);
  }
  return bench::median_of(std::move(times)).median;
}

std::vector<place> places_of_cores(const hardware& here) {
  std::vector<place> places(static_cast<std::size_t>(here.allowed_cores()));
  std::jthread([&] {
    for (std::size_t core = 0; core < places.size(); ++core) {
      here.bind_this_thread_to_core(static_cast<int>(core));
      places[core] = here.this_thread_place();
    }
  }).join();
  return places;
}

}  // namespace

double median_ns(const std::function<void(int n)>& batch) {
  constexpr ns long_enough(2e6);
  constexpr int most = 1 << 22;
  constexpr int repetitions = 7;
  const auto time = [&](int n) {
    const clock::time_point start = clock::now();
    batch(n);
    return ns(clock::now() - start);
  };
  int n = 1;
  while (n < most && time(n) < long_enough) n *= 2;
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) times.push_back(time(n).count() / n);
  return bench::median_of(std::move(times)).median;
}

std::vector<std::string> probe_near(simulation::near_costs& costs) {
  std::vector<std::string> measured{"near.hit", "near.atomic"};
  line mine;
  costs.hit = median_ns([&](int n) {
    for (int i = 0; i < n; ++i) static_cast<void>(mine.word.load(std::memory_order_acquire));
  });
  costs.atomic = median_ns([&](int n) {
    for (int i = 0; i < n; ++i) mine.word.fetch_add(1, std::memory_order_acq_rel);
  });
  const hardware here;
  if (!here.is_this_system() || here.allowed_cores() < 2) return measured;
  const std::vector<place> places = places_of_cores(here);
  const auto same = [&](level at, std::size_t a, std::size_t b) {
    for (const level outer : all_levels) {
      if (outer < level::node) continue;
      if (places[a][index(outer)] != places[b][index(outer)] || places[a][index(outer)] == unknown_id)
        return outer == level::node && places[a][index(outer)] == places[b][index(outer)];
      if (outer == at) return true;
    }
    return true;
  };
  // The first pair of cores at each distance stands for all.
  for (std::size_t a = 0; a < places.size(); ++a) {
    for (std::size_t b = a + 1; b < places.size(); ++b) {
      const bool in_cache = same(level::cache, a, b);
      const bool in_numa = same(level::numa, a, b);
      const std::string name = in_cache ? "near.same_cache" : in_numa ? "near.same_numa" : "near.same_node";
      if (std::find(measured.begin(), measured.end(), name) != measured.end()) continue;
      double& cost = in_cache ? costs.same_cache : in_numa ? costs.same_numa : costs.same_node;
      cost = line_transfer(here, static_cast<int>(a), static_cast<int>(b));
      measured.push_back(name);
    }
  }
  return measured;
}

}  // namespace nearfar::command
