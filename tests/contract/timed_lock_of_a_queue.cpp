// error: no matching function for call to 'nearfar::dash_lock<nearfar::threads::world>::try_lock_for\(
#include <chrono>

#include "nearfar/lock/dash_lock.hpp"
#include "nearfar/lock/tas_lock.hpp"
#include "nearfar/memory/threads/world.hpp"

#ifndef WRONG
using lock = nearfar::tas_lock<nearfar::threads::world>;
#else
using lock = nearfar::dash_lock<nearfar::threads::world>;
#endif

bool use(lock& wanted) { return wanted.try_lock_for(std::chrono::nanoseconds(1)); }
