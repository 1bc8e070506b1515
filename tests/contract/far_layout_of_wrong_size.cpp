// error: constraints not satisfied.*far_layout.*sizeof .T.*slot_bytes.*evaluated to 'false'
#include "nearfar/memory/threads/world.hpp"

#ifndef WRONG
struct alignas(nearfar::slot_bytes) words {
#else
struct words {
#endif
  nearfar::far<std::uint64_t> first;
  nearfar::far<std::uint64_t> second;
};

void use(nearfar::threads::world& w) { nearfar::threads::world::far_segment<words> segment(w); }
