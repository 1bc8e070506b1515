// error: constraints not satisfied.*far_element.*is_standard_layout_v<T>
#include "nearfar/memory/threads/world.hpp"

using nearfar::far;
using nearfar::threads::world;

struct first {
  far<std::uint64_t> word;
};
#ifndef WRONG
struct both {
  first base;
  far<std::uint64_t> other;
};
#else
struct both : first {
  far<std::uint64_t> other;
};
#endif

void use(world& w) { world::far_array<both> array(w, 3); }
