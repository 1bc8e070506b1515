// nearfar figures uffmann2022: the experiments of a thesis on locks over RMA, in the simulated cluster that
// it was written on, and what it says of each.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/nearfar/figures/papers.hpp"
#include "apps/nearfar/shared/command.hpp"
#include "apps/nearfar/sim/published.hpp"
#include "nearfar/lock/local_passes.hpp"

namespace nearfar::command {

// Of its own, as all sources of the command may be compiled as one.
namespace uffmann {
namespace {

using names = std::vector<std::string>;

// ---- experiments ------------------------------------------------------------------------------------------

constexpr int full_node = 28;
constexpr int full_cluster = 112;
const std::vector<shape> one_node{{.nodes = 1, .ranks_per_node = full_node}};
const std::vector<shape> four_nodes{{.nodes = 4, .ranks_per_node = full_node}};
const std::vector<shape> upb_nodes{{.nodes = 2, .ranks_per_node = 2}};
const std::vector<shape> ecsb_nodes{{.nodes = 1, .ranks_per_node = 14}, {.nodes = 1, .ranks_per_node = 28},
                                    {.nodes = 2, .ranks_per_node = 15}, {.nodes = 2, .ranks_per_node = 28},
                                    {.nodes = 3, .ranks_per_node = 19}, {.nodes = 3, .ranks_per_node = 28},
                                    {.nodes = 4, .ranks_per_node = 22}, {.nodes = 4, .ranks_per_node = 28}};
/// The same as numbers of ranks.
constexpr int ecsb_ranks[] = {14, 28, 30, 56, 57, 84, 88, 112};

// Locks by the names of the thesis.
constexpr const char* mpi = "mpi_win";
constexpr const char* dash_mutex = "dash.published";
constexpr const char* dash_put = "dash.put_registration";
constexpr const char* d_mcs = "d_mcs.accumulate";
constexpr const char* d_mcs_put = "d_mcs.put";
constexpr const char* rma_mcs = "rma_mcs.accumulate";
constexpr const char* c_mcs_mcs = "cohort.published";
const names base{mpi, dash_mutex, d_mcs, rma_mcs};
const names d_mcs_stages{d_mcs, d_mcs_put, "mcs"};
const names dash_stages{dash_mutex, "dash.early_look", "dash.direct_reads", dash_put, "mcs"};
const names optimised{mpi, rma_mcs, d_mcs_put, dash_put};
const names with_rh{"rh", d_mcs_put, rma_mcs};
const names with_clh{"clh", "clh_craig", d_mcs_put};
const names counters{"cohort.global_counter", "cohort.local_counter", "cohort.direct_counter", c_mcs_mcs,
                     rma_mcs};
const names pairs{"cohort.tas_tts",    "cohort.ticket_tts",    "cohort.mcs_tts",
                  "cohort.tas_ticket", "cohort.ticket_ticket", "cohort.mcs_ticket",
                  "cohort.tas",        "cohort.ticket_mcs",    c_mcs_mcs};
const names local_queues{c_mcs_mcs,
                         "cohort.mcs_clh",
                         "cohort.mcs_hemlock_base",
                         "cohort.mcs_hemlock_overlap",
                         "cohort.mcs_hemlock_ctr",
                         "cohort.mcs_hemlock_beside",
                         "cohort.mcs_hemlock"};
const names with_shfl{"shfl", "shfl.tts", "shfl.steal", "shfl.steal_tts", d_mcs_put};

using values = std::map<std::string, names>;

/// Backoff of the RH lock counts turns of a loop that drives progress, which takes 600 ns there.
constexpr int turn_ns = 600;
values rh_values() {
  names longest;
  for (const int turns : {16, 32, 64}) longest.push_back(std::to_string(turns * turn_ns));
  return {{"local_backoff_min_ns", {std::to_string(turn_ns)}},
          {"local_backoff_max_ns", longest},
          {"fairness_factor", {"1", "2", "100"}}};
}

values with(values these, const values& others) {
  these.insert(others.begin(), others.end());
  return these;
}

const values critical_work{{"critical_work", {"0", "1", "2", "3", "4", "5"}}};

/// The shortest wait for which the mean one, shared by all ranks, is so many nanoseconds.
std::int64_t shortest_wait(int ranks, double shared_ns) { return std::llround(shared_ns * ranks / 1.5); }

values waits(int ranks, const std::vector<double>& shared_us) {
  names all;
  for (const double each : shared_us) all.push_back(std::to_string(shortest_wait(ranks, each * 1000)));
  // Long enough for some turns of each rank with the longest wait.
  return {{"wait_ns", all}, {"duration", {"0.1"}}};
}
const std::vector<double> doubling{0, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64};
const std::vector<double> rising{0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4};

std::vector<analysis> experiments() {
  const std::string ccwb = "ccwb";
  const std::string ecsb = "ecsb";
  const std::string upb = "upb";
  const std::string wbab = "wbab";
  const auto waits_112 = waits(full_cluster, doubling);
  const auto waits_28 = waits(full_node, doubling);
  const auto rising_28 = waits(full_node, rising);
  return {
      {"4.1", "Benchmark 4.1: UPB of the basic locks", upb, base, {}, upb_nodes},
      {"4.2-4.3",
       "Benchmarks 4.2 and 4.3: ECSB of the basic locks, and its fairness",
       ecsb,
       base,
       {},
       ecsb_nodes},
      {"4.4", "Benchmark 4.4: CCWB of the basic locks, 112 ranks", ccwb, base, critical_work, four_nodes},
      {"4.5", "Benchmark 4.5: CCWB of the basic locks, 28 ranks", ccwb, base, critical_work, one_node},
      {"4.6a", "Benchmark 4.6a: WBAB without progress, 112 ranks", wbab, base,
       with({{"progress", {"false"}}}, waits_112), four_nodes},
      {"4.6b", "Benchmark 4.6b: WBAB without progress, 28 ranks", wbab, base,
       with({{"progress", {"false"}}}, waits_28), one_node},
      {"4.7", "Benchmark 4.7: WBAB of the basic locks, 112 ranks", wbab, base, waits_112, four_nodes},
      {"4.8", "Benchmark 4.8: WBAB of the basic locks, 28 ranks", wbab, base, waits_28, one_node},
      {"4.9a", "Benchmark 4.9: UPB of the stages of D-MCS", upb, {d_mcs, d_mcs_put}, {}, upb_nodes},
      {"4.9b", "Benchmark 4.9: ECSB of the stages of D-MCS", ecsb, d_mcs_stages, {}, one_node},
      {"4.9c-4.10", "Benchmarks 4.9 and 4.10: CCWB of the stages of D-MCS, 28 ranks", ccwb, d_mcs_stages,
       critical_work, one_node},
      {"4.9d", "Benchmark 4.9: WBAB of the stages of D-MCS, 28 ranks", wbab, d_mcs_stages, rising_28,
       one_node},
      {"4.11a",
       "Benchmark 4.11: UPB of the stages of dash::Mutex",
       upb,
       names(dash_stages.begin(), dash_stages.end() - 1),
       {},
       upb_nodes},
      {"4.11b",
       "Benchmark 4.11: ECSB of the stages of dash::Mutex",
       ecsb,
       names(dash_stages.begin(), dash_stages.end() - 1),
       {},
       ecsb_nodes},
      {"4.11c", "Benchmark 4.11: CCWB of the stages of dash::Mutex, 28 ranks", ccwb, dash_stages,
       critical_work, one_node},
      {"4.11d", "Benchmark 4.11: WBAB of the stages of dash::Mutex, 28 ranks", wbab, dash_stages, rising_28,
       one_node},
      {"4.12a", "Benchmark 4.12: CCWB of the best basic locks, 28 ranks", ccwb, optimised, critical_work,
       one_node},
      {"4.12b", "Benchmark 4.12: CCWB of the best basic locks, 112 ranks", ccwb, optimised, critical_work,
       four_nodes},
      {"5.1", "Benchmark 5.1: UPB of RH", upb, with_rh, {}, upb_nodes},
      {"5.2", "Benchmark 5.2: ECSB of RH, and its fairness", ecsb, with_rh, rh_values(), ecsb_nodes},
      {"5.3", "Benchmark 5.3: CCWB of RH, 112 ranks", ccwb, with_rh, with(rh_values(), critical_work),
       four_nodes},
      {"5.4", "Benchmark 5.4: WBAB of RH, 112 ranks", wbab, with_rh, with(rh_values(), waits_112),
       four_nodes},
      {"5.5a", "Benchmark 5.5: UPB of CLH", upb, with_clh, {}, upb_nodes},
      {"5.5b", "Benchmark 5.5: ECSB of CLH", ecsb, with_clh, {}, ecsb_nodes},
      {"5.6", "Benchmark 5.6: CCWB of CLH, 112 ranks", ccwb, with_clh, critical_work, four_nodes},
      {"5.7", "Benchmark 5.7: WBAB of CLH, 112 ranks", wbab, with_clh, waits_112, four_nodes},
      {"5.8", "Benchmark 5.8: UPB of the stages of the cohort lock", upb, counters, {}, upb_nodes},
      {"5.9", "Benchmark 5.9: ECSB of the stages of the cohort lock", ecsb, counters, {}, ecsb_nodes},
      {"5.10", "Benchmark 5.10: WBAB of the stages of the cohort lock, 112 ranks", wbab, counters, waits_112,
       four_nodes},
      {"5.11a", "Benchmark 5.11: UPB of cohort locks", upb, pairs, {}, upb_nodes},
      {"5.11b", "Benchmark 5.11: ECSB of cohort locks", ecsb, pairs, {}, ecsb_nodes},
      {"5.12", "Benchmark 5.12: CCWB of cohort locks, 112 ranks", ccwb, pairs, critical_work, four_nodes},
      {"5.13", "Benchmark 5.13: WBAB of cohort locks, 112 ranks", wbab, pairs, waits_112, four_nodes},
      {"5.14", "Benchmark 5.14: CCWB of cohort locks with queues within, 28 ranks", ccwb, local_queues,
       critical_work, one_node},
      {"5.15", "Benchmark 5.15: WBAB of cohort locks with queues within, 112 ranks", wbab, local_queues,
       waits_112, four_nodes},
      {"5.16a", "Benchmark 5.16: UPB of SHFL", upb, with_shfl, {}, upb_nodes},
      {"5.16b", "Benchmark 5.16: ECSB of SHFL", ecsb, with_shfl, {}, ecsb_nodes},
      {"5.16e", "Benchmark 5.16: CCWB of SHFL, 112 ranks", ccwb, with_shfl, critical_work, four_nodes},
      {"5.16f", "Benchmark 5.16: WBAB of SHFL, 112 ranks", wbab, with_shfl, waits_112, four_nodes},
  };
}

// ---- claims -----------------------------------------------------------------------------------------------

/// What a claim needs was not measured.
struct not_measured {};

/// One experiment, and what was found in it.
class experiment {
 public:
  experiment(const found_medians& found, std::string name) : found_(&found), name_(std::move(name)) {}

