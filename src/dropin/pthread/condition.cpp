#include "condition.hpp"

#include <pthread.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <ctime>

#include "c_library.hpp"
#include "nearfar/memory/atomic_cell.hpp"
#include "nearfar/memory/plain_cell.hpp"
#include "waiting_line.hpp"

namespace nearfar::preload {

namespace {

/// Mutexes and condition variables of the C library, for the waiting lines.
struct c_library_line {
  template <typename T>
  using cell = atomic_cell<T>;
  template <typename T>
  using plain = plain_cell<T>;
  using mutex = pthread_mutex_t;
  /// On the waiting thread's own stack.
  struct condition {
    pthread_cond_t of = PTHREAD_COND_INITIALIZER;
  };
  struct deadline {
    clockid_t clock;
    const timespec* until;  ///< null: for ever
  };

  [[nodiscard]] static constexpr mutex unlocked() noexcept { return PTHREAD_MUTEX_INITIALIZER; }
  static void make(mutex& of) noexcept { of = unlocked(); }
  static void lock(mutex& of) noexcept { c_library().mutex_lock(&of); }
  static void unlock(mutex& of) noexcept { c_library().mutex_unlock(&of); }
  static void signal(condition& of) noexcept { c_library().cond_signal(&of.of); }
  /// A cancellation point.
  [[nodiscard]] static int wait(condition& on, mutex& held, const deadline& until) {
    return until.until == nullptr ? c_library().cond_wait(&on.of, &held)
                                  : c_library().cond_clockwait(&on.of, &held, until.clock, until.until);
  }
};

/// The program's mutex.
struct mutex_of_program {
  pthread_mutex_t* of;

  [[nodiscard]] int unlock() const noexcept { return pthread_mutex_unlock(of); }
  void lock() const noexcept { static_cast<void>(pthread_mutex_lock(of)); }
};

struct alignas(64) line : waiting_line<c_library_line> {};

constinit std::array<line, 256> lines{};

[[nodiscard]] line& line_of(const pthread_cond_t* condition) noexcept {
  const auto key = reinterpret_cast<std::uintptr_t>(condition) * std::uintptr_t{0x9e37'79b9'7f4a'7c15U};
  return lines[key >> 56U];
}

}  // namespace

int wait(pthread_cond_t& condition, pthread_mutex_t& mutex, clockid_t clock, const timespec* until) {
  if (until != nullptr && (until->tv_nsec < 0 || until->tv_nsec >= 1'000'000'000)) return EINVAL;
  waiter<c_library_line> one;
  mutex_of_program user{&mutex};
  waiting_in_line waits(line_of(&condition), one, &condition, user);
  return waits.wait({.clock = clock, .until = until});
}

bool signal_one(pthread_cond_t& condition) noexcept {
  return tell_of_signal(line_of(&condition), &condition, 1) != 0;
}

void signal_all(pthread_cond_t& condition) noexcept { tell_of_signal(line_of(&condition), &condition, ~0U); }

void forget_who_waits() noexcept {
  for (line& at : lines) at.forget_all();
}

}  // namespace nearfar::preload
