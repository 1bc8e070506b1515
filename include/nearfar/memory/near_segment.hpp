/// \file
/// Near segment of the worlds that run on real hardware.
#pragma once

#include <cstddef>
#include <new>

#include "nearfar/core/checks.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/memory/slab.hpp"

namespace nearfar {

/// Elements of near cells, with the same number for each rank, in memory that the ranks of one node share.
/// Constructing it is collective and synchronises. Destroying it is collective in the sense that every rank
/// must do so before the next construction, but does not wait for other ranks: the memory stays valid as long
/// as the world.
template <typename World, near_element T>
class near_array {
 public:
  /// `count` > 0 elements for each rank, the same on every rank (`collective_mismatch` otherwise). Throws
  /// `out_of_memory` if the world does not have enough memory, `misuse` for 0.
  near_array(World& world, std::size_t count)
      : world_(&world),
        place_(count, sizeof(T), [&](std::size_t bytes) { return world.allocate_near(bytes); }) {
    for (std::size_t index = 0; index < count; ++index)
      ::new (world.near_memory(world.rank()) + place_.offset() + index * sizeof(T)) T;
    world.barrier();
  }
  near_array(const near_array&) = delete;
  near_array& operator=(const near_array&) = delete;
  ~near_array() = default;

  /// The number of elements of each rank.
  [[nodiscard]] std::size_t count() const noexcept { return place_.count(); }

  /// An element of a rank, which must be on this rank's node.
  [[nodiscard]] T& at(element where) const {
    if constexpr (checked_build) {
      place_.expect_world();
      where = checked_element(where, count());
    }
    return *std::launder(
        reinterpret_cast<T*>(world_->near_memory(where.rank) + place_.offset() + where.index * sizeof(T)));
  }

  /// This rank's element, for pools, which lend it.
  [[nodiscard]] std::byte* own_element(std::size_t index) const {
    return reinterpret_cast<std::byte*>(&at({world_->rank(), index}));
  }
  static constexpr std::size_t element_bytes = sizeof(T);
  /// Whether the world has ended, so that this may only be destroyed.
  [[nodiscard]] bool world_has_ended() const noexcept { return place_.world_has_ended(); }

 private:
  World* world_;
  array_place place_;
};

/// A near array with one element for each rank.
template <typename World, near_layout T>
class near_segment : public near_array<World, T> {
 public:
  explicit near_segment(World& world) : near_array<World, T>(world, 1) {}
};

}  // namespace nearfar