  // Throw `not_measured`. `ranks`: of the ECSB; the others have one shape.

  [[nodiscard]] double upb(const std::string& lock, const std::string& scenario) const {
    return value({.analysis = name_, .object = lock, .ranks = 4, .scenario = scenario}, "time");
  }
  [[nodiscard]] double ecsb(const std::string& lock, int ranks, const std::string& column = "time") const {
    return value({.analysis = name_, .object = lock, .ranks = ranks}, column);
  }
  [[nodiscard]] double ccwb(const std::string& lock, int ranks, int work,
                            const std::string& column = "time") const {
    return value({.analysis = name_, .object = lock, .ranks = ranks, .at = {{"critical_work", work}}},
                 column);
  }
  [[nodiscard]] double wbab(const std::string& lock, int ranks, double shared_us,
                            const std::string& column = "time") const {
    return value({.analysis = name_,
                  .object = lock,
                  .ranks = ranks,
                  .at = {{"wait_ns", shortest_wait(ranks, shared_us * 1000)}}},
                 column);
  }
  /// RH with so many turns of backoff at most, and so unfair.
  [[nodiscard]] double rh(int ranks, int turns, int factor, std::map<std::string, std::int64_t> at = {},
                          const std::string& column = "time") const {
    at.insert({{"local_backoff_max_ns", std::int64_t{turns} * turn_ns}, {"fairness_factor", factor}});
    return value({.analysis = name_, .object = "rh", .ranks = ranks, .at = std::move(at)}, column);
  }

