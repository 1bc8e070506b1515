// error: no matching function for call to 'nearfar::threads::far_segment<[^']*::get\([^']*const uint64_t&\)'
#include "nearfar/memory/threads/world.hpp"

using nearfar::far;
using nearfar::threads::world;

struct alignas(nearfar::slot_bytes) words {
  far<std::uint64_t> word;
};

void use(world::far_segment<words>& segment, const std::uint64_t& one, std::uint64_t& result) {
#ifndef WRONG
  segment.get(0, &words::word, result);
#else
  segment.get(0, &words::word, one);
#endif
  segment.flush(0);
  result += one;
}
