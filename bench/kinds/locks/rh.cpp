#include "bench/kinds/locks/lock_catalogue.hpp"
#include "nearfar/lock/rh_lock.hpp"

// docs/locks.md: `rh_lock` | a far atomic that frees the word of a node. The words of the other nodes lead a
// waiting rank to this node | comparison

namespace nearfar::bench {

void add_rh(catalogue& to) {
  to.add({.name = "rh",
          .summary = "a test-and-test-and-set word in each node, which tells where the lock has gone",
          .paper = "Radovic, Hagersten 2002; Uffmann 2022, 5.2",
          .fairness = "no bound",
          .cost = "2 in the node, if another had it 1 at each on the way there more; 1 for each attempt + 1",
          .parameters = {"local_backoff_min_ns", "local_backoff_max_ns", "fairness_factor"}},
         []<world W>(W& w, int home, const lock_parameters& parameters) {
           return make_any_lock<rh_lock<W>>(w, home,
                                            rh_parameters{.fairness_factor = parameters.fairness_factor,
                                                          .local_pause = parameters.local_pause});
         });
}

}  // namespace nearfar::bench
