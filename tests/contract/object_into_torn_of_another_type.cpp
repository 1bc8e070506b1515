// error: no matching function for call to 'nearfar::threads::far_array<[^']*::get\(
#include "nearfar/memory/threads/world.hpp"

using nearfar::threads::world;

struct pair {
  std::uint64_t first;
  std::uint64_t second;
};
struct elements {
  nearfar::far_object<pair> both;
};

void use(world::far_array<elements>& array) {
#ifndef WRONG
  world::maybe_torn<pair> result;
#else
  world::maybe_torn<std::uint64_t> result;
#endif
  array.get({0, 1}, &elements::both, result);
  array.flush(0);
}
