// nearfar figures uffmann2022: the experiments of a thesis on locks over RMA, in the simulated cluster that
// it was written on, and what it says of each.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "apps/nearfar/figures/claims.hpp"
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
/// Also one node, for the stages in near memory.
const std::vector<shape> upb_of_stages{{.nodes = 2, .ranks_per_node = 2}, {.nodes = 1, .ranks_per_node = 2}};
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
constexpr const char* d_mcs_first = "d_mcs.unflushed";
constexpr const char* d_mcs = "d_mcs.accumulate";
constexpr const char* d_mcs_put = "d_mcs.put";
constexpr const char* rma_mcs = "rma_mcs.published";
constexpr const char* c_mcs_mcs = "cohort.published";
constexpr const char* shfl = "shfl.published";
constexpr const char* shfl_tas = "shfl.published_tas";
constexpr const char* steal_tas = "shfl.published_steal";
constexpr const char* steal_tts = "shfl.published_steal_tts";
constexpr const char* near_mcs = "mcs";
const names base{mpi, dash_mutex, d_mcs, rma_mcs};
const names d_mcs_stages{d_mcs_first, d_mcs, d_mcs_put, near_mcs};
const names dash_stages{dash_mutex, "dash.early_look", "dash.direct_reads", dash_put, near_mcs};
const names optimised{mpi, rma_mcs, d_mcs_put, dash_put};
const names with_rh{"rh", d_mcs_put, rma_mcs};
const names with_clh{"clh.published", "clh_craig", d_mcs_put};
/// The inline counter also without optimisation 4, which the thesis does not draw apart.
const names counters{"cohort.published_global",
                     "cohort.published_local",
                     "cohort.published_direct",
                     "cohort.inline_counter",
                     c_mcs_mcs,
                     rma_mcs};
const names pairs{"cohort.tas_tts_published",
                  "cohort.ticket_tts_published",
                  "cohort.mcs_tts_published",
                  "cohort.tas_ticket",
                  "cohort.ticket_ticket",
                  "cohort.mcs_ticket",
                  "cohort.tas",
                  "cohort.ticket_mcs",
                  c_mcs_mcs};
const names local_queues{c_mcs_mcs,
                         "cohort.mcs_clh",
                         "cohort.mcs_hemlock_base",
                         "cohort.mcs_hemlock_overlap",
                         "cohort.mcs_hemlock_ctr",
                         "cohort.mcs_hemlock_beside",
                         "cohort.mcs_hemlock"};
const names with_shfl{shfl_tas, shfl, steal_tas, steal_tts, d_mcs_put};

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

names all_but(const names& of, const std::string& without) {
  names result = of;
  std::erase(result, without);
  return result;
}

values with(values these, const values& others) {
  these.insert(others.begin(), others.end());
  return these;
}

const values critical_work{{"critical_work", {"0", "1", "2", "3", "4", "5"}}};

/// The shortest wait for which the mean one, shared by all ranks, is `shared_ns` nanoseconds.
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
      {"4.9a", "Benchmark 4.9a: UPB of the stages of D-MCS", upb, d_mcs_stages, {}, upb_of_stages},
      {"4.9b", "Benchmark 4.9b: ECSB of the stages of D-MCS", ecsb, d_mcs_stages, {}, ecsb_nodes},
      {"4.9c", "Benchmark 4.9c: CCWB of the stages of D-MCS, 112 ranks", ccwb,
       all_but(d_mcs_stages, near_mcs), critical_work, four_nodes},
      {"4.9d", "Benchmark 4.9d: WBAB of the stages of D-MCS, 28 ranks", wbab, d_mcs_stages, rising_28,
       one_node},
      {"4.10", "Benchmark 4.10: CCWB of the stages of D-MCS, 28 ranks", ccwb, d_mcs_stages, critical_work,
       one_node},
      {"4.11a", "Benchmark 4.11: UPB of the stages of dash::Mutex", upb, dash_stages, {}, upb_of_stages},
      {"4.11b", "Benchmark 4.11: ECSB of the stages of dash::Mutex", ecsb, dash_stages, {}, ecsb_nodes},
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
      {"5.16c", "Benchmark 5.16: CCWB of SHFL, 28 ranks", ccwb, with_shfl, critical_work, one_node},
      {"5.16d", "Benchmark 5.16: WBAB of SHFL, 28 ranks", wbab, with_shfl, waits_28, one_node},
      {"5.16e", "Benchmark 5.16: CCWB of SHFL, 112 ranks", ccwb, with_shfl, critical_work, four_nodes},
      {"5.16f", "Benchmark 5.16: WBAB of SHFL, 112 ranks", wbab, with_shfl, waits_112, four_nodes},
  };
}

// ---- claims -----------------------------------------------------------------------------------------------

// The measured quantities. `ranks`: of the ECSB; the others have one shape.

quantity upb(const std::string& lock, const std::string& scenario, int ranks = 4) {
  return {{.object = lock, .ranks = ranks, .scenario = scenario}, "time"};
}
quantity ecsb(const std::string& lock, int ranks, const std::string& column = "time") {
  return {{.object = lock, .ranks = ranks}, column};
}
quantity ccwb(const std::string& lock, int ranks, int work, const std::string& column = "time") {
  return {{.object = lock, .ranks = ranks, .at = {{"critical_work", work}}}, column};
}
quantity wbab(const std::string& lock, int ranks, double shared_us, const std::string& column = "time") {
  return {{.object = lock, .ranks = ranks, .at = {{"wait_ns", shortest_wait(ranks, shared_us * 1000)}}},
          column};
}
/// RH with at most `turns` turns of backoff, and so unfair.
quantity rh(int ranks, int turns, int factor, std::map<std::string, std::int64_t> at = {},
            const std::string& column = "time") {
  at.insert({{"local_backoff_max_ns", std::int64_t{turns} * turn_ns}, {"fairness_factor", factor}});
  return {{.object = "rh", .ranks = ranks, .at = std::move(at)}, column};
}

/// The quantities of each of these.
template <typename Of, typename Quantity>
std::vector<quantity> each(const Of& of, Quantity make) {
  std::vector<quantity> all;
  for (const auto& one : of) all.push_back(make(one));
  return all;
}
/// The same of each pair.
template <typename Of, typename With, typename Quantity>
std::vector<quantity> each(const Of& of, const With& with, Quantity make) {
  std::vector<quantity> all;
  for (const auto& one : of)
    for (const auto& other : with) all.push_back(make(one, other));
  return all;
}
constexpr double percent = 100;
constexpr double third = 4.0 / 3;
constexpr int works[] = {0, 1, 2, 3, 4, 5};
/// Medians that differ by less are alike.
constexpr double alike = 1.1;

