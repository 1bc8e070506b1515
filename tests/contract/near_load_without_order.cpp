// error: no matching function for call to 'nearfar::atomic_cell<long unsigned int>::load\(\)'
#include "nearfar/memory/threads/world.hpp"

std::uint64_t use(nearfar::threads::world::near<std::uint64_t>& cell) {
#ifndef WRONG
  return cell.load(std::memory_order_acquire);
#else
  return cell.load();
#endif
}
