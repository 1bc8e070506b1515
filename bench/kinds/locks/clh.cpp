#include <string>

#include "bench/kinds/locks/lock_catalogue.hpp"
#include "nearfar/lock/clh_lock.hpp"

// docs/locks.md: `clh_lock` (`clh`, `clh_craig`) | a far accumulate to a word that the successor polls;
// in Craig's form, the releasing rank also adds to a word of the successor | comparison

namespace nearfar::bench {

namespace {

template <clh_waiting Where>
void add(catalogue& to, const std::string& name, const std::string& summary, const std::string& cost) {
  to.add({.name = name,
          .summary = summary,
          .paper = "Craig 1993; Magnusson, Landin, Hagersten 1994; Uffmann 2022, 5.3",
          .fairness = "first come, first served",
          .bypass = checker::bypass_bound::fifo,
          .cost = cost,
          .parameters = {},
          .can_try = false,
          .alike = alike_ranks::of_a_node},
         []<world W>(W& w, int home, const lock_parameters&) {
           return make_any_lock<clh_lock<W, Where>>(w, home);
         });
}

}  // namespace

void add_clh(catalogue& to) {
  add<clh_waiting::at_predecessor>(to, "clh", "CLH over RMA: polls its predecessor's queue node",
                                   "1 at home + 3 at two ranks; 1 for each poll more");
  add<clh_waiting::at_predecessor_by_rma>(
      to, "clh.published", "polls by atomic fetches also within its node, as published (thesis, 5.3.3)",
      "1 at home + 3 at two ranks; 1 for each poll more");
  add<clh_waiting::at_home>(to, "clh_craig",
                            "CLH for machines without coherent caches: waits at a word of its own",
                            "1 at home + 3 at two ranks; 1 at the successor more");
}

}  // namespace nearfar::bench
