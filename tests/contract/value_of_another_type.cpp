// error: deduced conflicting types for parameter 'V'
#include "nearfar/memory/threads/world.hpp"

using nearfar::far;
using nearfar::threads::world;

struct alignas(nearfar::slot_bytes) words {
  far<std::uint64_t> word;
};

void use(world::far_segment<words>& segment, const std::uint64_t& one, std::uint64_t& result) {
#ifndef WRONG
  segment.put(0, &words::word, one);
#else
  const std::int64_t minus_one = -1;
  segment.put(0, &words::word, minus_one);
#endif
  segment.flush(0);
  result += one;
}
