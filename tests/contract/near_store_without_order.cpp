// error: no matching function for call to 'nearfar::atomic_cell<long unsigned int>::store\(int\)'
#include "nearfar/memory/threads/world.hpp"

void use(nearfar::threads::world::near<std::uint64_t>& cell) {
#ifndef WRONG
  cell.store(1, std::memory_order_release);
#else
  cell.store(1);
#endif
}
