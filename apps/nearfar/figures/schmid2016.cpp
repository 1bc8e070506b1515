// nearfar figures schmid2016: the analyses of a publication on reader-writer locks.

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "apps/nearfar/figures/claims.hpp"
#include "apps/nearfar/figures/papers.hpp"
#include "apps/nearfar/shared/command.hpp"

namespace nearfar::command {

// Of its own, as all sources of the command may be compiled as one.
namespace schmid {
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
       "Reader threshold (T_R): empty critical section, turns of two nodes, 0.2, 2 and 5 % writers",
       "rw_ecsb",
       {"rma_rw"},
       {{"writers", {"0.2", "2", "5"}},
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
       "Distributed hash table: 0, 2, 10 and 20 % writers",
       "dht",
       {"map", "map.cohort_rw", "map.rma_rw", "map.rw_spin", "map.bucket"},
       {{"writers", {"0", "2", "10", "20"}}, {"keys", {"200"}}}},
      {"exclusive",
       "Exclusive locks: throughput and latency, empty critical section",
       "ecsb",
       {"d_mcs", "rma_mcs", "cohort", "mpi_win", "tas"},
       {}},
  };
}

// ---- claims -----------------------------------------------------------------------------------------------

// The slides state results in words and show them in pictures. Each claim is judged at the most ranks that
// were measured.

using places = std::map<std::string, std::int64_t>;

constexpr int all_ranks_measured[] = {16, 64, 256, 1024, 4096, 16384, 65536};

quantity of(const std::string& object, int ranks, const std::string& column, places at = {}) {
  return {{.object = object, .ranks = ranks, .at = std::move(at)}, column};
}

/// One claim, with the evidence that `make` gives for a number of ranks.
template <typename Evidence>
claim at_most_ranks(const char* analysis, std::string text, Evidence make) {
  claim result{.analysis = analysis, .text = std::move(text), .of = {}, .counts = counting::last};
  for (const int ranks : all_ranks_measured) result.of.push_back(make(ranks));
  return result;
}

evidence has_more(const quantity& one, const quantity& other, int ranks, const char* unit) {
  return {{one > other}, fmt::format("{{:.3g}} to {{:.3g}} {} with {}", unit, ranks), {one, other}};
}

constexpr const char* millions = "million/s";

/// Of RMA-RW and each lock of the state of the art.
claim faster_than_others(const char* analysis, const char* benchmark, int writers) {
  return at_most_ranks(
      analysis,
      fmt::format("{}, {} % writers: RMA-RW has more throughput than MPI's lock and the spin lock", benchmark,
                  writers),
      [=](int ranks) {
        const places at{{"writers", writers}};
        const quantity best =
            largest({of("mpi_rw", ranks, "throughput", at), of("rw_spin", ranks, "throughput", at)});
        return has_more(of("rma_rw", ranks, "throughput", at), best, ranks, millions);
      });
}

/// Of the hash table with RMA-RW and the same with the spin lock.
claim better_table(int writers) {
  return at_most_ranks(
      "hash-table",
      fmt::format("hash table, {} % writers: RMA-RW has more throughput than the spin lock", writers),
      [=](int ranks) {
        const places at{{"writers", writers}};
        return has_more(of("map.rma_rw", ranks, "throughput", at), of("map.rw_spin", ranks, "throughput", at),
                        ranks, millions);
      });
}

/// Of RMA-RW with a large and a small value of a threshold.
evidence gains(const char* parameter, std::int64_t small, std::int64_t large, int ranks, places at,
               const char* column = "throughput", const char* unit = millions) {
  places more = at;
  more[parameter] = large;
  at[parameter] = small;
  return has_more(of("rma_rw", ranks, column, std::move(more)), of("rma_rw", ranks, column, std::move(at)),
                  ranks, unit);
}

std::vector<claim> claims() {
  std::vector<claim> all{
      at_most_ranks("counter", "T_DC: fewer counters let writers in sooner (1 and 16 nodes a counter)",
                    [](int ranks) {
                      const auto latency = [ranks](int nodes) {
                        return of("rma_rw", ranks, "write_p50", {{"nodes_per_counter", nodes}});
                      };
                      return has_more(latency(1), latency(16), ranks, "ns");
                    }),
      at_most_ranks("counter", "T_DC: more counters let readers in sooner (1 and 16 nodes a counter)",
                    [](int ranks) { return gains("nodes_per_counter", 1, 16, ranks, {}, "read_p50", "ns"); }),
      at_most_ranks("readers", "T_R: longer turns of the readers give more throughput, 2 % writers",
                    [](int ranks) {
                      return gains("max_readers", 8, 512, ranks, {{"writers", 2}});
                    }),
      at_most_ranks("readers", "T_R: the same with 5 % writers",
                    [](int ranks) {
                      return gains("max_readers", 8, 512, ranks, {{"writers", 5}});
                    }),
      at_most_ranks("writers", "T_L of the root: more passes among writers give more throughput",
                    [](int ranks) { return gains("max_writer_passes", 0, 1000, ranks, {}); }),
      at_most_ranks("fairness", "T_L of nodes: more passes within a node give more throughput",
                    [](int ranks) { return gains("max_local_passes", 0, 50, ranks, {}); }),
      at_most_ranks(
          "fairness", "T_L of nodes: fewer passes give more fairness (variation of the ranks' writes)",
          [](int ranks) { return gains("max_local_passes", 0, 50, ranks, {}, "write_cv", "variation"); }),
  };
  for (const int writers : {2, 25}) all.push_back(faster_than_others("comparison-ecsb", "ECSB", writers));
  for (const int writers : {2, 5}) all.push_back(faster_than_others("comparison-sob", "SOB", writers));
  for (const int writers : {0, 2, 10, 20}) all.push_back(better_table(writers));
  all.push_back(at_most_ranks("latency", "LB: RMA-RW lets writers in sooner than MPI's lock", [](int ranks) {
    return has_more(of("mpi_rw", ranks, "write_p50"), of("rma_rw", ranks, "write_p50"), ranks, "ns");
  }));
  for (const char* each : {"d_mcs", "rma_mcs"}) {
    all.push_back(at_most_ranks(
        "exclusive", fmt::format("ECSB: {} has more throughput than MPI's lock and test-and-set", each),
        [each](int ranks) {
          const quantity best = largest({of("mpi_win", ranks, "throughput"), of("tas", ranks, "throughput")});
          return has_more(of(each, ranks, "throughput"), best, ranks, millions);
        }));
    all.push_back(at_most_ranks(
        "exclusive", fmt::format("LB: {} has a shorter latency than MPI's lock", each), [each](int ranks) {
          return has_more(of("mpi_win", ranks, "acquire_p50"), of(each, ranks, "acquire_p50"), ranks, "ns");
        }));
  }
  return all;
}

}  // namespace
}  // namespace schmid

paper schmid2016() {
  using namespace schmid;
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
          .claims = claims};
}

}  // namespace nearfar::command
