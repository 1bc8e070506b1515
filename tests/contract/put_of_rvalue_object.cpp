// error: use of deleted function 'void nearfar::threads::far_array<World, T>::put\(.*far_object
#include "nearfar/memory/threads/world.hpp"

using nearfar::far_object;
using nearfar::threads::world;

struct pair {
  std::uint64_t first;
  std::uint64_t second;
};
struct elements {
  far_object<pair> both;
};

void use(world::far_array<elements>& array, const pair& origin) {
#ifndef WRONG
  array.put({0, 1}, &elements::both, origin);
#else
  array.put({0, 1}, &elements::both, pair{1, 2});
#endif
  array.flush(0);
}
