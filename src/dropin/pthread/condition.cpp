#include "condition.hpp"

#include <pthread.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <ctime>

#include "c_library.hpp"

namespace nearfar::preload {

namespace {

struct waiter {
  const pthread_cond_t* condition;
  waiter* next = nullptr;
  bool told = false;
  pthread_cond_t own = PTHREAD_COND_INITIALIZER;
};

/// The waiting threads of several condition variables, guarded by the C library's own mutex.
struct alignas(64) line {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  waiter* first = nullptr;
  /// Changed with the mutex held. A thread that signals while it holds the waiting threads' mutex, or after
  /// that, sees that they wait.
  std::atomic<unsigned> length{};

  void lock() noexcept { c_library().mutex_lock(&mutex); }
  void unlock() noexcept { c_library().mutex_unlock(&mutex); }

  void append(waiter& one) noexcept {
    waiter** at = &first;
    while (*at != nullptr) at = &(*at)->next;
    *at = &one;
    length.store(length.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void remove(waiter** at) noexcept {
    *at = (*at)->next;
    length.store(length.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  }
  void remove(const waiter& one) noexcept {
    waiter** at = &first;
    while (*at != &one) at = &(*at)->next;
    remove(at);
  }
  /// Tells at most so many waiting threads of one variable. Returns how many it told.
  unsigned tell(const pthread_cond_t* condition, unsigned most) noexcept {
    unsigned count = 0;
    for (waiter** at = &first; *at != nullptr && count < most;) {
      waiter& one = **at;
      if (one.condition != condition) {
        at = &one.next;
        continue;
      }
      remove(at);
      one.told = true;
      c_library().cond_signal(&one.own);
      ++count;
    }
    return count;
  }
};

constinit std::array<line, 256> lines{};

[[nodiscard]] line& line_of(const pthread_cond_t* condition) noexcept {
  const auto key = reinterpret_cast<std::uintptr_t>(condition) * std::uintptr_t{0x9e37'79b9'7f4a'7c15U};
  return lines[key >> 56U];
}

/// Spans a wait from start to end, whatever ends it. The line is locked meanwhile.
class waiting_in_line {
 public:
  waiting_in_line(line& at, waiter& one, pthread_mutex_t& mutex) noexcept
      : at_(&at), one_(&one), mutex_(&mutex) {
    at.lock();
    at.append(one);
    // Only now may another thread signal what this thread waits for.
    status_ = pthread_mutex_unlock(&mutex);  // NOLINT(cppcoreguidelines-prefer-member-initializer)
  }
  waiting_in_line(const waiting_in_line&) = delete;
  waiting_in_line& operator=(const waiting_in_line&) = delete;
  /// Also runs when the thread is cancelled, which unwinds it.
  ~waiting_in_line() {
    if (!one_->told) at_->remove(*one_);
    // A signal that this thread can no longer use goes to another.
    if (one_->told && !ended_) at_->tell(one_->condition, 1);
    at_->unlock();
    if (status_ == 0) static_cast<void>(pthread_mutex_lock(mutex_));
  }

  /// The result of unlocking the mutex.
  [[nodiscard]] int status() const noexcept { return status_; }
  void ended() noexcept { ended_ = true; }

 private:
  line* at_;
  waiter* one_;
  pthread_mutex_t* mutex_;
  int status_ = 0;
  bool ended_ = false;
};

}  // namespace

int wait(pthread_cond_t& condition, pthread_mutex_t& mutex, clockid_t clock, const timespec* until) {
  if (until != nullptr && (until->tv_nsec < 0 || until->tv_nsec >= 1'000'000'000)) return EINVAL;
  line& at = line_of(&condition);
  waiter one{.condition = &condition};
  waiting_in_line waits(at, one, mutex);
  int status = waits.status();
  while (status == 0 && !one.told)
    status = until == nullptr ? c_library().cond_wait(&one.own, &at.mutex)
                              : c_library().cond_clockwait(&one.own, &at.mutex, clock, until);
  waits.ended();
  return one.told ? 0 : status;
}

bool signal_one(pthread_cond_t& condition) noexcept {
  line& at = line_of(&condition);
  if (at.length.load(std::memory_order_relaxed) == 0) return false;
  at.lock();
  const unsigned told = at.tell(&condition, 1);
  at.unlock();
  return told != 0;
}

void signal_all(pthread_cond_t& condition) noexcept {
  line& at = line_of(&condition);
  if (at.length.load(std::memory_order_relaxed) == 0) return;
  at.lock();
  at.tell(&condition, ~0U);
  at.unlock();
}

void forget_who_waits() noexcept {
  for (line& at : lines) {
    at.mutex = PTHREAD_MUTEX_INITIALIZER;
    at.first = nullptr;
    at.length.store(0, std::memory_order_relaxed);
  }
}

}  // namespace nearfar::preload
