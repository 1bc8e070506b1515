#include "bench/object.hpp"

#include <algorithm>

namespace nearfar::bench {

bool object::exists_in(world_kind world) const {
  return std::find(worlds.begin(), worlds.end(), world) != worlds.end();
}

bool object::takes(std::string_view parameter) const {
  return std::find(parameters.begin(), parameters.end(), parameter) != parameters.end();
}

const object* object_kind::find(std::string_view named) const {
  const auto found =
      std::find_if(objects.begin(), objects.end(), [&](const object& each) { return each.name == named; });
  return found == objects.end() ? nullptr : &*found;
}

std::vector<std::string> object_kind::names() const {
  std::vector<std::string> result;
  for (const object& each : objects) result.push_back(each.name);
  return result;
}

}  // namespace nearfar::bench