evidence alike_by(const quantity& one, const quantity& other, double by = alike) {
  return {are_alike(one, other, by), "ratio {:.2f} ({:.0f} to {:.0f} ns)", {one / other, one, other}};
}

/// A line of the tables: where, what the thesis says, and what would show it.
struct line {
  const char* analysis;
  const char* text;
  std::vector<evidence> of;
};
using table = std::vector<line>;

table of_free_and_contended_locks() {
  const quantity d_28 = ecsb(d_mcs, 28);
  const quantity d_30 = ecsb(d_mcs, 30);
  const quantity d_112 = ecsb(d_mcs, 112);
  const auto rma_more = [](const char* at) { return upb(rma_mcs, at) - upb(d_mcs, at); };
  const auto rma_ecsb = each(ecsb_ranks, [](int ranks) { return ecsb(rma_mcs, ranks); });
  const auto cv = [](const std::string& lock, int ranks) { return percent * ecsb(lock, ranks, "cv"); };
  const auto cv_112 = [](const std::string& lock) { return percent * ecsb(lock, 112, "cv"); };
  const quantity other_cv = largest(each(names{dash_mutex, d_mcs, rma_mcs}, cv_112));
  std::vector<bound> same_owner = are_alike(upb(d_mcs, "1a"), upb(d_mcs, "3a"), 1.35);
  for (const bound& one : are_alike(upb(d_mcs, "1c"), upb(d_mcs, "3c"), 1.35)) same_owner.push_back(one);
  return {
      {"4.1",
       "a free D-MCS lock is taken many times slower from another node (5 times at least)",
       {takes_times(upb(d_mcs, "1c"), upb(d_mcs, "1a"), 5)}},
      {"4.1",
       "a free RMA-MCS lock costs about 1.5 us more than D-MCS, wherever the rank is (0.5 to 3)",
       {{{500 < rma_more("1a"), rma_more("1a") < 3000, 500 < rma_more("1b"), rma_more("1b") < 3000,
          500 < rma_more("1c"), rma_more("1c") < 3000},
         "1a {:.0f} ns, 1b {:.0f} ns, 1c {:.0f} ns",
         {rma_more("1a"), rma_more("1b"), rma_more("1c")}}}},
      {"4.1",
       "whose a free D-MCS lock was makes no difference",
       {{same_owner,
         "1a {:.0f}, 3a {:.0f}; 1c {:.0f}, 3c {:.0f} ns",
         {upb(d_mcs, "1a"), upb(d_mcs, "3a"), upb(d_mcs, "1c"), upb(d_mcs, "3c")}}}},
      {"4.1",
       "at home, a free lock of the MPI library is much faster for the home rank than for its neighbour (1.5 "
       "times)",
       {takes_times(upb(mpi, "1b"), upb(mpi, "1a"), 1.5)}},
      {"4.2-4.3",
       "on one node the MPI library's lock is the fastest by far",
       {takes_times(smallest({ecsb(dash_mutex, full_node), ecsb(d_mcs, full_node), ecsb(rma_mcs, full_node)}),
                    ecsb(mpi, full_node), 1.5, "the next takes, times it,")}},
      {"4.2-4.3",
       "the MPI library's lock becomes slower with each node that is added",
       {in_order(
           {{"28", ecsb(mpi, 28)}, {"30", ecsb(mpi, 30)}, {"57", ecsb(mpi, 57)}, {"88", ecsb(mpi, 88)}})}},
      {"4.2-4.3",
       "D-MCS is slower on two nodes, and no slower on more",
       {{{d_30 > 1.2 * d_28, d_112 < 1.2 * d_30},
         "28 {:.0f}, 30 {:.0f}, 112 {:.0f} ns",
         {d_28, d_30, d_112}}}},
      {"4.2-4.3",
       "RMA-MCS is as fast with any number of ranks and nodes (within a third)",
       {{{largest(rma_ecsb) < third * smallest(rma_ecsb)},
         "largest to smallest {:.2f} ({:.0f} to {:.0f} ns)",
         {largest(rma_ecsb) / smallest(rma_ecsb), largest(rma_ecsb), smallest(rma_ecsb)}}}},
      {"4.2-4.3",
       "with 112 ranks D-MCS and RMA-MCS are faster than the locks of MPI and DASH",
       {takes_times(smallest({ecsb(mpi, 112), ecsb(dash_mutex, 112)}),
                    largest({ecsb(d_mcs, 112), ecsb(rma_mcs, 112)}), 1)}},
      {"4.2-4.3",
       "all locks are fair: progress varies by less than 5 %",
       {within(largest(each(base, ecsb_ranks, cv)), any_low, 5, "at most {:.2f} %")}},
      {"4.2-4.3",
       "on several nodes the MPI library's lock is the least fair",
       {{{cv_112(mpi) > other_cv}, "{:.3f} %, others {:.3f} %", {cv_112(mpi), other_cv}}}},
      {"4.2-4.3",
       "D-MCS is less fair than dash::Mutex, with 14 ranks",
       {in_order({{"dash", cv(dash_mutex, 14)}, {"D-MCS", cv(d_mcs, 14)}}, "%")}},
  };
}

