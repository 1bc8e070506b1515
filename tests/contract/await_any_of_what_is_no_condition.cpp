// error: no matching function for call to '.*await_any_until\(
#include <chrono>
#include <cstdint>

#include "nearfar/core/condition.hpp"
#include "nearfar/memory/threads/world.hpp"

using nearfar::threads::world;

bool use(world& w, const world::near<std::uint64_t>& cell) {
  const auto is_set = [](std::uint64_t value) { return value != 0; };
#ifndef WRONG
  return w.await_any_until(w.now(), when(cell, is_set)).has_value();
#else
  return w.await_any_until(w.now(), cell).has_value() && is_set(1);
#endif
}
