#include "bench/kinds/queues/queue_catalogue.hpp"
#include "nearfar/queue/linked_queue.hpp"

namespace nearfar::bench {

void add_linked_queues(queue_catalogue& to) {
  to.add({.name = "lockfree_queue",
          .summary = "a list in pools of all ranks, changed by compare-and-swap, ends announced to all",
          .paper = "Paznikov, Burachenko, Derzhavin 2023: nd",
          .fairness = "lock-free",
          .bypass = {},
          .cost = "5 + hops + ranks; 4 + hops + ranks",
          .parameters = {}},
         []<world W>(W& w, int /*home*/, const queue_parameters& of) {
           return make_any_queue<lockfree_queue<W, std::uint64_t>>(w, {.capacity = of.capacity});
         });
  to.add({.name = "locked_queue",
          .summary = "the same with a lock for each element",
          .paper = "Paznikov, Burachenko, Derzhavin 2023: bd",
          .fairness = "none",
          .bypass = {},
          .cost = "6 + hops + ranks, + the locks'",
          .parameters = {}},
         []<world W>(W& w, int /*home*/, const queue_parameters& of) {
           return make_any_queue<locked_queue<W, std::uint64_t>>(w, {.capacity = of.capacity});
         });
}

}  // namespace nearfar::bench
