// The timed loops of locks and maps in the engine, once for all of a kind.

#include "bench/kinds/locks/any_lock.hpp"
#include "bench/kinds/maps/any_map.hpp"
#include "bench/kinds/rw_locks/any_rw_lock.hpp"

namespace nearfar::bench {

lock_counts lock_loop_in_engine(engine::world& w, any_lock<engine::world>& lock,
                                exclusion_check<engine::world>& check, const lock_plan& plan) {
  return lock_loop(w, lock, check, plan, no_work());
}

rw_counts rw_loop_in_engine(engine::world& w, any_rw_lock<engine::world>& lock,
                            rw_check<engine::world>& check, const rw_plan& plan) {
  return rw_loop(w, lock, check, plan);
}

map_counts map_loop_in_engine(engine::world& w, any_map<engine::world>& map, const map_plan& plan) {
  return map_loop(w, map, plan);
}

}  // namespace nearfar::bench
