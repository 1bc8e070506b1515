/// \file
/// The world behind its handle, and the objects in it.
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
  std::int64_t objects = 0;  ///< of this rank; they must be destroyed before the world
};

namespace nearfar::c {

/// Counts an object that lives in a world. The first member, or base, of each such class.
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

/// Called by a rank that cannot take part in a creation. The other ranks get MISMATCH instead of waiting for
/// this one. Collective with any creation.
inline void make_nothing(nearfar_world& w) {
  try {
    expect_alike(w.of, "nothing, because an argument is invalid; its own error says more", {});
  } catch (const collective_mismatch&) {
    // The other ranks are to get this exception; this rank has an error of its own.
  }
}

/// Stores the handle that `make(world)` returns where `place` points.
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
