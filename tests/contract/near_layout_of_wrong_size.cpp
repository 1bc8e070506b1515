// error: constraints not satisfied.*near_layout.*sizeof .T.*cache_line.*evaluated to 'false'
#include "nearfar/memory/threads/world.hpp"

#ifndef WRONG
struct alignas(nearfar::cache_line) cells {
#else
struct cells {
#endif
  nearfar::threads::world::near<std::uint64_t> cell;
};

void use(nearfar::threads::world& w) { nearfar::threads::world::near_segment<cells> segment(w); }
