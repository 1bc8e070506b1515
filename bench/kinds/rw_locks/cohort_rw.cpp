#include <string>

#include "bench/kinds/rw_locks/rw_catalogue.hpp"
#include "nearfar/lock/cohort_rw_lock.hpp"
#include "nearfar/lock/late_rw_lock.hpp"

namespace nearfar::bench {

namespace {

void add(rw_catalogue& to, const char* name, const char* summary, rw_preference prefers,
         const char* fairness) {
  const bool is_fair = prefers == rw_preference::fair;
  to.add({.name = name,
          .summary = summary,
          .paper = "Calciu, Dice, Lev, Luchangco, Marathe, Shavit 2013; Uffmann 2022, 6",
          .fairness = fairness,
          .bypass = {.bounds_writers_past_reader = is_fair, .bounds_readers_past_writer = is_fair},
          .cost = "none; 2 at home + 3 at each node",
          .parameters = {"max_local_passes", "max_writer_passes", "max_readers"}},
         [prefers]<world W>(W& w, int home, const rw_lock_parameters& of) {
           cohort_rw_parameters all{.max_local_passes = of.max_local_passes, .turns = of.turns};
           all.prefers = prefers;
           return make_any_rw_lock<cohort_rw_lock<W>>(w, home, all);
         });
}

}  // namespace

void add_cohort_rw(rw_catalogue& to) {
  add(to, "cohort_rw", "writers in a cohort lock, readers by flags on their own node", rw_preference::fair,
      "readers and writers in turns, as the thresholds say");
  add(to, "cohort_rw.writers", "the same, and no reader while a writer waits", rw_preference::writers,
      "writers as cohort; readers may starve");
  add(to, "cohort_rw.readers", "the same, and no writer while a reader is in", rw_preference::readers,
      "writers may starve");
  to.add({.name = "cohort_rw.late",
          .summary = "cohort until the first reader comes, then cohort_rw",
          .paper = "Dice, Kogan 2019, the other way round",
          .fairness = "as cohort, then as cohort_rw",
          .cost = "none; as cohort, later 2 at home + 3 at each node",
          .parameters = {"max_local_passes", "max_writer_passes", "max_readers"}},
         []<world W>(W& w, int home, const rw_lock_parameters& of) {
           return make_any_rw_lock<default_late_rw_lock<W>>(
               w, home, cohort_rw_parameters{.max_local_passes = of.max_local_passes, .turns = of.turns});
         });
}

}  // namespace nearfar::bench
