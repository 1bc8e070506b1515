// How fast the simulation is, and how much memory it takes: medians of several repetitions.
//   build/release-openmpi/bench/nearfar_engine_speed

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/kinds/locks/ecsb.hpp"
#include "bench/results/statistics.hpp"
#include "nearfar/simulation/cluster.hpp"
#include "nearfar/topology/spec.hpp"

namespace {

using namespace nearfar;
using simulation::distance;
using simulation::executor;
using simulation::transfer;

constexpr int runs = 7;

/// Costs of a usual cluster: what they are decides how often ranks meet, and so how often fibres switch.
simulation::machine usual_machine() {
  simulation::machine on;
  on.name = "usual";
  for (const transfer kind :
       {transfer::put, transfer::get, transfer::atomic, transfer::accumulate, transfer::message}) {
    on.cost(distance::self, kind) = {60, 20, 10, 0, executor::origin};
    on.cost(distance::node, kind) = {60, 60, 20, 0, executor::origin};
    on.cost(distance::remote, kind) = {150, 900, 40, 700, executor::nic};
  }
  on.network = {.injection_gap = 10, .jitter = 0.05};
  return on;
}

double seconds_of(const std::function<void()>& what) {
  const auto start = std::chrono::steady_clock::now();
  what();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void print(std::string_view what, std::string_view unit, std::vector<double> values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double low = *least;
  const double high = *most;
  fmt::print("{:<60}{:>9.2f}  [{:.2f}, {:.2f}] {}\n", what, bench::median_of(std::move(values)).median, low,
             high, unit);
  std::fflush(stdout);
}

/// Simulated operations per second of this processor's time.
void measure(std::string_view what, const char* topology, int ranks,
             const std::function<void(engine::world&)>& body) {
  const locality where = topology_spec::parse(topology).place(ranks);
  std::vector<double> operations;
  std::vector<double> switches;
  std::vector<double> slowdowns;
  for (int i = 0; i < runs; ++i) {
    simulation::run_statistics took;
    const double seconds =
        seconds_of([&] { took = simulation::run(usual_machine(), where, body, {.bytes = 1U << 16U}); });
    operations.push_back(static_cast<double>(took.operations) / seconds / 1e6);
    switches.push_back(static_cast<double>(took.switches) / seconds / 1e6);
    slowdowns.push_back(seconds / std::chrono::duration<double>(took.span).count());
  }
  print(fmt::format("{}: operations", what), "million/s", std::move(operations));
  print(fmt::format("{}: switches", what), "million/s", std::move(switches));
  print(fmt::format("{}: seconds for one simulated", what), "s", std::move(slowdowns));
}

struct alignas(cache_line) cells {
  engine::world::near<std::uint64_t> counter{};
};

/// Every operation but the first few is a switch, since the others' are always earlier.
void add_in_turns(engine::world& w) {
  engine::world::near_segment<cells> segment(w);
  for (int i = 0; i < 20000; ++i) segment.at(0).counter.fetch_add(1, std::memory_order_relaxed);
}

void add_alone(engine::world& w) {
  engine::world::near_segment<cells> segment(w);
  for (int i = 0; i < 2000000; ++i) segment.at(0).counter.fetch_add(1, std::memory_order_relaxed);
}

std::function<void(engine::world&)> ecsb_of(const char* lock, double seconds) {
  return [=](engine::world& w) {
    const auto& entry = *bench::catalogue::instance().find(lock);
    (void)bench::run_ecsb(w, entry, {}, std::chrono::duration<double>(seconds));
  };
}

double peak_mebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace

int main() {
  fmt::print("# median [least, most] of {} repetitions\n", runs);
  measure("one rank, atomics", "node:1 core:1", 1, add_alone);
  measure("100 ranks, atomics on one word", "node:1 numa:4 core:25", 100, add_in_turns);
  constexpr const char* four_nodes = "node:4 numa:4 core:7";
  measure("ecsb of cohort, 112 ranks", four_nodes, 112, ecsb_of("cohort", 0.05));
  measure("ecsb of dash, 112 ranks", four_nodes, 112, ecsb_of("dash", 0.05));
  measure("ecsb of rma_mcs, 112 ranks", four_nodes, 112, ecsb_of("rma_mcs", 0.05));
  measure("ecsb of tas, 112 ranks", four_nodes, 112, ecsb_of("tas", 0.05));
  const double before = peak_mebibytes();
  measure("ecsb of cohort, 4096 ranks", "node:147 numa:4 core:7", 4096, ecsb_of("cohort", 0.001));
  fmt::print("{:<60}{:>9.0f} MiB (before: {:.0f})\n", "peak memory with 4096 ranks", peak_mebibytes(),
             before);
  return 0;
}
