// error: constraints not satisfied.*concept near_world
#include "nearfar/lock/tas_lock.hpp"
#include "nearfar/memory/threads/world.hpp"

/// A type with ranks, but without memory.
struct ranks_only {
  [[nodiscard]] int rank() const { return 0; }
  [[nodiscard]] int size() const { return 1; }
};

#ifndef WRONG
using lock = nearfar::tas_lock<nearfar::threads::world>;
#else
using lock = nearfar::tas_lock<ranks_only>;
#endif

void use(lock& held) { held.unlock(); }
