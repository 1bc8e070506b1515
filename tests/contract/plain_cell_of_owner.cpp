// error: constraint.*plain_cell.*is_trivially_copyable_v<T>
#include <memory>

#include "nearfar/memory/threads/world.hpp"

using nearfar::threads::world;

struct cells {
#ifndef WRONG
  world::plain<int*> value;
#else
  world::plain<std::unique_ptr<int>> value;
#endif
};
