// Distributed maps, and as a kind of objects.

#include "bench/kinds/maps/map_catalogue.hpp"

#include "bench/object.hpp"

namespace nearfar::bench {

const map_catalogue& map_catalogue::instance() {
  static const map_catalogue all;
  return all;
}

map_catalogue::map_catalogue() {
  add_map_lock_free(*this);
  add_map_locked(*this);
}

namespace {

object_kind make_maps() {
  object_kind result{.name = "map",
                     .plural = "maps",
                     .title = "map",
                     .introduction =
                         "Distributed maps. Concurrent operations are lock-free, or excluded by a lock for "
                         "each rank's volume or each bucket.",
                     .remarks =
                         "Far operations: those of a find; those of an insert into an empty bucket. The "
                         "lock's own are extra.",
                     .parameters = {},
                     .refuse = [](const point&) { return std::string(); },
                     .objects = {}};
  for (const map_entry& each : map_catalogue::instance().entries()) result.objects.push_back(each.listed());
  return result;
}

}  // namespace

const object_kind& maps() {
  static const object_kind all = make_maps();
  return all;
}

}  // namespace nearfar::bench
