// error: use of deleted function 'void nearfar::threads::far_array<World, T>::put\(.*far_byte
#include "nearfar/memory/threads/world.hpp"

using nearfar::far_byte;
using nearfar::threads::world;

struct alignas(nearfar::slot_bytes) bytes {
  far_byte byte;
};

void use(world::far_segment<bytes>& segment, const std::uint8_t& origin) {
#ifndef WRONG
  segment.put(0, &bytes::byte, origin);
#else
  segment.put(0, &bytes::byte, std::uint8_t{1});
#endif
  segment.flush(0);
}
