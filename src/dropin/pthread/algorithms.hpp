/// \file
/// The near locks that a preloaded mutex can be made of, by the names that `nearfar list` gives them.
#pragma once

#include <cstddef>
#include <span>

#include "slot_world.hpp"

namespace nearfar::preload {

/// A lock type, as functions over the memory of one slot's object.
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