table of_critical_work() {
  const auto dash_to_mpi = [](int work) {
    return std::pair(ccwb(dash_mutex, full_cluster, work), ccwb(mpi, full_cluster, work));
  };
  std::vector<bound> near;
  std::vector<quantity> near_ratios;
  for (const int work : {0, 3, 5}) {
    const auto [dash, of_mpi] = dash_to_mpi(work);
    for (const bound& one : are_alike(dash, of_mpi, third)) near.push_back(one);
    near_ratios.push_back(dash / of_mpi);
  }
  const quantity queues_to_others = largest(each(works, [](int work) {
    return largest({ccwb(d_mcs, full_cluster, work), ccwb(rma_mcs, full_cluster, work)}) /
           smallest({ccwb(dash_mutex, full_cluster, work), ccwb(mpi, full_cluster, work)});
  }));
  const auto cv = [](const std::string& lock, int work) {
    return percent * ccwb(lock, full_cluster, work, "cv");
  };
  const auto waited = [](const std::string& lock, int ranks, int work) {
    return ccwb(lock, ranks, work, "waited");
  };
  const auto cv_28 = [](const names& locks) {
    return largest(each(locks, works, [](const std::string& lock, int work) {
      return percent * ccwb(lock, full_node, work, "cv");
    }));
  };
  return {
      {"4.4",
       "the locks of MPI and DASH are near each other (within a third)",
       {{near, "dash to MPI 0: {:.2f}, 3: {:.2f}, 5: {:.2f}", near_ratios}}},
      {"4.4",
       "dash::Mutex is a little slower than the MPI library's lock",
       {takes_times(ccwb(dash_mutex, full_cluster, 3), ccwb(mpi, full_cluster, 3), 1)}},
      {"4.4",
       "D-MCS and RMA-MCS are faster than both, with any critical work",
       {within(queues_to_others, any_low, 1, "at most {:.2f} times their time")}},
      {"4.4",
       "with critical work 2 D-MCS and RMA-MCS are not yet always contended (below 95 %)",
       {{{waited(d_mcs, full_cluster, 2) < 95, waited(rma_mcs, full_cluster, 2) < 95},
         "{:.0f} and {:.0f} %",
         {waited(d_mcs, full_cluster, 2), waited(rma_mcs, full_cluster, 2)}}}},
      {"4.4",
       "progress varies by less than 5 %",
       {within(largest(each(base, works, cv)), any_low, 5, "at most {:.1f} %")}},
      {"4.4",
       "D-MCS becomes fairer where it is always contended",
       {{{cv(d_mcs, 5) < cv(d_mcs, 1)}, "work 1: {:.2f} %, 5: {:.2f} %", {cv(d_mcs, 1), cv(d_mcs, 5)}}}},
      {"4.5",
       "on one node dash::Mutex is always contended even without critical work (95 %)",
       {within(waited(dash_mutex, full_node, 0), 95, any_high, "{:.0f} %")}},
      {"4.5",
       "D-MCS is so from a critical work of 1 or 2 on only",
       {{{waited(d_mcs, full_node, 0) < 95, waited(d_mcs, full_node, 2) > 95},
         "0: {:.0f} %, 2: {:.0f} %",
         {waited(d_mcs, full_node, 0), waited(d_mcs, full_node, 2)}}}},
      {"4.5",
       "without critical work D-MCS and RMA-MCS are slower than the MPI library's lock",
       {takes_times(smallest({ccwb(d_mcs, full_node, 0), ccwb(rma_mcs, full_node, 0)}),
                    ccwb(mpi, full_node, 0), 1)}},
      {"4.5",
       "the MPI library's lock is less fair (above 8 %) than the others (below 5 %)",
       {{{cv_28(names{mpi}) > 8, cv_28(names{dash_mutex, d_mcs, rma_mcs}) < 5},
         "{:.1f} %, others {:.1f} %",
         {cv_28(names{mpi}), cv_28(names{dash_mutex, d_mcs, rma_mcs})}}}},
  };
}

table of_waits() {
  const auto cv = [](const std::string& lock, double wait) {
    return percent * wbab(lock, full_cluster, wait, "cv");
  };
  const auto cv_of = [cv](const std::string& lock) {
    return [cv, lock](double wait) { return cv(lock, wait); };
  };
  const auto cv_28 = [](const std::string& lock, double wait) {
    return percent * wbab(lock, full_node, wait, "cv");
  };
  const quantity least_overhead = smallest(each(
      std::vector{8.0, 16.0, 32.0}, [](double wait) { return wbab(d_mcs, full_cluster, wait, "overhead"); }));
  const auto us = [](const char* lock) { return wbab(lock, full_cluster, 0.25) / 1000; };
  std::vector<bound> overheads{us(rma_mcs) < 1.5};
  for (const auto& [lock, published] : {std::pair(mpi, 8), std::pair(dash_mutex, 8), std::pair(d_mcs, 4)})
    for (const bound& one : are_alike(us(lock), published, 1.5)) overheads.push_back(one);
  return {
      {"4.6a",
       "without progress D-MCS is extremely unfair (140 %)",
       {within(largest(each(std::vector{1.0, 2.0, 4.0, 8.0}, cv_of(d_mcs))), 140, any_high,
               "up to {:.0f} %")}},
      {"4.6a",
       "dash::Mutex is less unfair than D-MCS without progress",
       {{{cv(dash_mutex, 4) < cv(d_mcs, 4)},
         "{:.0f} and {:.0f} % at 4 us",
         {cv(dash_mutex, 4), cv(d_mcs, 4)}}}},
      {"4.6a",
       "RMA-MCS stays fairest without progress (about 10 % at most; 20 here)",
       {within(largest(each(doubling, cv_of(rma_mcs))), any_low, 20, "up to {:.0f} %")}},
      {"4.6a",
       "dash::Mutex becomes much slower without progress (twice at least)",
       {takes_times(wbab(dash_mutex, full_cluster, 4), wbab(dash_mutex, full_cluster, 4).in("4.7"), 2)}},
      {"4.6b",
       "on one node D-MCS and RMA-MCS need no progress: they are fair (below 5 %)",
       {within(largest(each(names{d_mcs, rma_mcs}, doubling, cv_28)), any_low, 5, "at most {:.1f} %")}},
      {"4.6b",
       "on one node the MPI library's lock is unfair without progress (above 5 %)",
       {within(largest(each(names{mpi}, doubling, cv_28)), 5, any_high, "up to {:.1f} %")}},
      {"4.7",
       "with progress all locks are fair (below 2 %)",
       {within(largest(each(base, std::vector{0.25, 0.5, 1.0, 2.0, 4.0}, cv)), any_low, 2,
               "at most {:.2f} %")}},
      {"4.7",
       "overhead on the critical path: about 8 us of MPI and DASH, 4 of D-MCS, below 1 of RMA-MCS "
       "(order, and within a factor of 1.5)",
       {{overheads,
         "MPI {:.1f}, DASH {:.1f}, D-MCS {:.1f}, RMA-MCS {:.1f} us",
         {us(mpi), us(dash_mutex), us(d_mcs), us(rma_mcs)}}}},
      {"4.7",
       "with little contention D-MCS has less overhead than RMA-MCS",
       {in_order({{"D-MCS", wbab(d_mcs, full_cluster, 32, "overhead")},
                  {"RMA-MCS", wbab(rma_mcs, full_cluster, 32, "overhead")}},
                 "ns at 32 us")}},
      {"4.7",
       "with waits of 64 us about a tenth of the acquisitions still wait (at most 20 %)",
       {within(largest({wbab(d_mcs, full_cluster, 64, "waited"), wbab(rma_mcs, full_cluster, 64, "waited")}),
               any_low, 20, "{:.0f} %")}},
      {"4.7",
       "the overhead of D-MCS falls with longer waits, and rises again",
       {{{wbab(d_mcs, full_cluster, 64, "overhead") > least_overhead,
          wbab(d_mcs, full_cluster, 4, "overhead") > least_overhead},
         "4 us {:.0f}, least {:.0f}, 64 us {:.0f} ns",
         {wbab(d_mcs, full_cluster, 4, "overhead"), least_overhead,
          wbab(d_mcs, full_cluster, 64, "overhead")}}}},
      {"4.8",
       "on one node MPI is fastest, dash::Mutex slowest",
       {in_order({{"MPI", wbab(mpi, full_node, 0.5)},
                  {"D-MCS", wbab(d_mcs, full_node, 0.5)},
                  {"dash", wbab(dash_mutex, full_node, 0.5)}},
                 "ns at 0.5 us")}},
      {"4.8",
       "on one node D-MCS and RMA-MCS are near each other (within a third)",
       {alike_by(wbab(d_mcs, full_node, 0.5), wbab(rma_mcs, full_node, 0.5), third)}},
      {"4.8",
       "on one node all locks are fair (below 1 %)",
       {within(largest(each(base, std::vector{0.25, 0.5, 1.0, 2.0, 4.0}, cv_28)), any_low, 1,
               "at most {:.2f} %")}},
  };
}

