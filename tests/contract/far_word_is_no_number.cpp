// error: no match for 'operator\+\+' \(operand type is 'nearfar::far<long unsigned int>'\)
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
  words own;
  ++own.word;
#endif
  segment.flush(0);
  result += one;
}
