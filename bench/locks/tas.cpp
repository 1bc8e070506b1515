#include "bench/catalogue.hpp"
#include "nearfar/lock/tas_lock.hpp"

namespace nearfar::bench {

void add_tas(catalogue& to) {
  to.add({.name = "tas",
          .summary = "test-and-set over RMA with exponential backoff",
          .paper = "Anderson 1990; Uffmann 2022, 5.4.3",
          .fairness = "no bound",
          .cost = "2 at home; 1 at home for each attempt + 1",
          .parameters = {"backoff_min_ns", "backoff_max_ns"}},
         []<world W>(W& w, int home, const lock_parameters& parameters) {
           return make_any_lock<tas_lock<W>>(w, home, parameters.pause);
         });
}

}  // namespace nearfar::bench
