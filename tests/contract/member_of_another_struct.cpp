// error: no matching function for call to 'nearfar::threads::far_segment<nearfar::threads::world, words>::put\(int, nearfar::far<long unsigned int> use\(
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
  struct alignas(nearfar::slot_bytes) other {
    far<std::uint64_t> word;
  };
  segment.put(0, &other::word, one);
#endif
  segment.flush(0);
  result += one;
}