/// The effect of a flush after each accumulate of D-MCS.
table of_flushes() {
  const auto at_wait = [](double wait) {
    return wbab(d_mcs, full_node, wait) / wbab(d_mcs_first, full_node, wait);
  };
  const auto at_work = [](int work) {
    return ccwb(d_mcs, full_cluster, work) / ccwb(d_mcs_first, full_cluster, work);
  };
  const quantity on_one = ecsb(d_mcs, full_node) / ecsb(d_mcs_first, full_node);
  const quantity on_all = ecsb(d_mcs, full_cluster) / ecsb(d_mcs_first, full_cluster);
  return {
      {"4.9b",
       "a flush after each accumulate makes D-MCS slower without work",
       {{{on_one > 1, on_all > 1},
         "{:.3f} times the time with 28 ranks, {:.3f} with 112",
         {on_one, on_all}}}},
      {"4.9c",
       "with critical work it makes D-MCS faster, but by little (a tenth at most)",
       {{{at_work(3) < 1, at_work(5) < 1, at_work(3) > 0.9, at_work(5) > 0.9},
         "{:.3f} times the time with work 3, {:.3f} with 5",
         {at_work(3), at_work(5)}}}},
      {"4.9d",
       "without waits it makes D-MCS slower, and with waits faster",
       {{{at_wait(0) > 1, at_wait(1) < 1, at_wait(4) < 1},
         "{:.3f} times the time without waits, {:.3f} with 1 us, {:.3f} with 4 us",
         {at_wait(0), at_wait(1), at_wait(4)}}}},
  };
}

table of_optimisations() {
  const auto gain = [](int work) { return ccwb(d_mcs, full_node, work) / ccwb(d_mcs_put, full_node, work); };
  const quantity near = ecsb("dash.direct_reads", full_node) / ecsb(dash_put, full_node);
  const quantity far = ecsb("dash.direct_reads", 112) / ecsb(dash_put, 112);
  const quantity looks_first = upb("dash.early_look", "1a");
  const quantity looks_late = upb(dash_mutex, "1a");
  const quantity all_steps =
      largest(each(ecsb_ranks, [](int ranks) { return ecsb(dash_mutex, ranks) / ecsb(dash_put, ranks); }));
  return {
      {"4.9b",
       "put in place of accumulate makes D-MCS much faster on one node (twice)",
       {takes_times(ecsb(d_mcs, full_node), ecsb(d_mcs_put, full_node), 2)}},
      {"4.9b",
       "with atomics of the processor it is faster still (twice)",
       {takes_times(ecsb(d_mcs_put, full_node), ecsb(near_mcs, full_node), 2)}},
      {"4.9a",
       "a free lock costs much less with atomics of the processor (a fifth at most)",
       {takes_times(upb(d_mcs_put, "1a"), upb(near_mcs, "1a", 2), 5)}},
      {"4.10",
       "put gains in the CCWB on one node, too, with any critical work",
       {{{gain(0) > 1, gain(3) > 1, gain(5) > 1},
         "times as fast, 0: {:.2f}, 3: {:.2f}, 5: {:.2f}",
         {gain(0), gain(3), gain(5)}}}},
      {"4.11b",
       "looking for a successor first makes dash::Mutex much faster (a quarter at least)",
       {takes_times(ecsb(dash_mutex, 112), ecsb("dash.early_look", 112), 1.25)}},
      {"4.11a",
       "and a free one a little slower",
       {{{looks_first > looks_late},
         "ratio {:.2f} ({:.0f} to {:.0f} ns)",
         {looks_first / looks_late, looks_first, looks_late}}}},
      {"4.11a",
       "at home, the new dash::Mutex is as fast for the home rank as for its neighbour (within a third)",
       {alike_by(upb(dash_mutex, "1b"), upb(dash_mutex, "1a"), third)}},
      {"4.11a",
       "reading in place makes up for it, when the lock is free",
       {takes_times(looks_first, upb("dash.direct_reads", "1a"), 1)}},
      {"4.11b",
       "all steps together make dash::Mutex up to four times as fast (3 to 5)",
       {within(all_steps, 3, 5, "{:.2f}")}},
      {"4.11b",
       "reading in place makes it faster again, on one node",
       {takes_times(ecsb("dash.early_look", full_node), ecsb("dash.direct_reads", full_node), 1)}},
      {"4.11b",
       "registering by put gains much on one node (a quarter), little on four (at most a tenth)",
       {{{near > 1.25, far < alike}, "{:.2f} and {:.2f} times", {near, far}}}},
      {"4.12a",
       "on one node D-MCS by put is faster than dash::Mutex by put",
       {takes_times(ccwb(dash_put, full_node, 5), ccwb(d_mcs_put, full_node, 5), 1)}},
      {"4.12a",
       "on one node both are faster than the MPI library's lock",
       {takes_times(ccwb(mpi, full_node, 5),
                    largest({ccwb(dash_put, full_node, 5), ccwb(d_mcs_put, full_node, 5)}), 1)}},
      {"4.12b",
       "on four nodes RMA-MCS is faster than dash::Mutex, and that than D-MCS",
       {in_order({{"RMA-MCS", ccwb(rma_mcs, full_cluster, 5)},
                  {"dash", ccwb(dash_put, full_cluster, 5)},
                  {"D-MCS", ccwb(d_mcs_put, full_cluster, 5)}})}},
  };
}

