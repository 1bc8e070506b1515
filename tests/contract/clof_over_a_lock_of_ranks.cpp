// error: constraints not satisfied.*clof_local<Within>.*evaluated to .false
#include "nearfar/lock/biased_queue.hpp"
#include "nearfar/lock/clof_lock.hpp"
#include "nearfar/lock/near_ticket_lock.hpp"
#include "nearfar/memory/threads/world.hpp"

using nearfar::threads::world;

#ifndef WRONG
using within =
    nearfar::near_ticket_lock<world, nearfar::ticket_waiting::at_ticket, nearfar::ticket_memory::served>;
#else
using within = nearfar::near_ticket_lock<world>;
#endif

void use(nearfar::clof_lock<nearfar::biased_queue<world>, within, within>& held) { held.unlock(); }
