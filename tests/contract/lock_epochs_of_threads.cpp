// error: constraints not satisfied.*has_lock_epochs.*lock_epoch
#include "nearfar/lock/mpi_win_lock.hpp"
#include "nearfar/lock/tas_lock.hpp"
#include "nearfar/memory/threads/world.hpp"

#ifndef WRONG
using lock = nearfar::tas_lock<nearfar::threads::world>;
#else
using lock = nearfar::mpi_win_lock<nearfar::threads::world>;
#endif

void use(lock& held) { held.unlock(); }
