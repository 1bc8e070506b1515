/// \file
/// The functions of POSIX threads that replace a program's when libnearfar_pthread.so is preloaded.
/// docs/dropin.md says what they serve and what they leave to the C library.
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <ctime>

#include "c_library.hpp"
#include "choice.hpp"
#include "condition.hpp"
#include "mutex.hpp"

#ifndef __GLIBC__
#error "mutexes are laid out as the GNU C library has them"
#endif

namespace {

using namespace nearfar::preload;

constexpr int type_bits = 3;
/// Robust, with a priority protocol, process-shared; and bits that these headers do not know.
constexpr int others = ~(type_bits | 256 | 512);

[[nodiscard]] bool is_ours(const pthread_mutex_t& mutex) noexcept {
  return (mutex.__data.__kind & others) == 0;
}
[[nodiscard]] int type_of(const pthread_mutex_t& mutex) noexcept { return mutex.__data.__kind & type_bits; }
[[nodiscard]] bool is_ours(const pthread_mutexattr_t* how, int& type) noexcept {
  type = PTHREAD_MUTEX_DEFAULT;
  if (how == nullptr) return true;
  int shared = PTHREAD_PROCESS_PRIVATE;
  int robust = PTHREAD_MUTEX_STALLED;
  int protocol = PTHREAD_PRIO_NONE;
  return pthread_mutexattr_gettype(how, &type) == 0 && pthread_mutexattr_getpshared(how, &shared) == 0 &&
         pthread_mutexattr_getrobust(how, &robust) == 0 &&
         pthread_mutexattr_getprotocol(how, &protocol) == 0 && shared == PTHREAD_PROCESS_PRIVATE &&
         robust == PTHREAD_MUTEX_STALLED && protocol == PTHREAD_PRIO_NONE;
}

[[nodiscard]] clockid_t clock_of(const pthread_cond_t& condition) noexcept {
  constexpr unsigned is_monotonic = 2;
  return (condition.__data.__wrefs & is_monotonic) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}
[[nodiscard]] bool is_known(clockid_t clock) noexcept {
  return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

/// Registered before all other handlers: so its lock is taken after they have run, and in the child it
/// repairs the state before they run. They may lock mutexes, and wait for threads that lock others.
void watch_forks() noexcept {
  static std::atomic<bool> watched{};
  if (watched.exchange(true, std::memory_order_acq_rel)) return;
  c_library().register_atfork(
      mutex_state::before_fork, mutex_state::in_parent,
      [] {
        forget_who_waits();
        mutex_state::in_child();
      },
      nullptr);
}

/// Runs before the program's own code, but after that of the libraries to which it is linked.
[[gnu::constructor]] void begin() {
  static_cast<void>(chosen());
  static_cast<void>(c_library());
  static_cast<void>(slot_world::locality());
  watch_forks();
}

}  // namespace

extern "C" {

// The C library's headers declare these as not throwing.
#define NEARFAR_EXPORT [[gnu::visibility("default")]]

NEARFAR_EXPORT int pthread_mutex_init(pthread_mutex_t* mutex, const pthread_mutexattr_t* how) noexcept {
  int type = 0;
  if (!is_ours(how, type)) return c_library().mutex_init(mutex, how);
  *mutex = PTHREAD_MUTEX_INITIALIZER;
  mutex->__data.__kind = type;
  return 0;
}

NEARFAR_EXPORT int pthread_mutex_destroy(pthread_mutex_t* mutex) noexcept {
  if (!is_ours(*mutex)) return c_library().mutex_destroy(mutex);
  const int status = mutex_state::forget(*mutex);
  if (status == 0) mutex->__data.__kind = -1;  // as the C library does: using it is EINVAL
  return status;
}

NEARFAR_EXPORT int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  return is_ours(*mutex) ? mutex_state::of(*mutex).lock(type_of(*mutex)) : c_library().mutex_lock(mutex);
}

NEARFAR_EXPORT int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  return is_ours(*mutex) ? mutex_state::of(*mutex).try_lock(type_of(*mutex))
                         : c_library().mutex_trylock(mutex);
}

NEARFAR_EXPORT int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* until) noexcept {
  return is_ours(*mutex) ? mutex_state::of(*mutex).lock_until(type_of(*mutex), CLOCK_REALTIME, *until)
                         : c_library().mutex_timedlock(mutex, until);
}

NEARFAR_EXPORT int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                           const timespec* until) noexcept {
  if (!is_ours(*mutex)) return c_library().mutex_clocklock(mutex, clock, until);
  if (!is_known(clock)) return EINVAL;
  return mutex_state::of(*mutex).lock_until(type_of(*mutex), clock, *until);
}

NEARFAR_EXPORT int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  return is_ours(*mutex) ? mutex_state::of(*mutex).unlock(type_of(*mutex)) : c_library().mutex_unlock(mutex);
}

NEARFAR_EXPORT int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  return is_ours(*mutex) ? wait(*condition, *mutex, CLOCK_REALTIME, nullptr)
                         : c_library().cond_wait(condition, mutex);
}

NEARFAR_EXPORT int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                          const timespec* until) {
  return is_ours(*mutex) ? wait(*condition, *mutex, clock_of(*condition), until)
                         : c_library().cond_timedwait(condition, mutex, until);
}

NEARFAR_EXPORT int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                          const timespec* until) {
  if (!is_ours(*mutex)) return c_library().cond_clockwait(condition, mutex, clock, until);
  return is_known(clock) ? wait(*condition, *mutex, clock, until) : EINVAL;
}

// Threads that wait with a mutex of the C library wait there.

NEARFAR_EXPORT int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  return signal_one(*condition) ? 0 : c_library().cond_signal(condition);
}

NEARFAR_EXPORT int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  signal_all(*condition);
  return c_library().cond_broadcast(condition);
}

// Old names, which libraries built long ago use.
// NOLINTBEGIN(bugprone-reserved-identifier)
NEARFAR_EXPORT int __pthread_mutex_init(pthread_mutex_t* mutex, const pthread_mutexattr_t* how) {
  return pthread_mutex_init(mutex, how);
}
NEARFAR_EXPORT int __pthread_mutex_destroy(pthread_mutex_t* mutex) { return pthread_mutex_destroy(mutex); }
NEARFAR_EXPORT int __pthread_mutex_lock(pthread_mutex_t* mutex) { return pthread_mutex_lock(mutex); }
NEARFAR_EXPORT int __pthread_mutex_trylock(pthread_mutex_t* mutex) { return pthread_mutex_trylock(mutex); }
NEARFAR_EXPORT int __pthread_mutex_unlock(pthread_mutex_t* mutex) { return pthread_mutex_unlock(mutex); }
// Called by the pthread_atfork() of each library.
NEARFAR_EXPORT int __register_atfork(void (*prepare)(), void (*parent)(), void (*child)(), void* library) {
  watch_forks();
  return c_library().register_atfork(prepare, parent, child, library);
}
// NOLINTEND(bugprone-reserved-identifier)
}
