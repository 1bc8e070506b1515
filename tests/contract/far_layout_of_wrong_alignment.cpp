// error: constraints not satisfied.*far_layout.*alignof__ .T. >= nearfar::slot_bytes.*evaluated to 'false'
#include "nearfar/memory/threads/world.hpp"

#ifndef WRONG
struct alignas(nearfar::slot_bytes) words {
#else
struct alignas(16) words {
#endif
  nearfar::far<std::uint64_t> word[8];
};

void use(nearfar::threads::world& w) { nearfar::threads::world::far_segment<words> segment(w); }
