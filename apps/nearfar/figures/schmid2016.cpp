// nearfar figures schmid2016: the analyses of a publication on reader-writer locks.

#include <fmt/format.h>

#include "apps/nearfar/figures/papers.hpp"
#include "apps/nearfar/shared/command.hpp"

namespace nearfar::command {

namespace {

/// 16 ranks and four times as many each time.
std::vector<shape> fourfold(int most_ranks, int ranks_per_node) {
  constexpr int fewest = 16;
  if (most_ranks < fewest)
    throw usage_error(fmt::format("--most-ranks must be {} or more, not {}", fewest, most_ranks));
  if (ranks_per_node < 1 || fewest % ranks_per_node != 0)
    throw usage_error(fmt::format("--ranks-per-node must divide {}, not be {}", fewest, ranks_per_node));
  std::vector<shape> all;
  for (int ranks = fewest; ranks <= most_ranks; ranks *= 4)
    all.push_back({.nodes = ranks / ranks_per_node, .ranks_per_node = ranks_per_node});
  return all;
}

/// In the order of the slides.
std::vector<analysis> of_the_slides() {
  return {
      {"counter",
       "Distributed counter (T_DC): single operation, 2 % writers",
       "rw_sob",
       {"rma_rw"},
       {{"writers", {"2"}}, {"nodes_per_counter", {"1", "2", "4", "16"}}}},
      {"readers",
       "Reader threshold (T_R): empty critical section, turns of two nodes, 2, 5 and 25 % writers",
       "rw_ecsb",
       {"rma_rw"},
       {{"writers", {"2", "5", "25"}},
        {"max_writer_passes", {"1"}},
        {"max_readers", {"8", "32", "128", "512"}}}},
      {"writers",
       "Writer threshold (T_L of the root): single operation, 25 % writers",
       "rw_sob",
       {"rma_rw"},
       {{"writers", {"25"}}, {"max_writer_passes", {"0", "10", "100", "1000"}}}},
      {"fairness",
       "Fairness against throughput (T_L of nodes): single operation, 25 % writers",
       "rw_sob",
       {"rma_rw"},
       {{"writers", {"25"}}, {"max_local_passes", {"0", "5", "50"}}}},
      {"comparison-ecsb",
       "Comparison: empty critical section",
       "rw_ecsb",
       {"cohort_rw", "rma_rw", "mpi_rw", "rw_spin"},
       {{"writers", {"0.2", "2", "25"}}}},
      {"comparison-sob",
       "Comparison: single operation",
       "rw_sob",
       {"cohort_rw", "rma_rw", "mpi_rw", "rw_spin"},
       {{"writers", {"0.2", "2", "5"}}}},
      {"work-inside",
       "Comparison: work inside",
       "rw_wcsb",
       {"cohort_rw", "rma_rw", "mpi_rw", "rw_spin"},
       {{"writers", {"2"}}}},
      {"wait-after",
       "Comparison: wait after release",
       "rw_warb",
       {"cohort_rw", "rma_rw", "mpi_rw", "rw_spin"},
       {{"writers", {"2"}}}},
      {"latency",
       "Latency of writers alone (LB)",
       "rw_lb",
       {"cohort_rw", "rma_rw", "mpi_rw", "rw_spin"},
       {{"writers", {"100"}}}},
      {"hash-table",
       "Distributed hash table: 2 and 20 % writers",
       "dht",
       {"map", "map.cohort_rw", "map.rma_rw", "map.bucket"},
       {{"writers", {"2", "20"}}, {"keys", {"200"}}}},
      {"exclusive",
       "Exclusive locks: empty critical section",
       "ecsb",
       {"d_mcs", "rma_mcs", "cohort", "mpi_win"},
       {}},
  };
}

}  // namespace

paper schmid2016() {
  return {.name = "schmid2016",
          .title = "P. Schmid, M. Besta, T. Hoefler, HPDC 2016: its analyses, in the simulated cluster",
          .analyses = of_the_slides(),
          .machine = "piz-daint-xc30",
          .ranks_per_node = 8,
          .most_ranks = 1024,
          .most_ranks_quick = 64,
          .ranks_text = "16, and four times as many each time",
          .document = "docs/readers-writers.md",
          .values = {{"duration", {"0.005"}}},
          .quick_values = {{"duration", {"0.0005"}}},
          .shapes = fourfold,
          .claims = {}};
}

}  // namespace nearfar::command
