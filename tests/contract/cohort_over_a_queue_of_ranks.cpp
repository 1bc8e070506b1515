// error: constraints not satisfied.*nested requirement '.G::queued == nearfar::participant::node.' is not satisfied
#include "nearfar/lock/cohort_lock.hpp"
#include "nearfar/lock/dash_lock.hpp"
#include "nearfar/memory/threads/world.hpp"

using nearfar::threads::world;

#ifndef WRONG
using above = nearfar::dash_lock<world, nearfar::dash_policy{.queued = nearfar::participant::node}>;
#else
using above = nearfar::dash_lock<world>;
#endif

void use(nearfar::cohort_lock<above, nearfar::mcs_lock<world>>& held) { held.unlock(); }
