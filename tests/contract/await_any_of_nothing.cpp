// error: static assertion failed: wait for one condition at least
#include "nearfar/memory/threads/world.hpp"

using nearfar::when;
using nearfar::threads::world;

std::uint64_t use(world& w, const world::near<std::uint64_t>& cell) {
#ifndef WRONG
  return w.await_any(when(cell, [](std::uint64_t value) { return value != 0; })).value;
#else
  static_cast<void>(cell);
  return w.await_any().value;
#endif
}
