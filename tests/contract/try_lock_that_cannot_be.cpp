// error: no matching function for call to 'nearfar::rma_mcs_lock<nearfar::threads::world>::try_lock\(\)'
#include "nearfar/lock/dash_lock.hpp"
#include "nearfar/lock/rma_mcs_lock.hpp"
#include "nearfar/memory/threads/world.hpp"

#ifndef WRONG
using lock = nearfar::dash_lock<nearfar::threads::world>;
#else
using lock = nearfar::rma_mcs_lock<nearfar::threads::world>;
#endif

bool use(lock& wanted) { return wanted.try_lock(); }
