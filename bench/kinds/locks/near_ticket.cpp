#include <string>

#include "bench/kinds/locks/lock_catalogue.hpp"
#include "nearfar/lock/near_ticket_lock.hpp"

// docs/locks.md: `near_ticket_lock` (`near_ticket`, `twa`) | a store that all waiting ranks poll; with `twa`
// only the next rank polls this word, and a second store tells the rank after the next one to begin polling
// it | low contention

namespace nearfar::bench {

namespace {

template <ticket_waiting Where>
void add(catalogue& to, const std::string& name, const std::string& summary, const std::string& paper,
         const std::string& cost) {
  to.add({.name = name,
          .summary = summary,
          .paper = paper,
          .fairness = "first come, first served",
          .bypass = checker::bypass_bound::fifo,
          .cost = cost,
          .parameters = {},
          .one_node_only = true,
          .alike = Where == ticket_waiting::at_ticket ? alike_ranks::of_the_world : alike_ranks::none},
         []<world W>(W& w, int home, const lock_parameters&) {
           return make_any_lock<near_ticket_lock<W, Where>>(w, home);
         });
}

}  // namespace

void add_near_ticket(catalogue& to) {
  add<ticket_waiting::at_ticket>(to, "near_ticket", "ticket lock in near memory, for ranks of one node",
                                 "Mellor-Crummey, Scott 1991; Uffmann 2022, 5.4.1",
                                 "none; none (1 cache-line transfer for each rank that waits)");
  add<ticket_waiting::in_array>(to, "twa", "the same with a waiting array for all but the next",
                                "Dice, Kogan 2019", "none; none (2 cache-line transfers at each release)");
}

}  // namespace nearfar::bench
