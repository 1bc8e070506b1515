#include "mutex.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <new>
#include <optional>

#include "arena.hpp"
#include "choice.hpp"
#include "futex.hpp"

namespace nearfar::preload {

std::uint32_t this_thread() noexcept {
  static std::atomic<std::uint32_t> threads{};
  thread_local std::uint32_t number = 0;
  if (number == 0) [[unlikely]]
    number = threads.fetch_add(1, std::memory_order_relaxed) + 1;
  return number;
}

namespace {

/// Pause of a thread that finds all slots taken. No thread is told when one is free, since that would cost
/// every release.
constexpr long pause_without_slot_ns = 1'000'000;

[[nodiscard]] bool is_before(const timespec& a, const timespec& b) noexcept {
  return a.tv_sec < b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec < b.tv_nsec);
}

[[nodiscard]] std::atomic_ref<mutex_state*> pointer_in(pthread_mutex_t& mutex) noexcept {
  auto& place = mutex.__data.__list.__prev;
  return std::atomic_ref<mutex_state*>(reinterpret_cast<mutex_state*&>(place));
}

}  // namespace

/// All states, the unused ones, and those by address. Every member changes only with `lock` held; `fork`
/// holds it, too.
struct mutex_state::table {
  inner_lock lock;
  mutex_state* all = nullptr;
  mutex_state* unused = nullptr;
  std::array<mutex_state*, std::size_t{1} << 14U> by_address{};

