#include "c_library.hpp"

#include <dlfcn.h>

#include <atomic>

#include "arena.hpp"

namespace nearfar::preload {

namespace {

/// Condition variables also have an older version, with another layout, which `dlsym` may find first.
template <typename Function>
void find(Function*& function, const char* name, const char* version = nullptr) noexcept {
  void* found = version == nullptr ? nullptr : dlvsym(RTLD_NEXT, name, version);
  if (found == nullptr) found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) stop("the C library has no ", name);
  function = reinterpret_cast<Function*>(found);
}

#ifdef __x86_64__
constexpr const char* condition_version = "GLIBC_2.3.2";
#else
constexpr const char* condition_version = nullptr;
#endif

}  // namespace

const original_functions& c_library() noexcept {
  // Several threads may look the functions up at once, each into its own copy. `dlsym` may allocate and so
  // lock a mutex of the program; that lock needs none of these functions.
  static original_functions all{};
  static std::atomic<bool> found{};
  if (found.load(std::memory_order_acquire)) [[likely]]
    return all;
  original_functions mine{};
  find(mine.mutex_init, "pthread_mutex_init");
  find(mine.mutex_destroy, "pthread_mutex_destroy");
  find(mine.mutex_lock, "pthread_mutex_lock");
  find(mine.mutex_trylock, "pthread_mutex_trylock");
  find(mine.mutex_timedlock, "pthread_mutex_timedlock");
  find(mine.mutex_clocklock, "pthread_mutex_clocklock");
  find(mine.mutex_unlock, "pthread_mutex_unlock");
  find(mine.cond_wait, "pthread_cond_wait", condition_version);
  find(mine.cond_timedwait, "pthread_cond_timedwait", condition_version);
  find(mine.cond_clockwait, "pthread_cond_clockwait");
  find(mine.cond_signal, "pthread_cond_signal", condition_version);
  find(mine.cond_broadcast, "pthread_cond_broadcast", condition_version);
  find(mine.register_atfork, "__register_atfork");
  all = mine;
  found.store(true, std::memory_order_release);
  return all;
}

}  // namespace nearfar::preload
