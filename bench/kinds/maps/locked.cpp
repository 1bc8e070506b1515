#include "bench/kinds/maps/map_catalogue.hpp"
#include "nearfar/lock/cohort_rw_lock.hpp"
#include "nearfar/lock/rma_rw_lock.hpp"
#include "nearfar/lock/rw_spin_lock.hpp"

namespace nearfar::bench {

namespace {

template <typename Concurrency>
void add(map_catalogue& to, const char* name, const char* summary, const char* fairness) {
  to.add(
      {.name = name,
       .summary = summary,
       .paper = "Schmid, Besta, Hoefler 2016",
       .fairness = fairness,
       .bypass = {},
       .cost = "2 + the lock's; 3 + the lock's",
       .parameters = {}},
      []<world W>(W& w, int /*home*/, const map_parameters& of) { return make_any_map<Concurrency>(w, of); });
}

}  // namespace

void add_map_locked(map_catalogue& to) {
  add<lock_per_volume<cohort_rw_lock>>(to, "map.cohort_rw", "a cohort_rw_lock for each rank's volume",
                                       "that lock's");
  add<lock_per_volume<rma_rw_lock>>(to, "map.rma_rw", "an rma_rw_lock for each rank's volume, as published",
                                    "that lock's");
  add<lock_per_volume<rw_spin_lock>>(to, "map.rw_spin", "an rw_spin_lock for each rank's volume", "none");
  add<lock_per_bucket>(to, "map.bucket", "a word for each bucket, taken by test-and-set", "none");
}

}  // namespace nearfar::bench
