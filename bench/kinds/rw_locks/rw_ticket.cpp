#include "bench/kinds/rw_locks/rw_catalogue.hpp"
#include "nearfar/lock/rw_ticket_lock.hpp"

namespace nearfar::bench {

void add_rw_ticket(rw_catalogue& to) {
  const rw_bypass of_turns{.bounds_writers_past_reader = true, .bounds_readers_past_writer = true};
  to.add({.name = "rw_ticket",
          .summary = "counts of arrivals and of departures, in two words at home",
          .paper = "Mellor-Crummey, Scott 1991",
          .fairness = "first come, first served",
          .bypass = of_turns,
          .cost = "2 and 1 read at home; 2 and 1 read at home",
          .parameters = {},
          .can_try = false,
          .alike = alike_ranks::of_a_node},
         []<world W>(W& w, int home, const rw_lock_parameters&) {
           return make_any_rw_lock<rw_ticket_lock<W>>(w, home);
         });
  to.add({.name = "rw_ticket.cohort",
          .summary = "the same; the writers of a node queue in shared memory",
          .paper = "Mellor-Crummey, Scott 1991; Dice, Marathe, Shavit 2012",
          .fairness = "first come, first served; writers of a node up to max_local_passes + 1 together",
          .bypass = of_turns,
          .cost = "2 and 1 read at home; 2 and 1 read at home",
          .parameters = {"max_local_passes"},
          .can_try = false,
          .alike = alike_ranks::of_a_node},
         []<world W>(W& w, int home, const rw_lock_parameters& of) {
           // Without local passes each writer queues for itself.
           if (of.max_local_passes == 0) return make_any_rw_lock<rw_ticket_lock<W>>(w, home);
           return make_any_rw_lock<cohort_rw_ticket_lock<W>>(w, home, of.max_local_passes);
         });
}

}  // namespace nearfar::bench
