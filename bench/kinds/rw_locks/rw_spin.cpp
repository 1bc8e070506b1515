#include "bench/kinds/rw_locks/rw_catalogue.hpp"
#include "nearfar/lock/rw_spin_lock.hpp"

namespace nearfar::bench {

void add_rw_spin(rw_catalogue& to) {
  to.add({.name = "rw_spin",
          .summary = "one word at home that counts readers and shows a writer: the flat rival",
          .paper = "Mellor-Crummey, Scott 1991",
          .fairness = "none",
          .bypass = {},
          .cost = "2 at home; 4 at home",
          .parameters = {"backoff_min_ns", "backoff_max_ns"},
          .alike = alike_ranks::of_a_node},
         []<world W>(W& w, int home, const rw_lock_parameters& of) {
           return make_any_rw_lock<rw_spin_lock<W>>(w, home, of.pause);
         });
}

}  // namespace nearfar::bench
