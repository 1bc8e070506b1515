#include "bench/kinds/rw_locks/rw_catalogue.hpp"
#include "nearfar/lock/fissile_lock.hpp"
#include "nearfar/lock/near_rw_lock.hpp"

namespace nearfar::bench {

void add_near_rw(rw_catalogue& to) {
  to.add({.name = "near_rw",
          .summary = "an mcs lock that every rank passes, and a count of readers, for ranks of one node",
          .paper = "Courtois, Heymans, Parnas 1971",
          .fairness = "first come, first served",
          .bypass = {.bounds_writers_past_reader = true, .bounds_readers_past_writer = true},
          .cost = "none; none (5 cache-line transfers; 3)",
          .parameters = {},
          .one_node_only = true,
          .alike = alike_ranks::of_the_world},
         []<world W>(W& w, int home, const rw_lock_parameters&) {
           return make_any_rw_lock<near_rw_lock<W>>(w, home);
         });
  to.add({.name = "near_rw.fissile",
          .summary = "the same with a fissile lock, in which a new rank may overtake waiting ranks",
          .paper = "Courtois, Heymans, Parnas 1971; Dice, Kogan 2020",
          .fairness = "that of fissile",
          .bypass = {},
          .cost = "none; none (3 cache-line transfers; 1)",
          .parameters = {},
          .one_node_only = true,
          .alike = alike_ranks::of_the_world},
         []<world W>(W& w, int home, const rw_lock_parameters&) {
           return make_any_rw_lock<near_rw_lock<W, fissile_lock<W>>>(w, home);
         });
}

}  // namespace nearfar::bench
