#include "bench/kinds/maps/map_catalogue.hpp"

namespace nearfar::bench {

void add_map_lock_free(map_catalogue& to) {
  to.add(
      {.name = "map",
       .summary = "chains changed by compare-and-swap, without locks",
       .paper = "after Schmid, Besta, Hoefler 2016",
       .fairness = "lock-free",
       .bypass = {},
       .cost = "2; 3",
       .parameters = {}},
      []<world W>(W& w, int /*home*/, const map_parameters& of) { return make_any_map<lock_free>(w, of); });
}

}  // namespace nearfar::bench
