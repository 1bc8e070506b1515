// error: constraints not satisfied.*local.alone.*is invalid
#include "nearfar/lock/cohort_lock.hpp"
#include "nearfar/lock/dash_lock.hpp"
#include "nearfar/lock/near_tts_lock.hpp"
#include "nearfar/memory/threads/world.hpp"

using nearfar::threads::world;
using above = nearfar::dash_lock<world, nearfar::dash_policy{.queued = nearfar::participant::node}>;

#ifndef WRONG
using below = nearfar::near_tts_lock<world, nearfar::near_tts_policy{.known = nearfar::waiters_by::count}>;
#else
using below = nearfar::near_tts_lock<world>;
#endif

void use(nearfar::cohort_lock<above, below>& held) { held.unlock(); }
