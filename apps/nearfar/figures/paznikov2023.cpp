// nearfar figures paznikov2023: the analyses of a publication on distributed queues.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "apps/nearfar/figures/claims.hpp"
#include "apps/nearfar/figures/papers.hpp"
#include "apps/nearfar/shared/command.hpp"

namespace nearfar::command {

// Of its own, as all sources of the command may be compiled as one.
namespace paznikov {
namespace {

// bc: "a lock is set on a process", which in MPI is MPI_Win_lock.
constexpr const char* central = "central_queue.mpi_win";
constexpr const char* locked = "locked_queue";      // bd
constexpr const char* lockfree = "lockfree_queue";  // nd
constexpr const char* ticket = "ticket_queue";
constexpr const char* rates = "throughput";
constexpr int fewest = 12;  // of the ranks on several nodes
constexpr int most = 72;    // of the paper

/// 2 ranks and more on one node, then as many nodes as there were, then twice as many each time.
std::vector<shape> by_nodes(int most_ranks, int ranks_per_node) {
  if (most_ranks < 2) throw usage_error(fmt::format("--most-ranks must be 2 or more, not {}", most_ranks));
  if (ranks_per_node < 1)
    throw usage_error(fmt::format("--ranks-per-node must be 1 or more, not {}", ranks_per_node));
  std::vector<shape> all;
  for (const int ranks : {2, 4, 6, 12})
    if (ranks <= std::min(ranks_per_node, most_ranks)) all.push_back({.nodes = 1, .ranks_per_node = ranks});
  constexpr int nodes_of_paper = 6;
  for (int nodes = 2; nodes * ranks_per_node <= most_ranks; nodes += nodes < nodes_of_paper ? 1 : nodes)
    all.push_back({.nodes = nodes, .ranks_per_node = ranks_per_node});
  return all;
}

quantity measured(const char* queue, int ranks, const char* column = "throughput") {
  return {{.object = queue, .ranks = ranks}, column};
}

/// Throughput of one queue over that of another.
claim ratio(const char* text, const char* of, const char* over, double least) {
  const quantity one = measured(of, most);
  const quantity other = measured(over, most);
  return {rates,
          text,
          {{{one / other >= least},
            "{:.2f} ({:.3f} over {:.3f} million operations a second)",
            {one / other, one, other}}}};
}

/// Throughput at the most ranks over that of the fewest on several nodes, or on one.
claim growth(const char* text, const char* of, int from, bool is_to_fall) {
  const quantity first = measured(of, from);
  const quantity last = measured(of, most);
  return {rates,
          text,
          {{{is_to_fall ? last < first : last >= first},
            fmt::format("{{:.3f}} at {} ranks, {{:.3f}} at {}", from, most),
            {first, last}}}};
}

/// Operations of nd at some ranks and at more.
claim slower(const char* text, int few, int many) {
  const auto push = [](int ranks) { return measured(lockfree, ranks, "push_time"); };
  const auto pop = [](int ranks) { return measured(lockfree, ranks, "pop_time"); };
  return {rates,
          text,
          {{{push(few) < push(many), pop(few) < pop(many)},
            "push {:.0f} to {:.0f} ns, pop {:.0f} to {:.0f} ns",
            {push(few), push(many), pop(few), pop(many)}}}};
}

std::vector<claim> claims() {
  const auto of = [](const char* column) { return measured(lockfree, most, column); };
  return {ratio("published: bd is faster than bc, 72 ranks", locked, central, 1),
          ratio("published: nd is much faster than bd, 72 ranks; aim: 3 times", lockfree, locked, 3),
          growth("published: bc falls with the number of ranks", central, 2, true),
          growth("published: bd falls with the number of ranks", locked, 2, true),
          growth("published: nd falls with the number of ranks", lockfree, 2, true),
          {rates,
           "nd: most of the time of both operations goes into the search of head and tail",
           {{{of("find_tail_time") > of("push_time") / 2, of("find_head_time") > of("pop_time") / 2},
             "tail {:.0f} of {:.0f} ns, head {:.0f} of {:.0f} ns",
             {of("find_tail_time"), of("push_time"), of("find_head_time"), of("pop_time")}}}},
          slower("nd: both operations take longer on two nodes than on one", fewest, 2 * fewest),
          slower("nd: both operations take longer with more nodes, from two to six", 2 * fewest, most),
          {rates,
           "nd: with more ranks the search of the tail takes longer, from 12 to 72",
           {{{measured(lockfree, fewest, "find_tail_time") < of("find_tail_time")},
             "{:.0f} to {:.0f} ns",
             {measured(lockfree, fewest, "find_tail_time"), of("find_tail_time")}}}},
          ratio("aim: the faster queue is 5 times nd, 72 ranks", ticket, lockfree, 5),
          growth("aim: the faster queue does not fall from 12 to 72 ranks", ticket, fewest, false)};
}

}  // namespace
}  // namespace paznikov

paper paznikov2023() {
  using namespace paznikov;
  const std::vector<std::string> all{ticket, lockfree, locked, central};
  return {.name = "paznikov2023",
          .title = "A. Paznikov, A. Burachenko, D. Derzhavin, 2023: its analyses, in the simulated cluster",
          .analyses =
              {{rates, "Pushes and pops alike: throughput, and the phases of operations", "queue", all, {}},
               {"mostly-pops", "10 % pushes", "queue", all, {{"pushes", {"10"}}}},
               {"mostly-pushes", "90 % pushes", "queue", all, {{"pushes", {"90"}}}},
               {"producers", "Half of the ranks push, half pop", "queue", all, {{"producers", {"50"}}}}},
          .machine = "xeon-x5670-qdr",
          .ranks_per_node = 12,
          .most_ranks = most,
          .most_ranks_quick = 24,
          .ranks_text = "2 and more on one node, then several full nodes",
          .document = "docs/queues.md",
          .values = {{"duration", {"0.005"}}},
          .quick_values = {{"duration", {"0.0005"}}},
          .procedure = "10,000 operations of each process",
          .full_values = {{"operations", {"10000"}}},
          .shapes = by_nodes,
          .claims = claims};
}

}  // namespace nearfar::command
