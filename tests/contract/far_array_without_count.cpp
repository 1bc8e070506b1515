// error: no matching function for call to 'nearfar::threads::far_array<[^']*::far_array\(nearfar::threads::world&\)'
#include "nearfar/memory/threads/world.hpp"

using nearfar::threads::world;

struct elements {
  nearfar::far<std::uint64_t> word;
};

void use(world& w) {
#ifndef WRONG
  world::far_array<elements> array(w, 1);
#else
  world::far_array<elements> array(w);
#endif
}
