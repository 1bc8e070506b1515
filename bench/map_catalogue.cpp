// Distributed maps, and as a kind of objects.

#include "bench/map_catalogue.hpp"

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
  object_kind result{
      .name = "map",
      .plural = "maps",
      .title = "map",
      .introduction =
          "Distributed maps, by how operations that meet are kept apart: not at all, by a lock for each "
          "rank's volume,\nor by one for each bucket.",
      .remarks = "Far operations: find; insert into an empty bucket. A lock's own come to each.",
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