table of_rh() {
  constexpr int turns[] = {16, 32, 64};
  const auto cv = [](int ranks, int longest, int factor = 1) {
    return percent * rh(ranks, longest, factor, {}, "cv");
  };
  const quantity on_one = largest(each(std::vector{14, 28}, turns, cv));
  const quantity least_of_all = smallest(each(turns, [cv](int longest) { return cv(112, longest); }));
  const auto cv_with = [](int work) {
    return percent * rh(full_cluster, 32, 1, {{"critical_work", work}}, "cv");
  };
  const auto with_wait = [](double us, const std::string& column) {
    return rh(full_cluster, 32, 1, {{"wait_ns", shortest_wait(full_cluster, us * 1000)}}, column);
  };
  const auto with_work = [](int longest, int work) {
    return rh(full_cluster, longest, 1, {{"critical_work", work}});
  };
  const quantity most_waited =
      largest(each(doubling, [with_wait](double us) { return with_wait(us, "waited"); }));
  const quantity than = ecsb(d_mcs_put, 112);
  return {
      {"5.1",
       "a free RH lock is slow where another node had it, and fast otherwise (3 times)",
       {takes_times(upb("rh", "3c"), upb("rh", "1c"), 3)}},
      {"5.1",
       "from another node a free RH lock that this one had is faster than D-MCS",
       {takes_times(upb(d_mcs_put, "1c"), upb("rh", "1c"), 1)}},
      {"5.1",
       "a free RH lock is faster for the rank that keeps the node's word",
       {takes_times(upb("rh", "1b"), upb("rh", "1a"), alike)}},
      {"5.2",
       "with 112 ranks RH is faster than D-MCS, but not with the shortest backoff",
       {{{rh(112, 32, 1) < than, rh(112, 16, 1) > than},
         "D-MCS {:.0f}, 32: {:.0f}, 16: {:.0f} ns",
         {than, rh(112, 32, 1), rh(112, 16, 1)}}}},
      {"5.2",
       "RH is extremely unfair: on one node up to 460 % (100 at least), with 112 ranks 40 % and more",
       {{{on_one > 100, least_of_all > 35},
         "{:.0f} % on one node, {:.0f} % with 112",
         {on_one, least_of_all}}}},
      {"5.2",
       "a larger fairness factor makes it faster and less fair, with 112 ranks",
       {{{rh(112, 32, 100) < rh(112, 32, 1), cv(112, 32, 100) > cv(112, 32)},
         "{:.0f} to {:.0f} ns, {:.0f} to {:.0f} %",
         {rh(112, 32, 1), rh(112, 32, 100), cv(112, 32), cv(112, 32, 100)}}}},
      {"5.2",
       "no RH is as fast as RMA-MCS on four nodes",
       {takes_times(smallest(each(turns, std::vector{1, 2, 100},
                                  [](int longest, int factor) { return rh(112, longest, factor); })),
                    ecsb(rma_mcs, 112), 1)}},
      {"5.3",
       "RH becomes ever less fair where it is always contended, D-MCS ever fairer",
       {{{cv_with(5) > cv_with(2), cv_with(5) > percent * ccwb(d_mcs_put, full_cluster, 5, "cv")},
         "{:.1f} to {:.1f} %",
         {cv_with(2), cv_with(5)}}}},
      {"5.2",
       "on one node RMA-MCS is the slowest",
       {takes_times(ecsb(rma_mcs, full_node),
                    largest({ecsb(d_mcs_put, full_node), rh(full_node, 16, 1), rh(full_node, 32, 1),
                             rh(full_node, 64, 1)}),
                    1)}},
      {"5.3",
       "only with the shortest backoff is RH faster than D-MCS, with critical work 4 and 5",
       {{{with_work(16, 4) < ccwb(d_mcs_put, full_cluster, 4),
          with_work(16, 5) < ccwb(d_mcs_put, full_cluster, 5),
          smallest({with_work(32, 4), with_work(64, 4)}) > ccwb(d_mcs_put, full_cluster, 4),
          smallest({with_work(32, 5), with_work(64, 5)}) > ccwb(d_mcs_put, full_cluster, 5)},
         "work 5: D-MCS {:.0f}, 16: {:.0f}, 32: {:.0f}, 64: {:.0f} ns",
         {ccwb(d_mcs_put, full_cluster, 5), with_work(16, 5), with_work(32, 5), with_work(64, 5)}}}},
      {"5.3",
       "a larger fairness factor makes it slower there",
       {takes_times(rh(full_cluster, 32, 100, {{"critical_work", 5}}),
                    rh(full_cluster, 32, 1, {{"critical_work", 5}}), 1)}},
      {"5.4",
       "RH is slower than D-MCS as soon as ranks wait",
       {takes_times(with_wait(0.5, "time"), wbab(d_mcs_put, full_cluster, 0.5), 1)}},
      {"5.4",
       "with little contention RH has less overhead than D-MCS and RMA-MCS",
       {in_order({{"RH", with_wait(16, "overhead")},
                  {"D-MCS", wbab(d_mcs_put, full_cluster, 16, "overhead")},
                  {"RMA-MCS", wbab(rma_mcs, full_cluster, 16, "overhead")}},
                 "ns at 16 us")}},
      {"5.4",
       "a larger fairness factor makes RH slower with waits, too",
       {takes_times(rh(full_cluster, 32, 100, {{"wait_ns", shortest_wait(full_cluster, 1000)}}),
                    with_wait(1, "time"), 1)}},
      {"5.4",
       "RH is extremely unfair without waits, and less so with short ones",
       {in_order({{"0.25 us", percent * with_wait(0.25, "cv")}, {"none", percent * with_wait(0, "cv")}},
                 "%")}},
      {"5.4",
       "a tenth of RH's acquisitions find the lock free (5 % at least), and more without waits",
       {{{most_waited < 95, with_wait(0, "waited") < most_waited},
         "at most {:.0f} % wait, without waits {:.0f} %",
         {most_waited, with_wait(0, "waited")}}}},
  };
}

