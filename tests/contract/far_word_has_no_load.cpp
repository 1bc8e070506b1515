// error: 'struct nearfar::far<long unsigned int>' has no member named 'load'
#include "nearfar/memory/threads/world.hpp"

using nearfar::far;
using nearfar::threads::world;

struct alignas(nearfar::slot_bytes) words {
  far<std::uint64_t> word;
};

void use(world::far_segment<words>& segment, const std::uint64_t& one, std::uint64_t& result) {
#ifndef WRONG
  result = segment.read_direct(0, &words::word);
#else
  words own;
  result = own.word.load(std::memory_order_acquire);
#endif
  segment.flush(0);
  result += one;
}
