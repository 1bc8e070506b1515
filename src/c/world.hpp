/// \file
/// The world behind its handle, and what is in it.
#pragma once

#include <cstdint>

#include "nearfar.h"
#include "nearfar/memory/mpi/world.hpp"

struct nearfar_world {
  nearfar_world(MPI_Comm comm, const nearfar::mpi::options& options) : of(comm, options) {}
  nearfar_world(const nearfar_world&) = delete;
  nearfar_world& operator=(const nearfar_world&) = delete;
  ~nearfar_world() noexcept(false) = default;

  nearfar::mpi::world of;
  std::int64_t objects = 0;  ///< of this rank, which must go before the world
};

namespace nearfar::c {

/// Counts what lives in a world: first member, or base, of each.
class resident {
 public:
  explicit resident(nearfar_world& w) : world_(&w) { ++w.objects; }
  resident(const resident&) = delete;
  resident& operator=(const resident&) = delete;
  ~resident() { --world_->objects; }

  [[nodiscard]] mpi::world& world() const noexcept { return world_->of; }

 private:
  nearfar_world* world_;
};

}  // namespace nearfar::c
