/// \file
/// The near locks of which a preloaded mutex can be made, with the names that `nearfar list` shows.
#pragma once

#include <cstddef>
#include <span>

#include "slot_world.hpp"

namespace nearfar::preload {

/// A lock type, as functions on the memory of one slot's object.
struct algorithm {
  const char* name;
  std::size_t bytes;
  void (*make)(void* where, slot_world& w);
  void (*acquire)(void* lock);
  bool (*try_acquire)(void* lock);
  void (*release)(void* lock);
};

/// The first is the default.
[[nodiscard]] std::span<const algorithm> algorithms() noexcept;

}  // namespace nearfar::preload
