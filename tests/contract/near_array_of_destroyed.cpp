// error: constraints not satisfied.*near_element.*is_trivially_destructible_v<T>
#include "nearfar/memory/threads/world.hpp"

using nearfar::threads::world;

struct elements {
  world::near<std::uint64_t> cell;
#ifdef WRONG
  ~elements() { cell.store(0, std::memory_order_relaxed); }
#endif
};

void use(world& w) { world::near_array<elements> array(w, 3); }
