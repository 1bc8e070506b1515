// error: use of deleted function 'void nearfar::threads::far_array<World, T>::accumulate\(
#include "nearfar/memory/threads/world.hpp"

using nearfar::far;
using nearfar::threads::world;

struct alignas(nearfar::slot_bytes) words {
  far<std::uint64_t> word;
};

void use(world::far_segment<words>& segment, const std::uint64_t& one, std::uint64_t& result) {
#ifndef WRONG
  segment.accumulate(0, &words::word, one, nearfar::far_op::sum);
#else
  segment.accumulate(0, &words::word, one + 1, nearfar::far_op::sum);
#endif
  segment.flush(0);
  result += one;
}
