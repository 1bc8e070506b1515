#include <string>

#include "bench/catalogue.hpp"
#include "nearfar/lock/cohort_lock.hpp"
#include "nearfar/lock/d_mcs_lock.hpp"
#include "nearfar/lock/tas_lock.hpp"

namespace nearfar::bench {

namespace {

/// Type constructors, since a template over a world cannot be a template argument together with its policy.
template <dash_policy Policy>
struct dash_above {
  template <world W>
  using lock = dash_lock<W, Policy>;
};
struct d_mcs_above {
  template <world W>
  using lock = d_mcs_lock<W, d_mcs_policy{.queued = participant::node}>;
};
struct tas_above {
  template <world W>
  using lock = tas_lock<W>;
};

using direct_node = dash_above<dash_policy{.queued = participant::node}>;
using published_node = dash_above<dash_policy{.words = next_words::single, .queued = participant::node}>;
using rma_node = dash_above<dash_policy{.queued = participant::node, .shared_node = node_access::rma}>;

template <typename Above, cohort_policy Policy>
void add(catalogue& to, const std::string& name, const std::string& summary, const std::string& cost) {
  constexpr bool is_unfair = std::is_same_v<Above, tas_above>;
  constexpr bool is_unsound = std::is_same_v<Above, published_node>;
  to.add({.name = name,
          .summary = summary,
          .paper = "Dice, Marathe, Shavit 2012; Uffmann 2022, 5.4.1",
          .fairness = std::string("within a node first come, first served; between nodes ") +
                      (is_unfair ? "no bound" : "overtaken max_local_passes times at most"),
          .bypass = is_unfair ? checker::bypass_bound::none : checker::bypass_bound::local_passes,
          .cost = cost,
          .parameters = {"max_local_passes"},
          .unsound = is_unsound ? single_next_word : ""},
         []<world W>(W& w, int home, const lock_parameters& parameters) {
           return make_any_lock<cohort_lock<typename Above::template lock<W>, mcs_lock<W>, Policy>>(
               w, home, parameters.max_local_passes);
         });
}

constexpr cohort_policy strict(pass_counter counts) {
  return {.counts = counts, .limit = pass_limit::strict};
}

}  // namespace

void add_cohort(catalogue& to) {
  add<direct_node, cohort_policy{}>(to, "cohort",
                                    "dash between nodes, mcs within; keeps the lock while no node wants it",
                                    "2 at home; none within a node");
  add<direct_node, strict(pass_counter::inlined)>(
      to, "cohort.strict", "gives the lock up after max_local_passes even if no node wants it, as published",
      "2 at home; none within a node");
  add<published_node, strict(pass_counter::inlined)>(
      to, "cohort.published", "as cohort.strict, with the queue as published (optimisation 4)",
      "2 at home; none within a node");
  add<rma_node, strict(pass_counter::global)>(
      to, "cohort.global_counter", "baseline: passes counted at home, node's queue node reached by RMA",
      "3 at home + 2; 2 at home");
  add<rma_node, strict(pass_counter::local)>(to, "cohort.local_counter",
                                             "optimisation 1: passes counted at the node's leader, by RMA",
                                             "2 at home + 3; 2 in the node");
  add<rma_node, strict(pass_counter::direct)>(to, "cohort.direct_counter",
                                              "optimisation 2: passes counted in near memory",
                                              "2 at home + 2; none within a node");
  add<rma_node, strict(pass_counter::inlined)>(to, "cohort.inline_counter",
                                               "optimisation 3: passes counted in the local lock's hand-over",
                                               "2 at home + 2; none within a node");
  add<d_mcs_above, cohort_policy{}>(to, "cohort.d_mcs", "d_mcs between nodes, mcs within",
                                    "2 at home; none within a node");
  add<tas_above, cohort_policy{}>(to, "cohort.tas", "tas between nodes, mcs within",
                                  "2 at home; none within a node");
}

}  // namespace nearfar::bench
