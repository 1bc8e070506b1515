// error: use of deleted function 'void nearfar::threads::far_array<World, T>::fetch_add\(
#include "nearfar/memory/threads/world.hpp"

using nearfar::far;
using nearfar::threads::world;

struct alignas(nearfar::slot_bytes) words {
  far<std::uint64_t> word;
};

void use(world::far_segment<words>& segment, const std::uint64_t& one, std::uint64_t& result) {
#ifndef WRONG
  segment.fetch_add(0, &words::word, one, result);
#else
  segment.fetch_add(0, &words::word, std::uint64_t{1}, result);
#endif
  segment.flush(0);
  result += one;
}
