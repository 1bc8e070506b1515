#include <chrono>
#include <cstdint>

#include "nearfar.h"
#include "nearfar/core/backoff.hpp"
#include "nearfar/lock/cohort_lock.hpp"
#include "nearfar/lock/cohort_rw_lock.hpp"
#include "nearfar/memory/mpi/world.hpp"
#include "src/c/call.hpp"
#include "src/c/world.hpp"

namespace {

using nearfar::c::destroy;
using nearfar::c::with_mpi;

/// A lock behind its handle.
template <typename Lock>
class owned : nearfar::c::resident, public Lock {
 public:
  owned(nearfar_world& w, int home) : resident(w), Lock(w.of, home) {}
  ~owned() noexcept(false) = default;

  /// Throws if this rank holds the lock.
  using Lock::expect_not_held;

  /// Polls `try_lock`, because an exclusive acquire of nearfar's default locks cannot leave the queue.
  nearfar_status acquire_for(std::int64_t timeout_ns) {
    const std::chrono::nanoseconds end =
        nearfar::later(world().now(), nearfar::c::checked_timeout(timeout_ns));
    do {
      if (this->try_lock()) return NEARFAR_SUCCESS;
    } while (world().now() < end);
    return NEARFAR_TIMED_OUT;
  }
};

nearfar_status taken(bool succeeded, nearfar_status otherwise = NEARFAR_BUSY) {
  return succeeded ? NEARFAR_SUCCESS : otherwise;
}

template <typename Handle>
nearfar_status create_lock(const char* function, nearfar_world* world, int home, Handle** lock) {
  return nearfar::c::create(function, world, lock, "the place for the lock",
                            [home](nearfar_world& w) { return new Handle(w, home); });
}

template <typename Handle>
nearfar_status destroy_lock(const char* function, Handle** lock) {
  return destroy(function, lock, [](const Handle& of) { of.expect_not_held(); });
}

template <typename Handle>
nearfar_status acquire(const char* function, Handle* lock) {
  return with_mpi(function, lock, [](Handle& of) {
    of.lock();
    return NEARFAR_SUCCESS;
  });
}

template <typename Handle>
nearfar_status try_acquire(const char* function, Handle* lock) {
  return with_mpi(function, lock, [](Handle& of) { return taken(of.try_lock()); });
}

template <typename Handle>
nearfar_status acquire_for(const char* function, Handle* lock, std::int64_t timeout_ns) {
  return with_mpi(function, lock, [&](Handle& of) { return of.acquire_for(timeout_ns); });
}

template <typename Handle>
nearfar_status release(const char* function, Handle* lock) {
  return with_mpi(function, lock, [](Handle& of) {
    of.unlock();
    return NEARFAR_SUCCESS;
  });
}

}  // namespace

struct nearfar_lock : owned<nearfar::default_cohort_lock<nearfar::mpi::world>> {
  using owned::owned;
};

struct nearfar_rwlock : owned<nearfar::cohort_rw_lock<nearfar::mpi::world>> {
  using owned::owned;
};

nearfar_status nearfar_lock_create(nearfar_world* world, int home, nearfar_lock** lock) {
  return create_lock(__func__, world, home, lock);
}
nearfar_status nearfar_lock_destroy(nearfar_lock** lock) { return destroy_lock(__func__, lock); }
nearfar_status nearfar_lock_acquire(nearfar_lock* lock) { return acquire(__func__, lock); }
nearfar_status nearfar_lock_try_acquire(nearfar_lock* lock) { return try_acquire(__func__, lock); }
nearfar_status nearfar_lock_acquire_for(nearfar_lock* lock, int64_t timeout_ns) {
  return acquire_for(__func__, lock, timeout_ns);
}
nearfar_status nearfar_lock_release(nearfar_lock* lock) { return release(__func__, lock); }

nearfar_status nearfar_rwlock_create(nearfar_world* world, int home, nearfar_rwlock** lock) {
  return create_lock(__func__, world, home, lock);
}
nearfar_status nearfar_rwlock_destroy(nearfar_rwlock** lock) { return destroy_lock(__func__, lock); }
nearfar_status nearfar_rwlock_acquire(nearfar_rwlock* lock) { return acquire(__func__, lock); }
nearfar_status nearfar_rwlock_try_acquire(nearfar_rwlock* lock) { return try_acquire(__func__, lock); }
nearfar_status nearfar_rwlock_acquire_for(nearfar_rwlock* lock, int64_t timeout_ns) {
  return acquire_for(__func__, lock, timeout_ns);
}
nearfar_status nearfar_rwlock_release(nearfar_rwlock* lock) { return release(__func__, lock); }

nearfar_status nearfar_rwlock_acquire_shared(nearfar_rwlock* lock) {
  return with_mpi(__func__, lock, [](nearfar_rwlock& of) {
    of.lock_shared();
    return NEARFAR_SUCCESS;
  });
}
nearfar_status nearfar_rwlock_try_acquire_shared(nearfar_rwlock* lock) {
  return with_mpi(__func__, lock, [](nearfar_rwlock& of) { return taken(of.try_lock_shared()); });
}
nearfar_status nearfar_rwlock_acquire_shared_for(nearfar_rwlock* lock, int64_t timeout_ns) {
  return with_mpi(__func__, lock, [&](nearfar_rwlock& of) {
    return taken(of.try_lock_shared_for(nearfar::c::checked_timeout(timeout_ns)), NEARFAR_TIMED_OUT);
  });
}
nearfar_status nearfar_rwlock_release_shared(nearfar_rwlock* lock) {
  return with_mpi(__func__, lock, [](nearfar_rwlock& of) {
    of.unlock_shared();
    return NEARFAR_SUCCESS;
  });
}
