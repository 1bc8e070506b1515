#include "algorithms.hpp"

#include <array>
#include <new>

#include "nearfar/lock/cst_lock.hpp"
#include "nearfar/lock/fissile_lock.hpp"
#include "nearfar/lock/hemlock.hpp"
#include "nearfar/lock/mcs_lock.hpp"
#include "nearfar/lock/near_ticket_lock.hpp"
#include "nearfar/lock/near_tts_lock.hpp"

namespace nearfar::preload {

namespace {

template <typename Lock>
constexpr algorithm of(const char* name) {
  static_assert(alignof(Lock) <= cache_line);
  return {.name = name,
          .bytes = sizeof(Lock),
          .make = [](void* where, slot_world& w) { ::new (where) Lock(w); },
          .acquire = [](void* lock) { static_cast<void>(static_cast<Lock*>(lock)->acquire()); },
          .try_acquire = [](void* lock) { return static_cast<Lock*>(lock)->try_acquire(); },
          .release = [](void* lock) { static_cast<Lock*>(lock)->release(); }};
}

using w = slot_world;

constexpr std::array all{
    of<fissile_lock<w>>("fissile"),
    of<mcs_lock<w>>("mcs"),
    of<near_ticket_lock<w>>("near_ticket"),
    of<near_tts_lock<w>>("near_tts"),
    of<near_tts_lock<w, near_tts_policy{.looks_first = false}>>("near_tas"),
    of<hemlock<w>>("hemlock"),
    of<parking_lock<w>>("near_cst"),
};

}  // namespace

std::span<const algorithm> algorithms() noexcept { return all; }

}  // namespace nearfar::preload
