// error: constraints not satisfied.*cohort_local.*status
#include "nearfar/lock/cohort_lock.hpp"
#include "nearfar/lock/tas_lock.hpp"
#include "nearfar/memory/threads/world.hpp"

using nearfar::threads::world;

#ifndef WRONG
using below = nearfar::mcs_lock<world>;
#else
using below = nearfar::tas_lock<world>;
#endif

void use(nearfar::cohort_lock<nearfar::tas_lock<world>, below>& held) { held.unlock(); }
