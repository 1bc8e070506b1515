// How often a waiting rank should drive MPI's progress: the measurement behind `wait_ratios`.
//
// For each ratio of polls to progress calls, between ranks 0 and 1:
//  - hand-over: time from one acquisition to the next of the default cohort lock in the ECSB, if both are on
//  one node;
//  - far latency: time of a fetch-and-add with its flush aimed at rank 0 while that rank waits.
// The first wants few calls, the second many. Run it as
//   scripts/run-mpi --mpi openmpi --ranks 2 --bind -- build/release-openmpi/bench/nearfar_progress_ratio
// and, where progress matters to far operations, on two nodes
//   scripts/two-nodes run --mpi openmpi --ranks 2 -- build/release-openmpi/bench/nearfar_progress_ratio

#include <fmt/format.h>
#include <mpi.h>

#include <chrono>
#include <cstdlib>
#include <vector>

#include "bench/kinds/locks/ecsb.hpp"
#include "bench/results/statistics.hpp"
#include "nearfar/memory/mpi/world.hpp"

namespace {

using namespace nearfar;

constexpr int repetitions = 9;
constexpr int operations = 200;

struct alignas(slot_bytes) words {
  far<std::uint64_t> counter;
  far<std::uint64_t> finished;
};

/// Median over `operations` of the latency that rank 1 sees; 0 on the others.
double far_latency(mpi::world& w) {
  mpi::world::far_segment<words> segment(w);
  const std::uint64_t one = 1;
  std::vector<double> latencies;
  if (w.rank() == 0) {
    w.await_direct(segment, 0, &words::finished, [](std::uint64_t finished) { return finished != 0; });
  } else if (w.rank() == 1) {
    for (int i = 0; i < operations; ++i) {
      std::uint64_t before = 0;
      const auto start = w.now();
      segment.fetch_add(0, &words::counter, one, before);
      segment.flush(0);
      latencies.push_back(static_cast<double>((w.now() - start).count()));
    }
    segment.put(0, &words::finished, one);
    segment.flush(0);
  }
  w.barrier();
  return w.rank() == 1 ? bench::median_of(std::move(latencies)).median : 0;
}

void measure(unsigned ratio) {
  mpi::world w(MPI_COMM_WORLD, {.ratios = {.polls_per_progress = ratio, .polls_per_yield = ratio}});
  const bool one_node = w.locality().same(level::node, 0, 1);
  std::vector<double> handovers;
  std::vector<double> latencies;
  for (int i = 0; i < repetitions; ++i) {
    if (one_node)
      handovers.push_back(
          bench::run_ecsb(w, *bench::catalogue::instance().find("cohort"), {}, std::chrono::milliseconds(100))
              .ns_per_acquisition());
    const auto all = w.gather_to_all(static_cast<std::int64_t>(far_latency(w)));
    latencies.push_back(static_cast<double>(all[1]));
  }
  if (w.rank() != 0) return;
  const auto latency = bench::median_of(latencies);
  fmt::print("{:>8}", ratio);
  if (one_node) {
    const auto handover = bench::median_of(handovers);
    fmt::print("{:>10.1f} [{:>7.1f}, {:>7.1f}]", handover.median, handover.low, handover.high);
  } else {
    fmt::print("{:>30}", "-");
  }
  fmt::print("{:>12.0f} [{:>8.0f}, {:>8.0f}]\n", latency.median, latency.low, latency.high);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks = 0;
  int rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (ranks < 2) {
    fmt::print(stderr, "nearfar_progress_ratio: needs 2 ranks: start it with mpirun -n 2\n");
    MPI_Finalize();
    return 2;
  }
  if (rank == 0)
    fmt::print("# {}\n# {:>6}{:>30}{:>32}\n", mpi::library_version().substr(0, 60), "ratio",
               "hand-over, ns [95 %]", "far latency, ns [95 %]");
  for (const unsigned ratio : {1U, 4U, 16U, 64U, 256U, 1024U, 4096U, 16384U}) measure(ratio);
  MPI_Finalize();
  return 0;
}
