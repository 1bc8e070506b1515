// error: has no member named 'put'
#include "nearfar/memory/threads/world.hpp"

using nearfar::threads::world;

struct alignas(nearfar::cache_line) cells {
  world::near<std::uint64_t> cell;
};

void use(world::near_segment<cells>& segment, const std::uint64_t& one) {
#ifndef WRONG
  segment.at(0).cell.store(one, std::memory_order_release);
#else
  segment.put(0, &cells::cell, one);
#endif
}
