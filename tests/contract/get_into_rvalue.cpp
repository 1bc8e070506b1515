// error: cannot bind non-const lvalue reference of type 'long unsigned int&' to an rvalue
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
  segment.get(0, &words::word, std::uint64_t{});
#endif
  segment.flush(0);
  result += one;
}
