/// \file
/// The mutex of a preloaded program: a near lock, plus what POSIX requires.
///
/// In the program's 40 bytes, the type stays where the C library has it, so that static initialisers work,
/// and so do mutexes that are left to that library. A pointer to the mutex's state lies where that library
/// links robust mutexes. The state holds the address of its mutex, which detects a mutex that was copied, or
/// whose memory was cleared and now belongs to another. A table keeps the states by address: many programs
/// drop mutexes without `pthread_mutex_destroy`, and the next mutex at that address takes over the state.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <ctime>

#include "algorithms.hpp"
#include "slot_world.hpp"

namespace nearfar::preload {

/// A number that no other thread of the process has or has had.
[[nodiscard]] std::uint32_t this_thread() noexcept;

/// A place in a mutex' lock; one thread has it at a time.
struct slot {
  std::atomic<bool> taken{};
  slot_world world;
  void* lock;
  std::byte* near;

  slot(const slot_memory& memory, int rank) noexcept : world(memory, rank), lock(nullptr), near(nullptr) {}
};

/// One mutex. All functions return what the POSIX functions return.
class mutex_state final : public slot_memory {
 public:
  /// The state of a mutex that is not left to the C library. The first use creates it.
  [[nodiscard]] static mutex_state& of(pthread_mutex_t& mutex) noexcept;
  /// Drops the state, if there is one. Returns EBUSY if the mutex is held.
  [[nodiscard]] static int forget(pthread_mutex_t& mutex) noexcept;

  [[nodiscard]] int lock(int type) noexcept;
  [[nodiscard]] int try_lock(int type) noexcept;
  [[nodiscard]] int lock_until(int type, clockid_t clock, const timespec& until) noexcept;
  [[nodiscard]] int unlock(int type) noexcept;

  [[nodiscard]] std::byte* of(int rank) const override;

  // Around `fork`.
  static void before_fork() noexcept;
  static void in_parent() noexcept;
  static void in_child() noexcept;

 private:
  struct table;

  /// The result of `lock` and its variants that need no wait, for a mutex that this thread holds already;
  /// else nothing.
  [[nodiscard]] std::optional<int> relocked(int type, int if_checked) noexcept;
  void taken_by_this_thread(int slot) noexcept;

  enum class attempt : std::uint8_t { succeeded, failed, without_slot };
  [[nodiscard]] attempt try_once() noexcept;

  [[nodiscard]] int claim() noexcept;
  [[nodiscard]] std::optional<int> claim_if_any() noexcept;
  [[nodiscard]] slot& made(int number) noexcept;
  void make(int number, slot& where) noexcept;
  [[nodiscard]] bool is_idle() const noexcept;
  void begin_anew() noexcept;

  std::atomic<pthread_mutex_t*> mutex_{};
  std::atomic<std::uint32_t> owner_{};  ///< number of a thread, or 0
  std::uint32_t depth_ = 0;             ///< of a recursive mutex
  int held_by_ = 0;                     ///< the owner's slot
  change released_;                     ///< for timed waits
  mutex_state* next_ = nullptr;         ///< in the same place of the table, or among the unused states
  mutex_state* next_made_ = nullptr;
  std::array<std::atomic<slot*>, slots_per_mutex> slots_{};
};

}  // namespace nearfar::preload