table of_clh() {
  const quantity craig = ecsb("clh_craig", 112);
  const quantity times_d_mcs = craig / ecsb(d_mcs_put, 112);
  const quantity its = wbab(d_mcs_put, full_cluster, 16, "overhead");
  const auto ratio_at_one = [](const std::string& lock) {
    return wbab(lock, full_cluster, 0) / wbab(lock, full_cluster, 1);
  };
  const quantity of_clh = smallest(each(names{"clh.published", "clh_craig"}, [](const std::string& lock) {
    return wbab(lock, full_cluster, 16, "overhead");
  }));
  return {
      {"5.5a",
       "free CLH locks take about twice as long as D-MCS, from another node (1.5 to 3 times)",
       {within(upb("clh.published", "1c") / upb(d_mcs_put, "1c"), 1.5, 3, "{:.2f}")}},
      {"5.5b",
       "with 112 ranks CLH is slower than Craig's variant, and that about half as fast as D-MCS",
       {{{ecsb("clh.published", 112) > craig, 1.5 < times_d_mcs, times_d_mcs < 3},
         "CLH {:.0f}, Craig {:.0f} ns, which is {:.2f} times D-MCS",
         {ecsb("clh.published", 112), craig, times_d_mcs}}}},
      {"5.6",
       "with much critical work CLH is much slower than Craig's variant",
       {takes_times(ccwb("clh.published", full_cluster, 5), ccwb("clh_craig", full_cluster, 5), 1.05)}},
      {"5.6",
       "with critical work 2 Craig's variant is contended most",
       {in_order({{"D-MCS", ccwb(d_mcs_put, full_cluster, 2, "waited")},
                  {"Craig", ccwb("clh_craig", full_cluster, 2, "waited")}},
                 "%")}},
      {"5.6",
       "with critical work 2 Craig's variant is the slowest",
       {takes_times(ccwb("clh_craig", full_cluster, 2),
                    largest({ccwb("clh.published", full_cluster, 2), ccwb(d_mcs_put, full_cluster, 2)}), 1)}},
      {"5.7",
       "with little contention D-MCS has about half of the overhead of both CLH (at most 0.75)",
       {{{its < 0.75 * of_clh}, "{:.0f} to {:.0f} ns at 16 us", {its, of_clh}}}},
      {"5.7",
       "CLH becomes faster with waits, D-MCS and Craig's variant hardly change (by a quarter at most)",
       {{{wbab("clh.published", full_cluster, 1) < wbab("clh.published", full_cluster, 0),
          ratio_at_one(d_mcs_put) < 1.25, ratio_at_one("clh_craig") < 1.25},
         "0 to 1 us: CLH {:.2f}, D-MCS {:.2f}, Craig {:.2f} times",
         {ratio_at_one("clh.published"), ratio_at_one(d_mcs_put), ratio_at_one("clh_craig")}}}},
      {"5.7",
       "D-MCS is contended least, Craig's variant most",
       {in_order({{"D-MCS", wbab(d_mcs_put, full_cluster, 8, "waited")},
                  {"CLH", wbab("clh.published", full_cluster, 8, "waited")},
                  {"Craig", wbab("clh_craig", full_cluster, 8, "waited")}},
                 "% at 8 us")}},
      {"5.7",
       "with little contention CLH has less overhead than Craig's variant",
       {in_order({{"CLH", wbab("clh.published", full_cluster, 32, "overhead")},
                  {"Craig", wbab("clh_craig", full_cluster, 32, "overhead")}},
                 "ns at 32 us")}},
  };
}

table of_cohort_locks() {
  const auto million = [](const char* lock) { return 1000 / ecsb(lock, 112); };
  std::vector<bound> two_million;
  for (const char* lock : {"cohort.tas", "cohort.ticket_mcs", c_mcs_mcs}) {
    two_million.push_back(1.5 < million(lock));
    two_million.push_back(million(lock) < 2.5);
  }
  const auto overhead = [](const std::string& lock, double wait) {
    return wbab(lock, full_cluster, wait, "overhead");
  };
  const quantity to_rma_mcs =
      largest(each(std::vector{0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0},
                   [overhead](double wait) { return overhead(c_mcs_mcs, wait) / overhead(rma_mcs, wait); }));
  return {
      {"5.8",
       "a counter in the node instead of at home gains much from another node (1.2 times)",
       {takes_times(upb("cohort.published_global", "1c"), upb("cohort.published_local", "1c"), 1.2)}},
      {"5.8",
       "a counter that is read in place gains a little more",
       {takes_times(upb("cohort.published_local", "1a"), upb("cohort.published_direct", "1a"), 1)}},
      {"5.8",
       "C-MCS-MCS is faster than RMA-MCS at home and from another node, and slower for a neighbour at home",
       {{{upb(c_mcs_mcs, "1a") < upb(rma_mcs, "1a"), upb(c_mcs_mcs, "1b") > upb(rma_mcs, "1b"),
          upb(c_mcs_mcs, "1c") < upb(rma_mcs, "1c")},
         "times of RMA-MCS: 1a {:.2f}, 1b {:.2f}, 1c {:.2f}",
         {upb(c_mcs_mcs, "1a") / upb(rma_mcs, "1a"), upb(c_mcs_mcs, "1b") / upb(rma_mcs, "1b"),
          upb(c_mcs_mcs, "1c") / upb(rma_mcs, "1c")}}}},
      {"5.9",
       "each stage gains with 112 ranks",
       {in_order({{"inline", ecsb(c_mcs_mcs, 112)},
                  {"direct", ecsb("cohort.published_direct", 112)},
                  {"local", ecsb("cohort.published_local", 112)},
                  {"global", ecsb("cohort.published_global", 112)}})}},
      {"5.9",
       "on one node it makes no difference where the far counter is",
       {alike_by(ecsb("cohort.published_global", full_node), ecsb("cohort.published_local", full_node))}},
      {"5.9",
       "C-MCS-MCS is about four times as fast as RMA-MCS (3 to 6)",
       {within(ecsb(rma_mcs, 112) / ecsb(c_mcs_mcs, 112), 3, 6, "{:.2f}")}},
      {"5.10",
       "with waits of 0.25 us it is still almost twice as fast (1.5 to 3)",
       {within(wbab(rma_mcs, full_cluster, 0.25) / wbab(c_mcs_mcs, full_cluster, 0.25), 1.5, 3, "{:.2f}")}},
      {"5.10",
       "with waits of 0.25 and 0.5 us RMA-MCS is faster than the lock with the counter of the node",
       {{{wbab(rma_mcs, full_cluster, 0.25) < wbab("cohort.published_local", full_cluster, 0.25),
          wbab(rma_mcs, full_cluster, 0.5) < wbab("cohort.published_local", full_cluster, 0.5)},
         "0.25 us: {:.0f} and {:.0f} ns; 0.5 us: {:.0f} and {:.0f} ns",
         {wbab(rma_mcs, full_cluster, 0.25), wbab("cohort.published_local", full_cluster, 0.25),
          wbab(rma_mcs, full_cluster, 0.5), wbab("cohort.published_local", full_cluster, 0.5)}}}},
      {"5.10",
       "it has less overhead than RMA-MCS with any wait",
       {within(to_rma_mcs, any_low, 1, "at most {:.2f} times")}},
      {"5.11a",
       "free, from another node: TAS above is fastest, then MCS, then the ticket",
       {in_order({{"C-TAS-MCS", upb("cohort.tas", "1c")},
                  {"C-MCS-MCS", upb(c_mcs_mcs, "1c")},
                  {"C-TKT-MCS", upb("cohort.ticket_mcs", "1c")}})}},
      {"5.11b",
       "C-*-MCS do about 2 million a second with 112 ranks (1.5 to 2.5)",
       {{two_million,
         "cohort.tas {:.2f}, cohort.ticket_mcs {:.2f}, cohort.published {:.2f}",
         {million("cohort.tas"), million("cohort.ticket_mcs"), million(c_mcs_mcs)}}}},
      {"5.11b",
       "C-*-TKT are about half as fast as C-*-MCS (1.5 to 3 times)",
       {within(ecsb("cohort.mcs_ticket", 112) / ecsb(c_mcs_mcs, 112), 1.5, 3,
               "C-MCS-TKT takes {:.2f} times C-MCS-MCS")}},
      {"5.11b",
       "C-*-TTS are slowest on four nodes",
       {in_order({{"C-MCS-MCS", ecsb(c_mcs_mcs, 112)},
                  {"C-MCS-TKT", ecsb("cohort.mcs_ticket", 112)},
                  {"C-MCS-TTS", ecsb("cohort.mcs_tts_published", 112)}})}},
      {"5.11b",
       "of C-*-MCS, TAS above is fastest, then MCS, then the ticket",
       {in_order({{"C-TAS-MCS", ecsb("cohort.tas", 112)},
                  {"C-MCS-MCS", ecsb(c_mcs_mcs, 112)},
                  {"C-TKT-MCS", ecsb("cohort.ticket_mcs", 112)}})}},
      {"5.11b",
       "of C-*-TKT, TAS above is fastest, then MCS, then the ticket",
       {in_order({{"C-TAS-TKT", ecsb("cohort.tas_ticket", 112)},
                  {"C-MCS-TKT", ecsb("cohort.mcs_ticket", 112)},
                  {"C-TKT-TKT", ecsb("cohort.ticket_ticket", 112)}})}},
      {"5.11b",
       "C-TAS-TTS and C-TKT-TTS become slower with more nodes",
       {{{ecsb("cohort.tas_tts_published", 112) > ecsb("cohort.tas_tts_published", 56),
          ecsb("cohort.ticket_tts_published", 112) > ecsb("cohort.ticket_tts_published", 56)},
         "56 and 112 ranks: C-TAS-TTS {:.0f}, {:.0f}; C-TKT-TTS {:.0f}, {:.0f} ns",
         {ecsb("cohort.tas_tts_published", 56), ecsb("cohort.tas_tts_published", 112),
          ecsb("cohort.ticket_tts_published", 56), ecsb("cohort.ticket_tts_published", 112)}}}},
  };
}

