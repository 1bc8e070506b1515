/// \file
/// Near segment of the worlds that run on real hardware.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

#include "nearfar/core/layout.hpp"

namespace nearfar {

/// A `T` of near cells for each rank, in memory that the ranks of one node share. Constructing it is
/// collective and synchronises; destroying it is collective in the sense that every rank must do so before
/// the next construction, but waits for nobody: the memory stays valid as long as the world.
template <typename World, near_layout T>
class near_segment {
 public:
  explicit near_segment(World& world) : world_(&world), offset_(world.allocate_near(sizeof(T))) {
    ::new (world.near_memory(world.rank()) + offset_) T;
    world.barrier();
  }
  near_segment(const near_segment&) = delete;
  near_segment& operator=(const near_segment&) = delete;
  ~near_segment() { world_->release_near(offset_, sizeof(T)); }

  /// The struct of `rank`, which must be on this rank's node.
  [[nodiscard]] T& at(int rank) const {
    return *std::launder(reinterpret_cast<T*>(world_->near_memory(rank) + offset_));
  }

 private:
  World* world_;
  std::size_t offset_;
};

}  // namespace nearfar
