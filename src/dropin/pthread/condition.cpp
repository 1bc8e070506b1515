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

/// Of several condition variables; by the C library's own mutex.
struct alignas(64) line {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  waiter* first = nullptr;
  /// Changed with the mutex held. Who signals while it holds the mutex of those that wait, or after that,
  /// sees that they do.
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
  /// Those of one variable, at most so many. Returns how many there were.
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

/// From the start of a wait to its end, whatever ends it: the line is locked in between.
class waiting_in_line {
 public:
  waiting_in_line(line& at, waiter& one, pthread_mutex_t& mutex) noexcept
      : at_(&at), one_(&one), mutex_(&mutex) {
    at.lock();
    at.append(one);
    // Only now may anybody signal who waits for that.
    status_ = pthread_mutex_unlock(&mutex);  // NOLINT(cppcoreguidelines-prefer-member-initializer)
  }
  waiting_in_line(const waiting_in_line&) = delete;
  waiting_in_line& operator=(const waiting_in_line&) = delete;
  /// Also when the thread is cancelled, which unwinds it.
  ~waiting_in_line() {
    if (!one_->told) at_->remove(*one_);
    // A signal that this thread cannot use any more is for another.
    if (one_->told && !ended_) at_->tell(one_->condition, 1);
    at_->unlock();
    if (status_ == 0) static_cast<void>(pthread_mutex_lock(mutex_));
  }

  /// What unlocking the mutex returned.
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