table of_cohort_locks_with_work() {
  const auto cv = [](const char* lock, int work) { return percent * ccwb(lock, full_cluster, work, "cv"); };
  const auto overhead = [](const std::string& lock, double wait) {
    return wbab(lock, full_cluster, wait, "overhead");
  };
  const auto waited_above = [](const std::string& lock) {
    return wbab(lock, full_cluster, 0.25, "waited_above");
  };
  const quantity local = largest(
      each(names{"cohort.tas_tts_published", "cohort.ticket_tts_published", "cohort.mcs_tts_published"},
           std::vector{0.25, 0.5, 1.0, 2.0, 4.0},
           [](const std::string& lock, double wait) { return wbab(lock, full_cluster, wait, "local"); }));
  return {
      {"5.12",
       "with much critical work TAS above is slower than MCS",
       {takes_times(ccwb("cohort.tas", full_cluster, 5), ccwb(c_mcs_mcs, full_cluster, 5), 1)}},
      {"5.12",
       "C-TAS-* become less fair, to about 25 % (10 to 50), where they are always contended",
       {{{cv("cohort.tas", 5) > cv("cohort.tas", 2), 10 < cv("cohort.tas", 5), cv("cohort.tas", 5) < 50},
         "{:.1f} to {:.1f} %",
         {cv("cohort.tas", 2), cv("cohort.tas", 5)}}}},
      {"5.12",
       "C-MCS-MCS becomes fairer there",
       {{{cv(c_mcs_mcs, 5) < cv(c_mcs_mcs, 2)}, "{:.2f} to {:.2f} %", {cv(c_mcs_mcs, 2), cv(c_mcs_mcs, 5)}}}},
      {"5.12",
       "with much critical work C-TAS-TTS is slower than C-TKT-TTS",
       {takes_times(ccwb("cohort.tas_tts_published", full_cluster, 5),
                    ccwb("cohort.ticket_tts_published", full_cluster, 5), 1)}},
      {"5.12",
       "C-MCS-TTS and C-TKT-TTS are very fair (below 5 %)",
       {within(largest({cv("cohort.mcs_tts_published", 5), cv("cohort.ticket_tts_published", 5)}), any_low, 5,
               "{:.1f} %")}},
      {"5.13",
       "C-TAS-* are extremely unfair without waits (up to 100 %; 50 at least)",
       {within(percent * wbab("cohort.tas", full_cluster, 0, "cv"), 50, any_high, "{:.0f} %")}},
      {"5.13",
       "C-*-TTS hand over within the node less than every second time, below 8 us",
       {within(local, any_low, 52, "at most {:.0f} %")}},
      {"5.13",
       "with short waits the lock within decides: C-MCS-MCS has less overhead than C-MCS-TKT",
       {takes_times(overhead("cohort.mcs_ticket", 0.25), overhead(c_mcs_mcs, 0.25), alike)}},
      {"5.13",
       "with longer ones the lock above: C-MCS-MCS and C-MCS-TKT are alike",
       {alike_by(overhead("cohort.mcs_ticket", 4), overhead(c_mcs_mcs, 4))}},
      {"5.13",
       "without waits C-TAS-MCS is the faster one, with waits of 1 us C-MCS-MCS",
       {{{wbab("cohort.tas", full_cluster, 0) < wbab(c_mcs_mcs, full_cluster, 0),
          wbab(c_mcs_mcs, full_cluster, 1) < wbab("cohort.tas", full_cluster, 1)},
         "0: {:.0f} and {:.0f}, 1 us: {:.0f} and {:.0f} ns",
         {wbab("cohort.tas", full_cluster, 0), wbab(c_mcs_mcs, full_cluster, 0),
          wbab("cohort.tas", full_cluster, 1), wbab(c_mcs_mcs, full_cluster, 1)}}}},
      {"5.13",
       "with short waits TAS above is contended little, the others are contended always (95 %)",
       {{{waited_above("cohort.tas") < 50, waited_above(c_mcs_mcs) > 95,
          waited_above("cohort.ticket_mcs") > 95},
         "TAS {:.0f}, MCS {:.0f}, ticket {:.0f} % at 0.25 us",
         {waited_above("cohort.tas"), waited_above(c_mcs_mcs), waited_above("cohort.ticket_mcs")}}}},
      {"5.13",
       "without waits TTS within the node is contended little (below 50 %)",
       {within(wbab("cohort.mcs_tts_published", full_cluster, 0, "waited_within"), any_low, 50, "{:.0f} %")}},
  };
}