  [[nodiscard]] mutex_state*& place_of(const pthread_mutex_t* mutex) noexcept {
    // Multiples of the golden ratio spread addresses that are multiples of anything.
    const auto key = reinterpret_cast<std::uintptr_t>(mutex) * std::uintptr_t{0x9e37'79b9'7f4a'7c15U};
    return by_address[key >> (64U - 14U)];
  }
  [[nodiscard]] mutex_state* find(const pthread_mutex_t* mutex) noexcept {
    mutex_state* state = place_of(mutex);
    while (state != nullptr && state->mutex_.load(std::memory_order_relaxed) != mutex) state = state->next_;
    return state;
  }
  void remove(mutex_state& state) noexcept {
    mutex_state** at = &place_of(state.mutex_.load(std::memory_order_relaxed));
    while (*at != &state) at = &(*at)->next_;
    *at = state.next_;
    state.mutex_.store(nullptr, std::memory_order_relaxed);
  }
  void add(mutex_state& state, pthread_mutex_t& mutex) noexcept {
    mutex_state*& place = place_of(&mutex);
    state.next_ = place;
    place = &state;
    state.mutex_.store(&mutex, std::memory_order_relaxed);
  }
  [[nodiscard]] mutex_state& get() noexcept {
    if (mutex_state* state = unused; state != nullptr) {
      unused = state->next_;
      return *state;
    }
    auto* state = ::new (new_memory(sizeof(mutex_state))) mutex_state;
    state->next_made_ = all;
    all = state;
    return *state;
  }

  static table& only() noexcept {
    static constinit table one;
    return one;
  }
  class guard {
   public:
    guard() noexcept { only().lock.lock(this_thread()); }
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;
    ~guard() { only().lock.unlock(); }
  };
};

mutex_state& mutex_state::of(pthread_mutex_t& mutex) noexcept {
  mutex_state* state = pointer_in(mutex).load(std::memory_order_acquire);
  if (state != nullptr && state->mutex_.load(std::memory_order_relaxed) == &mutex) [[likely]]
    return *state;
  const table::guard hold;
  table& states = table::only();
  state = states.find(&mutex);
  if (state != nullptr && pointer_in(mutex).load(std::memory_order_relaxed) != state && !state->is_idle()) {
    // The state of a mutex that was held when its memory went away. A thread may still be in it.
    states.remove(*state);
    state = nullptr;
  }
  if (state == nullptr) {
    state = &states.get();
    states.add(*state, mutex);
  }
  pointer_in(mutex).store(state, std::memory_order_release);
  return *state;
}

int mutex_state::forget(pthread_mutex_t& mutex) noexcept {
  const table::guard hold;
  table& states = table::only();
  mutex_state* state = states.find(&mutex);
  if (state == nullptr || pointer_in(mutex).load(std::memory_order_relaxed) != state) return 0;
  if (state->owner_.load(std::memory_order_acquire) != 0) return EBUSY;
  // The last holder may not have returned from unlocking it.
  while (!state->is_idle()) sched_yield();
  states.remove(*state);
  state->next_ = states.unused;
  states.unused = state;
  pointer_in(mutex).store(nullptr, std::memory_order_relaxed);
  return 0;
}

std::optional<int> mutex_state::relocked(int type, int if_checked) noexcept {
  if (type == PTHREAD_MUTEX_NORMAL || type == PTHREAD_MUTEX_ADAPTIVE_NP ||
      owner_.load(std::memory_order_relaxed) != this_thread())
    return std::nullopt;
  if (type == PTHREAD_MUTEX_ERRORCHECK) return if_checked;
  if (depth_ == UINT32_MAX) return EAGAIN;
  ++depth_;
  return 0;
}

void mutex_state::taken_by_this_thread(int slot) noexcept {
  held_by_ = slot;
  depth_ = 1;
  owner_.store(this_thread(), std::memory_order_relaxed);
}

int mutex_state::lock(int type) noexcept {
  if (const auto result = relocked(type, EDEADLK)) return *result;
  const int number = claim();
  chosen().acquire(made(number).lock);
  taken_by_this_thread(number);
  return 0;
}

mutex_state::attempt mutex_state::try_once() noexcept {
  const std::optional<int> number = claim_if_any();
  if (!number) return attempt::without_slot;
  slot& mine = made(*number);
  if (!chosen().try_acquire(mine.lock)) {
    mine.taken.store(false, std::memory_order_release);
    return attempt::failed;
  }
  taken_by_this_thread(*number);
  return attempt::succeeded;
}

int mutex_state::try_lock(int type) noexcept {
  if (const auto result = relocked(type, EBUSY)) return *result;
  return try_once() == attempt::succeeded ? 0 : EBUSY;
}

int mutex_state::lock_until(int type, clockid_t clock, const timespec& until) noexcept {
  if (const auto result = relocked(type, EDEADLK)) return *result;
  for (unsigned poll = 0; poll < polls_before_sleep; ++poll) {
    if (try_once() == attempt::succeeded) return 0;
    futexes::relax();
  }
  if (until.tv_nsec < 0 || until.tv_nsec >= 1'000'000'000) return EINVAL;
  for (;;) {
    const std::uint32_t announced = released_.announce();
    const attempt result = try_once();
    if (result == attempt::succeeded) return 0;
    timespec now{};
    clock_gettime(clock, &now);
    if (!is_before(now, until)) return ETIMEDOUT;
    if (result == attempt::failed) {
      released_.sleep(announced, &until, clock);
      continue;
    }
    // The threads that have the slots may all have told of their releases already.
    now.tv_nsec += pause_without_slot_ns;
    if (now.tv_nsec >= 1'000'000'000) {
      now.tv_nsec -= 1'000'000'000;
      ++now.tv_sec;
    }
    released_.sleep(announced, is_before(now, until) ? &now : &until, clock);
  }
}

int mutex_state::unlock(int type) noexcept {
  if (type == PTHREAD_MUTEX_ERRORCHECK || type == PTHREAD_MUTEX_RECURSIVE) {
    if (owner_.load(std::memory_order_relaxed) != this_thread()) return EPERM;
    if (--depth_ != 0) return 0;
  }
  // The C library ignores this, too.
  if (owner_.load(std::memory_order_relaxed) == 0) [[unlikely]]
    return 0;
  // Perhaps another thread's slot, for a mutex whose type permits that.
  slot* mine = slots_[static_cast<std::size_t>(held_by_)].load(std::memory_order_relaxed);
  owner_.store(0, std::memory_order_relaxed);
  chosen().release(mine->lock);
  released_.tell();
  // The last access: `forget` waits for it.
  mine->taken.store(false, std::memory_order_release);
  return 0;
}

std::byte* mutex_state::of(int rank) const {
  return slots_[static_cast<std::size_t>(rank)].load(std::memory_order_acquire)->near;
}

std::optional<int> mutex_state::claim_if_any() noexcept {
  const auto first = static_cast<int>(this_thread() % slots_per_mutex);
  for (int step = 0; step < slots_per_mutex; ++step) {
    const int number = (first + step) % slots_per_mutex;
    slot& one = made(number);
    bool expected = false;
    if (one.taken.load(std::memory_order_relaxed) == expected &&
        one.taken.compare_exchange_strong(expected, true, std::memory_order_acquire))
      return number;
  }
  return std::nullopt;
}

int mutex_state::claim() noexcept {
  for (;;) {
    if (const std::optional<int> number = claim_if_any()) return *number;
    constexpr timespec pause{.tv_sec = 0, .tv_nsec = pause_without_slot_ns};
    const int saved = errno;
    // The C library's nanosleep() is a cancellation point, and a thread must not be cancelled while it waits
    // for a mutex.
    syscall(SYS_nanosleep, &pause, nullptr);
    errno = saved;
  }
}

slot& mutex_state::made(int number) noexcept {
  const auto at = static_cast<std::size_t>(number);
  if (slot* one = slots_[at].load(std::memory_order_acquire); one != nullptr) [[likely]]
    return *one;
  const table::guard hold;
  // Slot 0 has the shared words.
  for (const int each : {0, number}) {
    std::atomic<slot*>& place = slots_[static_cast<std::size_t>(each)];
    if (place.load(std::memory_order_relaxed) != nullptr) continue;
    const std::size_t head = (sizeof(slot) + cache_line - 1) / cache_line * cache_line;
    const std::size_t lock = (chosen().bytes + cache_line - 1) / cache_line * cache_line;
    auto* memory = static_cast<std::byte*>(new_memory(head + lock + slot_world::bytes));
    auto* one = ::new (memory) slot(*this, each);
    one->lock = memory + head;
    one->near = memory + head + lock;
    // The lock finds its memory there while it is constructed; until then no other thread may take it.
    one->taken.store(true, std::memory_order_relaxed);
    place.store(one, std::memory_order_release);
    chosen().make(one->lock, one->world);
    one->taken.store(false, std::memory_order_release);
  }
  return *slots_[at].load(std::memory_order_relaxed);
}

bool mutex_state::is_idle() const noexcept {
  return std::none_of(slots_.begin(), slots_.end(), [](const std::atomic<slot*>& place) {
    const slot* one = place.load(std::memory_order_acquire);
    return one != nullptr && one->taken.load(std::memory_order_acquire);
  });
}

void mutex_state::before_fork() noexcept { table::only().lock.lock(this_thread()); }
void mutex_state::in_parent() noexcept { table::only().lock.unlock(); }

void mutex_state::in_child() noexcept {
  for (mutex_state* state = table::only().all; state != nullptr; state = state->next_made_)
    if (!state->is_idle()) state->begin_anew();
  in_parent();
}

/// Called in the child of a fork, where no other thread is left. Waiting threads are forgotten. A mutex that
/// another thread held stays locked, as with the C library; one that was changing hands is free.
void mutex_state::begin_anew() noexcept {
  const std::uint32_t owner = owner_.load(std::memory_order_relaxed);
  if (owner != 0 && owner != this_thread()) return;
  for (std::size_t number = 0; number < slots_.size(); ++number)
    if (slot* one = slots_[number].load(std::memory_order_relaxed); one != nullptr) {
      std::memset(one->near, 0, slot_world::bytes);
      one->taken.store(false, std::memory_order_relaxed);
      ::new (&one->world) slot_world(*this, static_cast<int>(number));
      chosen().make(one->lock, one->world);
    }
  if (owner == 0) return;
  const std::uint32_t depth = depth_;
  static_cast<void>(try_once());
  depth_ = depth;
}

}  // namespace nearfar::preload
