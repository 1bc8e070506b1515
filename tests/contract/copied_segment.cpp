// error: use of deleted function 'nearfar::threads::far_segment<[^>]*>::far_segment\(const
#include "nearfar/memory/threads/world.hpp"

using nearfar::far;
using nearfar::threads::world;

struct alignas(nearfar::slot_bytes) words {
  far<std::uint64_t> word;
};

void use(world::far_segment<words>& segment, const std::uint64_t& one, std::uint64_t& result) {
#ifndef WRONG
  auto& same = segment;
  same.flush(1);
#else
  auto copy = segment;
  copy.flush(1);
#endif
  segment.flush(0);
  result += one;
}