table of_local_queues() {
  const auto on_one_node = [](const std::string& lock) { return ccwb(lock, full_node, 5); };
  const auto without_waits = [](const std::string& lock) { return wbab(lock, full_cluster, 0); };
  const quantity overlapped = on_one_node("cohort.mcs_hemlock_overlap");
  const quantity base_form = on_one_node("cohort.mcs_hemlock_base");
  const quantity of_mcs = wbab(c_mcs_mcs, full_cluster, 1);
  const quantity of_clh = wbab("cohort.mcs_clh", full_cluster, 1);
  const quantity of_hemlock = wbab("cohort.mcs_hemlock", full_cluster, 1);
  std::vector<bound> all_alike = are_alike(of_mcs, of_clh, alike);
  for (const bound& one : are_alike(of_mcs, of_hemlock, alike)) all_alike.push_back(one);
  return {
      {"5.14",
       "overlapping gains nothing within a cohort",
       {{{overlapped > base_form / 1.02},
         "ratio {:.2f} ({:.0f} to {:.0f} ns)",
         {overlapped / base_form, overlapped, base_form}}}},
      {"5.14",
       "CTR gains, and with AH more",
       {in_order({{"CTR+AH", on_one_node("cohort.mcs_hemlock_beside")},
                  {"CTR", on_one_node("cohort.mcs_hemlock_ctr")},
                  {"base", base_form}})}},
      {"5.14",
       "with the counter inside, hemlock within is the fastest of all",
       {takes_times(smallest(each(all_but(local_queues, "cohort.mcs_hemlock"), on_one_node)),
                    on_one_node("cohort.mcs_hemlock"), 1, "the next takes, times it,")}},
      {"5.14",
       "CLH within is slower than MCS within",
       {takes_times(on_one_node("cohort.mcs_clh"), on_one_node(c_mcs_mcs), 1)}},
      {"5.14",
       "with the counter beside, hemlock within is slower than both, even with CTR and AH",
       {takes_times(on_one_node("cohort.mcs_hemlock_beside"),
                    largest({on_one_node("cohort.mcs_clh"), on_one_node(c_mcs_mcs)}), 1)}},
      {"5.15",
       "overlapping gains nothing, CTR a little, and AH more",
       {{{without_waits("cohort.mcs_hemlock_overlap") > without_waits("cohort.mcs_hemlock_base") / 1.02,
          without_waits("cohort.mcs_hemlock_ctr") < without_waits("cohort.mcs_hemlock_base"),
          without_waits("cohort.mcs_hemlock_beside") < without_waits("cohort.mcs_hemlock_ctr")},
         "base {:.0f}, Overlap {:.0f}, CTR {:.0f}, CTR+AH {:.0f} ns",
         {without_waits("cohort.mcs_hemlock_base"), without_waits("cohort.mcs_hemlock_overlap"),
          without_waits("cohort.mcs_hemlock_ctr"), without_waits("cohort.mcs_hemlock_beside")}}}},
      {"5.15",
       "with waits of 0.25 us C-MCS-CLH and C-MCS-HEM are a little faster than C-MCS-MCS",
       {takes_times(wbab(c_mcs_mcs, full_cluster, 0.25),
                    largest({wbab("cohort.mcs_clh", full_cluster, 0.25),
                             wbab("cohort.mcs_hemlock", full_cluster, 0.25)}),
                    1)}},
      {"5.15",
       "without waits C-MCS-MCS is the fastest",
       {takes_times(smallest(each(all_but(local_queues, c_mcs_mcs), without_waits)), without_waits(c_mcs_mcs),
                    1, "the next takes, times it,")}},
      {"5.15",
       "from 1 us on C-MCS-MCS, C-MCS-CLH and C-MCS-HEM are alike",
       {{all_alike, "{:.0f}, {:.0f}, {:.0f} ns", {of_mcs, of_clh, of_hemlock}}}},
  };
}

table of_shfl() {
  const names shuffled = all_but(with_shfl, d_mcs_put);
  const auto with_work = [](const std::string& lock) { return ccwb(lock, full_cluster, 5); };
  const auto with_waits = [](const std::string& lock) { return wbab(lock, full_cluster, 0.5); };
  const auto tas_to_tts = [](const auto& places, auto time) {
    return largest(each(places, [time](auto place) { return time(shfl_tas, place) / time(shfl, place); }));
  };
  return {
      {"5.16a",
       "TTS in front takes longer than TAS where the word is far (a quarter)",
       {takes_times(upb(shfl, "1c"), upb(shfl_tas, "1c"), 1.25)}},
      {"5.16b",
       "with 112 ranks D-MCS is faster than stealing with TAS, TTS, shuffling with TAS, TTS, in that order",
       {in_order({{"D-MCS", ecsb(d_mcs_put, 112)},
                  {"TAS", ecsb(steal_tas, 112)},
                  {"TTS", ecsb(steal_tts, 112)},
                  {"SHFL TAS", ecsb(shfl_tas, 112)},
                  {"SHFL", ecsb(shfl, 112)}})}},
      {"5.16b",
       "MCS is more than six times as fast as SHFL",
       {takes_times(ecsb(shfl, 112), ecsb(d_mcs_put, 112), 6)}},
      {"5.16c",
       "on one node TAS in front is faster than TTS, with any critical work",
       {within(
           tas_to_tts(works, [](const std::string& lock, int work) { return ccwb(lock, full_node, work); }),
           any_low, 1, "at most {:.2f} times")}},
      {"5.16d",
       "on one node TAS in front is faster than TTS, with any wait up to 8 us",
       {within(tas_to_tts(std::vector{0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0},
                          [](const std::string& lock, double wait) { return wbab(lock, full_node, wait); }),
               any_low, 1, "at most {:.2f} times")}},
      {"5.16e",
       "in the CCWB, too, MCS is faster than all of them",
       {takes_times(smallest(each(shuffled, with_work)), with_work(d_mcs_put), 1)}},
      {"5.16f",
       "and in the WBAB with short waits",
       {takes_times(smallest(each(shuffled, with_waits)), with_waits(d_mcs_put), 1)}},
  };
}

std::vector<claim> claims() {
  std::vector<claim> all;
  for (const auto& tabled :
       {of_free_and_contended_locks, of_critical_work, of_waits, of_flushes, of_optimisations, of_rh, of_clh,
        of_cohort_locks, of_cohort_locks_with_work, of_local_queues, of_shfl})
    for (const line& each : tabled())
      all.push_back({.analysis = each.analysis,
                     .text = fmt::format("{}: {}", each.analysis, each.text),
                     .of = each.of});
  return all;
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
  std::vector<measured_point> result = over_sessions(all.ecsb);
  const std::vector<measured_point> of_upb = over_sessions(all.upb);
  result.insert(result.end(), of_upb.begin(), of_upb.end());
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
      .procedure = "8 runs of 1 s",
      .full_repetitions = 8,
      .full_values = {{"duration", {"1"}}, {"lock_count", {"1000"}}},
      .shapes = [](int, int) { return ecsb_nodes; },
      .claims = claims,
      .title_on_mpi = "A. Uffmann, 2022: locks over RMA, its experiments, on MPI, with the ranks of this run",
      .has_fixed_shapes = true,
      .published = published_points};
}

}  // namespace
}  // namespace uffmann

paper uffmann2022() { return uffmann::described(); }

}  // namespace nearfar::command