 private:
  [[nodiscard]] double value(const place_found& where, const std::string& column) const {
    const auto result = (*found_)(where, column);
    if (!result) throw not_measured();
    return *result;
  }

  const found_medians* found_;
  std::string name_;
};

/// Whether it holds, and the figures.
using judgement = std::pair<bool, std::string>;

class claims {
 public:
  explicit claims(const found_medians& found) : found_(&found) {}

  /// `judge(experiment)` returns a judgement.
  template <typename Judge>
  void add(const char* analysis, const char* claim, Judge judge) {
    verdict_on_claim result{fmt::format("{}: {}", analysis, claim), std::nullopt, ""};
    try {
      const judgement found = judge(in(analysis));
      result.holds = found.first;
      result.found = found.second;
    } catch (const not_measured&) {
      // Stays without a verdict.
    }
    all_.push_back(std::move(result));
  }

  [[nodiscard]] experiment in(const char* analysis) const { return {*found_, analysis}; }
  [[nodiscard]] std::vector<verdict_on_claim> all() && { return std::move(all_); }

 private:
  const found_medians* found_;
  std::vector<verdict_on_claim> all_;
};

constexpr double percent = 100;

/// Medians that differ by less are alike.
constexpr double alike = 1.1;

bool are_alike(double one, double other, double by = alike) { return one < by * other && other < by * one; }

std::string ratio_text(const char* what, double one, double other) {
  return fmt::format("{} {:.2f} ({:.0f} to {:.0f} ns)", what, one / other, one, other);
}

/// One takes at least so many times as long as another.
judgement takes_times(double one, double other, double least, const char* what) {
  return {one >= least * other, ratio_text(what, one, other)};
}

/// In increasing order.
judgement in_order(const std::vector<std::pair<std::string, double>>& all, const char* unit = "ns") {
  bool holds = true;
  names text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    holds = holds && (i == 0 || all[i - 1].second < all[i].second);
    text.push_back(fmt::format("{} {:.3g}", all[i].first, all[i].second));
  }
  return {holds, fmt::format("{} {}", fmt::join(text, ", "), unit)};
}

void judge_basic_locks(claims& to) {
  to.add(
      "4.1", "a free D-MCS lock is taken many times slower from another node (5 times at least)",
      [](const experiment& in) { return takes_times(in.upb(d_mcs, "1c"), in.upb(d_mcs, "1a"), 5, "ratio"); });
  to.add("4.1", "a free RMA-MCS lock costs about 1.5 us more than D-MCS, wherever the rank is (0.5 to 3)",
         [](const experiment& in) {
           bool holds = true;
           names text;
           for (const char* at : {"1a", "1b", "1c"}) {
             const double more = in.upb(rma_mcs, at) - in.upb(d_mcs, at);
             holds = holds && more > 500 && more < 3000;
             text.push_back(fmt::format("{} {:.0f} ns", at, more));
           }
           return judgement(holds, fmt::format("{}", fmt::join(text, ", ")));
         });
  to.add("4.1", "whose a free D-MCS lock was makes no difference", [](const experiment& in) {
    const bool holds = are_alike(in.upb(d_mcs, "1a"), in.upb(d_mcs, "3a"), 1.35) &&
                       are_alike(in.upb(d_mcs, "1c"), in.upb(d_mcs, "3c"), 1.35);
    return judgement(holds, fmt::format("1a {:.0f}, 3a {:.0f}; 1c {:.0f}, 3c {:.0f} ns", in.upb(d_mcs, "1a"),
                                        in.upb(d_mcs, "3a"), in.upb(d_mcs, "1c"), in.upb(d_mcs, "3c")));
  });
  to.add("4.2-4.3", "on one node the MPI library's lock is the fastest by far", [](const experiment& in) {
    const double other =
        std::min({in.ecsb(dash_mutex, full_node), in.ecsb(d_mcs, full_node), in.ecsb(rma_mcs, full_node)});
    return takes_times(other, in.ecsb(mpi, full_node), 1.5, "the next takes, times it,");
  });
  to.add("4.2-4.3", "the MPI library's lock becomes slower with each node that is added",
         [](const experiment& in) {
           return in_order({{"28", in.ecsb(mpi, 28)},
                            {"30", in.ecsb(mpi, 30)},
                            {"57", in.ecsb(mpi, 57)},
                            {"88", in.ecsb(mpi, 88)}});
         });
  to.add("4.2-4.3", "D-MCS is slower on two nodes, and no slower on more", [](const experiment& in) {
    const double one = in.ecsb(d_mcs, 28);
    const double two = in.ecsb(d_mcs, 30);
    const double four = in.ecsb(d_mcs, 112);
    return judgement(two > 1.2 * one && four < 1.2 * two,
                     fmt::format("28 {:.0f}, 30 {:.0f}, 112 {:.0f} ns", one, two, four));
  });
  to.add("4.2-4.3", "RMA-MCS is as fast with any number of ranks and nodes (within a third)",
         [](const experiment& in) {
           double least = in.ecsb(rma_mcs, 14);
           double most = least;
           for (const int ranks : ecsb_ranks) {
             least = std::min(least, in.ecsb(rma_mcs, ranks));
             most = std::max(most, in.ecsb(rma_mcs, ranks));
           }
           return judgement(most < 4.0 / 3 * least, ratio_text("largest to smallest", most, least));
         });
  to.add("4.2-4.3", "with 112 ranks D-MCS and RMA-MCS are faster than the locks of MPI and DASH",
         [](const experiment& in) {
           const double slower = std::max(in.ecsb(d_mcs, 112), in.ecsb(rma_mcs, 112));
           const double faster = std::min(in.ecsb(mpi, 112), in.ecsb(dash_mutex, 112));
           return takes_times(faster, slower, 1, "ratio");
         });
  to.add("4.2-4.3", "all locks are fair: progress varies by less than 5 %", [](const experiment& in) {
    double most = 0;
    for (const std::string& lock : base)
      for (const int ranks : ecsb_ranks) most = std::max(most, in.ecsb(lock, ranks, "cv"));
    return judgement(most * percent < 5, fmt::format("at most {:.2f} %", most * percent));
  });
  to.add("4.2-4.3", "on several nodes the MPI library's lock is the least fair", [](const experiment& in) {
    const double other =
        std::max({in.ecsb(dash_mutex, 112, "cv"), in.ecsb(d_mcs, 112, "cv"), in.ecsb(rma_mcs, 112, "cv")});
    const double its = in.ecsb(mpi, 112, "cv");
    return judgement(its > other, fmt::format("{:.3f} %, others {:.3f} %", its * percent, other * percent));
  });
  to.add("4.4", "the locks of MPI and DASH are near each other (within a third)", [](const experiment& in) {
    bool holds = true;
    names text;
    for (const int work : {0, 3, 5}) {
      const double one = in.ccwb(dash_mutex, full_cluster, work);
      const double other = in.ccwb(mpi, full_cluster, work);
      holds = holds && are_alike(one, other, 4.0 / 3);
      text.push_back(fmt::format("{}: {:.2f}", work, one / other));
    }
    return judgement(holds, fmt::format("dash to MPI {}", fmt::join(text, ", ")));
  });
  to.add("4.4", "D-MCS and RMA-MCS are faster than both, with any critical work", [](const experiment& in) {
    double most = 0;
    for (const int work : {0, 1, 2, 3, 4, 5})
      most = std::max(
          most, std::max(in.ccwb(d_mcs, full_cluster, work), in.ccwb(rma_mcs, full_cluster, work)) /
                    std::min(in.ccwb(dash_mutex, full_cluster, work), in.ccwb(mpi, full_cluster, work)));
    return judgement(most < 1, fmt::format("at most {:.2f} times their time", most));
  });
  to.add("4.4", "with critical work 2 D-MCS and RMA-MCS are not yet always contended (below 95 %)",
         [](const experiment& in) {
           const double one = in.ccwb(d_mcs, full_cluster, 2, "waited");
           const double other = in.ccwb(rma_mcs, full_cluster, 2, "waited");
           return judgement(one < 95 && other < 95, fmt::format("{:.0f} and {:.0f} %", one, other));
         });
  to.add("4.4", "progress varies by less than 5 %", [](const experiment& in) {
    double most = 0;
    for (const std::string& lock : base)
      for (const int work : {0, 1, 2, 3, 4, 5})
        most = std::max(most, in.ccwb(lock, full_cluster, work, "cv"));
    return judgement(most * percent < 5, fmt::format("at most {:.1f} %", most * percent));
  });
  to.add("4.4", "D-MCS becomes fairer where it is always contended", [](const experiment& in) {
    const double before = in.ccwb(d_mcs, full_cluster, 1, "cv");
    const double after = in.ccwb(d_mcs, full_cluster, 5, "cv");
    return judgement(after < before,
                     fmt::format("work 1: {:.2f} %, 5: {:.2f} %", before * percent, after * percent));
  });
  to.add("4.5", "on one node dash::Mutex is always contended even without critical work (95 %)",
         [](const experiment& in) {
           const double waited = in.ccwb(dash_mutex, full_node, 0, "waited");
           return judgement(waited > 95, fmt::format("{:.0f} %", waited));
         });
  to.add("4.5", "D-MCS is so from a critical work of 1 or 2 on only", [](const experiment& in) {
    const double none = in.ccwb(d_mcs, full_node, 0, "waited");
    const double two = in.ccwb(d_mcs, full_node, 2, "waited");
    return judgement(none < 95 && two > 95, fmt::format("0: {:.0f} %, 2: {:.0f} %", none, two));
  });
  to.add("4.6a", "without progress D-MCS is extremely unfair (140 %)", [](const experiment& in) {
    double most = 0;
    for (const double wait : {1.0, 2.0, 4.0, 8.0})
      most = std::max(most, in.wbab(d_mcs, full_cluster, wait, "cv"));
    return judgement(most * percent > 140, fmt::format("up to {:.0f} %", most * percent));
  });
  to.add("4.6a", "dash::Mutex is less unfair than D-MCS without progress", [](const experiment& in) {
    const double one = in.wbab(dash_mutex, full_cluster, 4, "cv");
    const double other = in.wbab(d_mcs, full_cluster, 4, "cv");
    return judgement(one < other, fmt::format("{:.0f} and {:.0f} % at 4 us", one * percent, other * percent));
  });
  to.add("4.6a", "RMA-MCS stays fairest without progress (about 10 % at most; 20 here)",
         [](const experiment& in) {
           double most = 0;
           for (const double wait : doubling)
             most = std::max(most, in.wbab(rma_mcs, full_cluster, wait, "cv"));
           return judgement(most * percent < 20, fmt::format("up to {:.0f} %", most * percent));
         });
  to.add("4.6a", "dash::Mutex becomes much slower without progress (twice at least)",
         [&to](const experiment& without) {
           return takes_times(without.wbab(dash_mutex, full_cluster, 4),
                              to.in("4.7").wbab(dash_mutex, full_cluster, 4), 2, "ratio");
         });
  to.add("4.6b", "on one node D-MCS and RMA-MCS need no progress: they are fair (below 5 %)",
         [](const experiment& in) {
           double most = 0;
           for (const double wait : doubling)
             most = std::max(
                 {most, in.wbab(d_mcs, full_node, wait, "cv"), in.wbab(rma_mcs, full_node, wait, "cv")});
           return judgement(most * percent < 5, fmt::format("at most {:.1f} %", most * percent));
         });
  to.add("4.7", "with progress all locks are fair (below 2 %)", [](const experiment& in) {
    double most = 0;
    for (const std::string& lock : base)
      for (const double wait : {0.25, 0.5, 1.0, 2.0, 4.0})
        most = std::max(most, in.wbab(lock, full_cluster, wait, "cv"));
    return judgement(most * percent < 2, fmt::format("at most {:.2f} %", most * percent));
  });
  to.add("4.7",
         "overhead on the critical path: about 8 us of MPI and DASH, 4 of D-MCS, below 1 of RMA-MCS "
         "(order, and within a factor of 1.5)",
         [](const experiment& in) {
           const double of_mpi = in.wbab(mpi, full_cluster, 0.25) / 1000;
           const double of_dash = in.wbab(dash_mutex, full_cluster, 0.25) / 1000;
           const double of_d_mcs = in.wbab(d_mcs, full_cluster, 0.25) / 1000;
           const double of_rma_mcs = in.wbab(rma_mcs, full_cluster, 0.25) / 1000;
           const bool holds = are_alike(of_mpi, 8, 1.5) && are_alike(of_dash, 8, 1.5) &&
                              are_alike(of_d_mcs, 4, 1.5) && of_rma_mcs < 1.5;
           return judgement(holds, fmt::format("MPI {:.1f}, DASH {:.1f}, D-MCS {:.1f}, RMA-MCS {:.1f} us",
                                               of_mpi, of_dash, of_d_mcs, of_rma_mcs));
         });
  to.add("4.7", "with little contention D-MCS has less overhead than RMA-MCS", [](const experiment& in) {
    return in_order({{"D-MCS", in.wbab(d_mcs, full_cluster, 32, "overhead")},
                     {"RMA-MCS", in.wbab(rma_mcs, full_cluster, 32, "overhead")}},
                    "ns at 32 us");
  });
  to.add("4.8", "on one node MPI is fastest, dash::Mutex slowest", [](const experiment& in) {
    return in_order({{"MPI", in.wbab(mpi, full_node, 0.5)},
                     {"D-MCS", in.wbab(d_mcs, full_node, 0.5)},
                     {"dash", in.wbab(dash_mutex, full_node, 0.5)}},
                    "ns at 0.5 us");
  });
  to.add("4.8", "on one node D-MCS and RMA-MCS are near each other (within a third)",
         [](const experiment& in) {
           const double one = in.wbab(d_mcs, full_node, 0.5);
           const double other = in.wbab(rma_mcs, full_node, 0.5);
           return judgement(are_alike(one, other, 4.0 / 3), ratio_text("ratio", one, other));
         });
}

void judge_optimisations(claims& to) {
  to.add("4.9b", "put in place of accumulate makes D-MCS much faster on one node (twice)",
         [](const experiment& in) {
           return takes_times(in.ecsb(d_mcs, full_node), in.ecsb(d_mcs_put, full_node), 2, "ratio");
         });
  to.add("4.9b", "with atomics of the processor it is faster still (twice)", [](const experiment& in) {
    return takes_times(in.ecsb(d_mcs_put, full_node), in.ecsb("mcs", full_node), 2, "ratio");
  });
  to.add("4.9c-4.10", "put gains in the CCWB on one node, too, with any critical work",
         [](const experiment& in) {
           bool holds = true;
           names text;
           for (const int work : {0, 3, 5}) {
             const double gain = in.ccwb(d_mcs, full_node, work) / in.ccwb(d_mcs_put, full_node, work);
             holds = holds && gain > 1;
             text.push_back(fmt::format("{}: {:.2f}", work, gain));
           }
           return judgement(holds, fmt::format("times as fast, {}", fmt::join(text, ", ")));
         });
  to.add("4.11b", "looking for a successor first makes dash::Mutex much faster (a quarter at least)",
         [](const experiment& in) {
           return takes_times(in.ecsb(dash_mutex, 112), in.ecsb("dash.early_look", 112), 1.25, "ratio");
         });
  to.add("4.11a", "and a free one a little slower", [](const experiment& in) {
    const double one = in.upb("dash.early_look", "1a");
    const double other = in.upb(dash_mutex, "1a");
    return judgement(one > other, ratio_text("ratio", one, other));
  });
  to.add("4.11b", "reading in place makes it faster again, on one node", [](const experiment& in) {
    return takes_times(in.ecsb("dash.early_look", full_node), in.ecsb("dash.direct_reads", full_node), 1,
                       "ratio");
  });
  to.add("4.11b", "registering by put gains much on one node (a quarter), little on four (at most a tenth)",
         [](const experiment& in) {
           const double near = in.ecsb("dash.direct_reads", full_node) / in.ecsb(dash_put, full_node);
           const double far = in.ecsb("dash.direct_reads", 112) / in.ecsb(dash_put, 112);
           return judgement(near > 1.25 && far < alike, fmt::format("{:.2f} and {:.2f} times", near, far));
         });
  to.add("4.12a", "on one node D-MCS by put is faster than dash::Mutex by put", [](const experiment& in) {
    const double one = in.ccwb(dash_put, full_node, 5);
    const double other = in.ccwb(d_mcs_put, full_node, 5);
    return takes_times(one, other, 1, "ratio");
  });
  to.add("4.12a", "on one node both are faster than the MPI library's lock", [](const experiment& in) {
    const double slower = std::max(in.ccwb(dash_put, full_node, 5), in.ccwb(d_mcs_put, full_node, 5));
    return takes_times(in.ccwb(mpi, full_node, 5), slower, 1, "ratio");
  });
  to.add("4.12b", "on four nodes RMA-MCS is faster than dash::Mutex, and that than D-MCS",
         [](const experiment& in) {
           return in_order({{"RMA-MCS", in.ccwb(rma_mcs, full_cluster, 5)},
                            {"dash", in.ccwb(dash_put, full_cluster, 5)},
                            {"D-MCS", in.ccwb(d_mcs_put, full_cluster, 5)}});
         });
}

void judge_ported_locks(claims& to) {
  to.add(
      "5.1", "a free RH lock is slow where another node had it, and fast otherwise (3 times)",
      [](const experiment& in) { return takes_times(in.upb("rh", "3c"), in.upb("rh", "1c"), 3, "ratio"); });
  to.add("5.1", "from another node a free RH lock that this one had is faster than D-MCS",
         [](const experiment& in) {
           return takes_times(in.upb(d_mcs_put, "1c"), in.upb("rh", "1c"), 1, "ratio");
         });
  to.add("5.2", "with 112 ranks RH is faster than D-MCS, but not with the shortest backoff",
         [](const experiment& in) {
           const double than = in.ecsb(d_mcs_put, 112);
           const double middle = in.rh(112, 32, 1);
           const double shortest = in.rh(112, 16, 1);
           return judgement(middle < than && shortest > than,
                            fmt::format("D-MCS {:.0f}, 32: {:.0f}, 16: {:.0f} ns", than, middle, shortest));
         });
  to.add("5.2",
         "RH is extremely unfair: on one node up to 460 % (100 at least), with 112 ranks 40 % and more",
         [](const experiment& in) {
           double on_one = 0;
           double least = 1e9;
           for (const int turns : {16, 32, 64}) {
             on_one = std::max({on_one, in.rh(14, turns, 1, {}, "cv"), in.rh(28, turns, 1, {}, "cv")});
             least = std::min(least, in.rh(112, turns, 1, {}, "cv"));
           }
           return judgement(on_one > 1 && least > 0.35, fmt::format("{:.0f} % on one node, {:.0f} % with 112",
                                                                    on_one * percent, least * percent));
         });
  to.add("5.2", "a larger fairness factor makes it faster and less fair, with 112 ranks",
         [](const experiment& in) {
           const double fair = in.rh(112, 32, 1);
           const double unfair = in.rh(112, 32, 100);
           const double cv = in.rh(112, 32, 1, {}, "cv");
           const double larger_cv = in.rh(112, 32, 100, {}, "cv");
           return judgement(unfair < fair && larger_cv > cv,
                            fmt::format("{:.0f} to {:.0f} ns, {:.0f} to {:.0f} %", fair, unfair, cv * percent,
                                        larger_cv * percent));
         });
  to.add("5.2", "no RH is as fast as RMA-MCS on four nodes", [](const experiment& in) {
    double least = in.rh(112, 32, 1);
    for (const int turns : {16, 32, 64})
      for (const int factor : {1, 2, 100}) least = std::min(least, in.rh(112, turns, factor));
    return takes_times(least, in.ecsb(rma_mcs, 112), 1, "ratio");
  });
  to.add("5.3", "RH becomes ever less fair where it is always contended, D-MCS ever fairer",
         [](const experiment& in) {
           const double before = in.rh(full_cluster, 32, 1, {{"critical_work", 2}}, "cv");
           const double after = in.rh(full_cluster, 32, 1, {{"critical_work", 5}}, "cv");
           return judgement(after > before && after > in.ccwb(d_mcs_put, full_cluster, 5, "cv"),
                            fmt::format("{:.1f} to {:.1f} %", before * percent, after * percent));
         });
  to.add("5.3", "a larger fairness factor makes it slower there", [](const experiment& in) {
    return takes_times(in.rh(full_cluster, 32, 100, {{"critical_work", 5}}),
                       in.rh(full_cluster, 32, 1, {{"critical_work", 5}}), 1, "ratio");
  });
  to.add("5.4", "RH is slower than D-MCS as soon as ranks wait", [](const experiment& in) {
    return takes_times(in.rh(full_cluster, 32, 1, {{"wait_ns", shortest_wait(full_cluster, 500)}}),
                       in.wbab(d_mcs_put, full_cluster, 0.5), 1, "ratio");
  });
  to.add("5.4", "with little contention RH has less overhead than D-MCS and RMA-MCS",
         [](const experiment& in) {
           return in_order({{"RH", in.rh(full_cluster, 32, 1,
                                         {{"wait_ns", shortest_wait(full_cluster, 16000)}}, "overhead")},
                            {"D-MCS", in.wbab(d_mcs_put, full_cluster, 16, "overhead")},
                            {"RMA-MCS", in.wbab(rma_mcs, full_cluster, 16, "overhead")}},
                           "ns at 16 us");
         });
  to.add("5.5a", "free CLH locks take about twice as long as D-MCS, from another node (1.5 to 3 times)",
         [](const experiment& in) {
           const double ratio = in.upb("clh", "1c") / in.upb(d_mcs_put, "1c");
           return judgement(ratio > 1.5 && ratio < 3, fmt::format("{:.2f}", ratio));
         });
  to.add("5.5b", "with 112 ranks CLH is slower than Craig's variant, and that about half as fast as D-MCS",
         [](const experiment& in) {
           const double craig = in.ecsb("clh_craig", 112);
           const double ratio = craig / in.ecsb(d_mcs_put, 112);
           return judgement(in.ecsb("clh", 112) > craig && ratio > 1.5 && ratio < 3,
                            fmt::format("CLH {:.0f}, Craig {:.0f} ns, which is {:.2f} times D-MCS",
                                        in.ecsb("clh", 112), craig, ratio));
         });
  to.add("5.6", "with much critical work CLH is much slower than Craig's variant", [](const experiment& in) {
    return takes_times(in.ccwb("clh", full_cluster, 5), in.ccwb("clh_craig", full_cluster, 5), 1.05, "ratio");
  });
  to.add("5.6", "with critical work 2 Craig's variant is contended most", [](const experiment& in) {
    return in_order({{"D-MCS", in.ccwb(d_mcs_put, full_cluster, 2, "waited")},
                     {"Craig", in.ccwb("clh_craig", full_cluster, 2, "waited")}},
                    "%");
  });
  to.add("5.7", "with little contention D-MCS has about half of the overhead of both CLH (at most 0.75)",
         [](const experiment& in) {
           const double than = std::min(in.wbab("clh", full_cluster, 16, "overhead"),
                                        in.wbab("clh_craig", full_cluster, 16, "overhead"));
           const double its = in.wbab(d_mcs_put, full_cluster, 16, "overhead");
           return judgement(its < 0.75 * than, fmt::format("{:.0f} to {:.0f} ns at 16 us", its, than));
         });
}

void judge_cohort_locks(claims& to) {
  to.add("5.8", "a counter in the node instead of at home gains much from another node (1.2 times)",
         [](const experiment& in) {
           return takes_times(in.upb("cohort.global_counter", "1c"), in.upb("cohort.local_counter", "1c"),
                              1.2, "ratio");
         });
  to.add("5.8", "a counter that is read in place gains a little more", [](const experiment& in) {
    return takes_times(in.upb("cohort.local_counter", "1a"), in.upb("cohort.direct_counter", "1a"), 1,
                       "ratio");
  });
  to.add("5.9", "each stage gains with 112 ranks", [](const experiment& in) {
    return in_order({{"inline", in.ecsb(c_mcs_mcs, 112)},
                     {"direct", in.ecsb("cohort.direct_counter", 112)},
                     {"local", in.ecsb("cohort.local_counter", 112)},
                     {"global", in.ecsb("cohort.global_counter", 112)}});
  });
  to.add("5.9", "on one node it makes no difference where the far counter is", [](const experiment& in) {
    const double one = in.ecsb("cohort.global_counter", full_node);
    const double other = in.ecsb("cohort.local_counter", full_node);
    return judgement(are_alike(one, other), ratio_text("ratio", one, other));
  });
  to.add("5.9", "C-MCS-MCS is about four times as fast as RMA-MCS (3 to 6)", [](const experiment& in) {
    const double ratio = in.ecsb(rma_mcs, 112) / in.ecsb(c_mcs_mcs, 112);
    return judgement(ratio > 3 && ratio < 6, fmt::format("{:.2f}", ratio));
  });
  to.add("5.10", "with waits of 0.25 us it is still almost twice as fast (1.5 to 3)",
         [](const experiment& in) {
           const double ratio = in.wbab(rma_mcs, full_cluster, 0.25) / in.wbab(c_mcs_mcs, full_cluster, 0.25);
           return judgement(ratio > 1.5 && ratio < 3, fmt::format("{:.2f}", ratio));
         });
  to.add("5.10", "it has less overhead than RMA-MCS with any wait", [](const experiment& in) {
    double most = 0;
    for (const double wait : {0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0})
      most = std::max(most, in.wbab(c_mcs_mcs, full_cluster, wait, "overhead") /
                                in.wbab(rma_mcs, full_cluster, wait, "overhead"));
    return judgement(most < 1, fmt::format("at most {:.2f} times", most));
  });
  to.add("5.11a", "free, from another node: TAS above is fastest, then MCS, then the ticket",
         [](const experiment& in) {
           return in_order({{"C-TAS-MCS", in.upb("cohort.tas", "1c")},
                            {"C-MCS-MCS", in.upb(c_mcs_mcs, "1c")},
                            {"C-TKT-MCS", in.upb("cohort.ticket_mcs", "1c")}});
         });
  to.add("5.11b", "C-*-MCS do about 2 million a second with 112 ranks (1.5 to 2.5)",
         [](const experiment& in) {
           bool holds = true;
           names text;
           for (const char* lock : {"cohort.tas", "cohort.ticket_mcs", c_mcs_mcs}) {
             const double million = 1000 / in.ecsb(lock, 112);
             holds = holds && million > 1.5 && million < 2.5;
             text.push_back(fmt::format("{} {:.2f}", lock, million));
           }
           return judgement(holds, fmt::format("{}", fmt::join(text, ", ")));
         });
  to.add("5.11b", "C-*-TKT are about half as fast as C-*-MCS (1.5 to 3 times)", [](const experiment& in) {
    const double ratio = in.ecsb("cohort.mcs_ticket", 112) / in.ecsb(c_mcs_mcs, 112);
    return judgement(ratio > 1.5 && ratio < 3, fmt::format("C-MCS-TKT takes {:.2f} times C-MCS-MCS", ratio));
  });
  to.add("5.11b", "C-*-TTS are slowest on four nodes", [](const experiment& in) {
    return in_order({{"C-MCS-MCS", in.ecsb(c_mcs_mcs, 112)},
                     {"C-MCS-TKT", in.ecsb("cohort.mcs_ticket", 112)},
                     {"C-MCS-TTS", in.ecsb("cohort.mcs_tts", 112)}});
  });
  to.add("5.11b", "of C-*-MCS, TAS above is fastest, then MCS, then the ticket", [](const experiment& in) {
    return in_order({{"C-TAS-MCS", in.ecsb("cohort.tas", 112)},
                     {"C-MCS-MCS", in.ecsb(c_mcs_mcs, 112)},
                     {"C-TKT-MCS", in.ecsb("cohort.ticket_mcs", 112)}});
  });
  to.add("5.12", "with much critical work TAS above is slower than MCS", [](const experiment& in) {
    return takes_times(in.ccwb("cohort.tas", full_cluster, 5), in.ccwb(c_mcs_mcs, full_cluster, 5), 1,
                       "ratio");
  });
  to.add("5.12", "C-TAS-* become less fair, to about 25 % (10 to 50), where they are always contended",
         [](const experiment& in) {
           const double before = in.ccwb("cohort.tas", full_cluster, 2, "cv");
           const double after = in.ccwb("cohort.tas", full_cluster, 5, "cv");
           return judgement(after > before && after > 0.1 && after < 0.5,
                            fmt::format("{:.1f} to {:.1f} %", before * percent, after * percent));
         });
  to.add("5.12", "C-MCS-MCS becomes fairer there", [](const experiment& in) {
    const double before = in.ccwb(c_mcs_mcs, full_cluster, 2, "cv");
    const double after = in.ccwb(c_mcs_mcs, full_cluster, 5, "cv");
    return judgement(after < before, fmt::format("{:.2f} to {:.2f} %", before * percent, after * percent));
  });
  to.add("5.13", "C-TAS-* are extremely unfair without waits (up to 100 %; 50 at least)",
         [](const experiment& in) {
           const double cv = in.wbab("cohort.tas", full_cluster, 0, "cv");
           return judgement(cv > 0.5, fmt::format("{:.0f} %", cv * percent));
         });
  to.add("5.13", "C-*-TTS hand over within the node less than every second time, below 8 us",
         [](const experiment& in) {
           double most = 0;
           for (const char* lock : {"cohort.tas_tts", "cohort.ticket_tts", "cohort.mcs_tts"})
             for (const double wait : {0.25, 0.5, 1.0, 2.0, 4.0})
               most = std::max(most, in.wbab(lock, full_cluster, wait, "local"));
           return judgement(most < 52, fmt::format("at most {:.0f} %", most));
         });
  to.add("5.13", "with short waits the lock within decides: C-MCS-MCS has less overhead than C-MCS-TKT",
         [](const experiment& in) {
           return takes_times(in.wbab("cohort.mcs_ticket", full_cluster, 0.25, "overhead"),
                              in.wbab(c_mcs_mcs, full_cluster, 0.25, "overhead"), alike, "ratio");
         });
  to.add("5.13", "with longer ones the lock above: C-MCS-MCS and C-MCS-TKT are alike",
         [](const experiment& in) {
           const double one = in.wbab("cohort.mcs_ticket", full_cluster, 4, "overhead");
           const double other = in.wbab(c_mcs_mcs, full_cluster, 4, "overhead");
           return judgement(are_alike(one, other), ratio_text("ratio", one, other));
         });
  to.add("5.14", "overlapping gains nothing within a cohort", [](const experiment& in) {
    const double one = in.ccwb("cohort.mcs_hemlock_overlap", full_node, 5);
    const double other = in.ccwb("cohort.mcs_hemlock_base", full_node, 5);
    return judgement(one > other / 1.02, ratio_text("ratio", one, other));
  });
  to.add("5.14", "CTR gains, and with AH more", [](const experiment& in) {
    return in_order({{"CTR+AH", in.ccwb("cohort.mcs_hemlock_beside", full_node, 5)},
                     {"CTR", in.ccwb("cohort.mcs_hemlock_ctr", full_node, 5)},
                     {"base", in.ccwb("cohort.mcs_hemlock_base", full_node, 5)}});
  });
  to.add("5.14", "with the counter inside, hemlock within is the fastest of all", [](const experiment& in) {
    double other = in.ccwb(c_mcs_mcs, full_node, 5);
    for (const std::string& lock : local_queues)
      if (lock != "cohort.mcs_hemlock") other = std::min(other, in.ccwb(lock, full_node, 5));
    return takes_times(other, in.ccwb("cohort.mcs_hemlock", full_node, 5), 1, "the next takes, times it,");
  });
  to.add("5.15", "without waits C-MCS-MCS is the fastest", [](const experiment& in) {
    double other = in.wbab("cohort.mcs_clh", full_cluster, 0);
    for (const std::string& lock : local_queues)
      if (lock != c_mcs_mcs) other = std::min(other, in.wbab(lock, full_cluster, 0));
    return takes_times(other, in.wbab(c_mcs_mcs, full_cluster, 0), 1, "the next takes, times it,");
  });
  to.add("5.15", "from 1 us on C-MCS-MCS, C-MCS-CLH and C-MCS-HEM are alike", [](const experiment& in) {
    const double of_mcs = in.wbab(c_mcs_mcs, full_cluster, 1);
    const double of_clh = in.wbab("cohort.mcs_clh", full_cluster, 1);
    const double of_hemlock = in.wbab("cohort.mcs_hemlock", full_cluster, 1);
    return judgement(are_alike(of_mcs, of_clh) && are_alike(of_mcs, of_hemlock),
                     fmt::format("{:.0f}, {:.0f}, {:.0f} ns", of_mcs, of_clh, of_hemlock));
  });
  to.add("5.16a", "TTS in front takes longer than TAS where the word is far (a quarter)",
         [](const experiment& in) {
           return takes_times(in.upb("shfl.tts", "1c"), in.upb("shfl", "1c"), 1.25, "ratio");
         });
  to.add("5.16b",
         "with 112 ranks D-MCS is faster than stealing with TAS, TTS, shuffling with TAS, TTS, in that "
         "order",
         [](const experiment& in) {
           return in_order({{"D-MCS", in.ecsb(d_mcs_put, 112)},
                            {"TAS", in.ecsb("shfl.steal", 112)},
                            {"TTS", in.ecsb("shfl.steal_tts", 112)},
                            {"SHFL TAS", in.ecsb("shfl", 112)},
                            {"SHFL", in.ecsb("shfl.tts", 112)}});
         });
  to.add("5.16b", "MCS is more than six times as fast as SHFL", [](const experiment& in) {
    return takes_times(in.ecsb("shfl.tts", 112), in.ecsb(d_mcs_put, 112), 6, "ratio");
  });
  to.add("5.16e", "in the CCWB, too, MCS is faster than all of them", [](const experiment& in) {
    double least = in.ccwb("shfl", full_cluster, 5);
    for (const std::string& lock : with_shfl)
      if (lock != d_mcs_put) least = std::min(least, in.ccwb(lock, full_cluster, 5));
    return takes_times(least, in.ccwb(d_mcs_put, full_cluster, 5), 1, "ratio");
  });
  to.add("5.16f", "and in the WBAB with short waits", [](const experiment& in) {
    double least = in.wbab("shfl", full_cluster, 0.5);
    for (const std::string& lock : with_shfl)
      if (lock != d_mcs_put) least = std::min(least, in.wbab(lock, full_cluster, 0.5));
    return takes_times(least, in.wbab(d_mcs_put, full_cluster, 0.5), 1, "ratio");
  });
}

std::vector<verdict_on_claim> judge_claims(const found_medians& found) {
  claims result(found);
  judge_basic_locks(result);
  judge_optimisations(result);
  judge_ported_locks(result);
  judge_cohort_locks(result);
  return std::move(result).all();
}

/// The thesis has fewer local passes than the locks have by default.
std::vector<analysis> with_published_passes(std::vector<analysis> of) {
  const auto takes_passes = [](const std::string& lock) {
    return lock.starts_with("cohort") || lock.starts_with("rma_mcs") || lock.starts_with("shfl");
  };
  for (analysis& each : of)
    if (std::ranges::any_of(each.objects, takes_passes))
      each.values["max_local_passes"] = {std::to_string(published_local_passes)};
  return of;
}

/// Of both benchmarks.
std::vector<measured_point> published_points() {
  const auto shipped = [](const char* file) { return read_source("", file); };
  const source plan = shipped("coolmuc2/fit.json");
  const published_data all = read_published(shipped("coolmuc2/upb.csv"), shipped("coolmuc2/ecsb.csv"),
                                            parse_plan(plan.text, plan.file));
  std::vector<measured_point> result = all.ecsb;
  result.insert(result.end(), all.upb.begin(), all.upb.end());
  return result;
}

paper described() {
  return {
      .name = "uffmann2022",
      .title = "A. Uffmann, 2022: locks over RMA, its experiments, in the simulated cluster",
      .analyses = with_published_passes(experiments()),
      .machine = "coolmuc2",
      .ranks_per_node = full_node,
      .most_ranks = full_cluster,
      .most_ranks_quick = full_cluster,
      .ranks_text = "those of the thesis up to this one",
      .document = "docs/findings.md",
      .repetitions = 2,
      .values = {},
      .quick_values = {{"duration", {"0.01"}}},
      .shapes = [](int, int) { return ecsb_nodes; },
      .judge = judge_claims,
      .title_on_mpi = "A. Uffmann, 2022: locks over RMA, its experiments, on MPI, with the ranks of this run",
      .has_fixed_shapes = true,
      .published = published_points};
}

}  // namespace
}  // namespace uffmann

paper uffmann2022() { return uffmann::described(); }

}  // namespace nearfar::command
