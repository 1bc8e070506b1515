// error: constraints not satisfied.*nested requirement '.G::queued == nearfar::participant::node.' is not satisfied
#include "nearfar/lock/clh_lock.hpp"
#include "nearfar/lock/cohort_lock.hpp"
#include "nearfar/lock/ticket_lock.hpp"
#include "nearfar/memory/threads/world.hpp"

using nearfar::threads::world;

#ifndef WRONG
using above = nearfar::ticket_lock<world>;
#else
using above = nearfar::clh_lock<world>;
#endif

void use(nearfar::cohort_lock<above, nearfar::mcs_lock<world>>& held) { held.unlock(); }
