// error: use of deleted function 'nearfar::mcs_lock<nearfar::threads::world>::mcs_lock\(const nearfar::mcs_lock
#include "nearfar/lock/mcs_lock.hpp"
#include "nearfar/memory/threads/world.hpp"

void use(nearfar::mcs_lock<nearfar::threads::world>& lock) {
#ifndef WRONG
  auto& other = lock;
#else
  auto other = lock;
#endif
  other.lock();
}
