#include <string>

#include "bench/kinds/locks/lock_catalogue.hpp"
#include "nearfar/lock/hclh_lock.hpp"

// docs/locks.md: `hclh_lock` | as `clh_lock` for each batch of a node's ranks; a store within the batch |
// comparison

namespace nearfar::bench {

namespace {

template <clh_waiting Where>
void add_place(catalogue& to, const std::string& name, const std::string& summary, const std::string& cost) {
  to.add({.name = name,
          .summary = summary,
          .paper = "Luchangco, Nussbaum, Shavit 2006",
          .fairness = "between batches, in which each rank of a node is once, FIFO once the first of a batch "
                      "has appended it",
          .cost = cost,
          .parameters = {},
          .can_try = false,
          .alike = alike_ranks::of_a_node},
         []<world W>(W& w, int home, const lock_parameters&) {
           return make_any_lock<hclh_lock<W, Where>>(w, home);
         });
}

}  // namespace

void add_hclh(catalogue& to) {
  add_place<clh_waiting::at_predecessor>(
      to, "hclh", "CLH whose ranks of one node queue together",
      "1 at home + 1 at another rank; that, and a get for each look, for each batch");
  add_place<clh_waiting::at_home>(to, "hclh.craig", "the same, waiting at a word of the rank's own",
                                  "1 at home + 1 at another rank + 2 in the node; 1 more for each batch");
}

}  // namespace nearfar::bench
