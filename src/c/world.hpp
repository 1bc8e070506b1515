/// \file
/// The world behind its handle, and what is in it.
#pragma once

#include <cstdint>

#include "nearfar.h"
#include "nearfar/core/agreement.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/memory/mpi/world.hpp"
#include "src/c/call.hpp"

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

/// What a rank does that cannot take part in what the others make: they get MISMATCH instead of waiting for
/// it. Collective with any creation.
inline void make_nothing(nearfar_world& w) {
  try {
    expect_alike(w.of, "nothing, because of an argument that cannot be, of which its error says more", {});
  } catch (const collective_mismatch&) {
    // Which is what the others are to get: this rank has an error of its own.
  }
}

/// Stores what `make(world)` returns, a handle, where `place` points.
template <typename Handle, typename Make>
nearfar_status create(const char* function, nearfar_world* world, Handle** place, const char* name_of_place,
                      const Make& make) noexcept {
  if (place != nullptr) *place = nullptr;
  return with_mpi(function, world, [&](nearfar_world& w) {
    if (place == nullptr) {
      make_nothing(w);
      return fail_by_null(function, name_of_place);
    }
    *place = make(w);
    return NEARFAR_SUCCESS;
  });
}

}  // namespace nearfar::c
