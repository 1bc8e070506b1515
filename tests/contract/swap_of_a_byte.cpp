// error: no matching function for call to .*::swap\(.*far_byte
#include "nearfar/memory/threads/world.hpp"

using nearfar::far_byte;
using nearfar::threads::world;

struct alignas(nearfar::slot_bytes) bytes {
  far_byte byte;
};

void use(world::far_segment<bytes>& segment, const std::uint8_t& origin, std::uint8_t& result) {
#ifndef WRONG
  segment.put(0, &bytes::byte, origin);
  result = segment.read_direct(0, &bytes::byte);
#else
  segment.swap(0, &bytes::byte, origin, result);
#endif
  segment.flush(0);
}
