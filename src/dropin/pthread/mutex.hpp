/// \file
/// The mutex that a preloaded program gets: a near lock, and what POSIX wants besides.
///
/// Of the program's 40 bytes the type stays where the C library has it, so that static initialisers and
/// mutexes that are left to that library work; a pointer to the mutex' state lies where that library links
/// robust mutexes. Whose state it is, the state says itself, so that a mutex that was copied, or whose memory
/// was cleared and is another's now, is found out. States are kept in a table by address: many programs drop
/// mutexes without `pthread_mutex_destroy`, and what comes to lie there takes over the state.
///
/// Memory: about 0.7 KiB for each address, and about 0.7 KiB for each thread, but 64 at most, that has locked
/// it. It is kept for other mutexes, never given back.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <ctime>

#include "algorithms.hpp"
#include "slot_world.hpp"

namespace nearfar::preload {

/// A number that no other thread of the process has, or has had.
[[nodiscard]] std::uint32_t this_thread() noexcept;

/// A place in a mutex' lock, which one thread has at a time.
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
  /// The state of a mutex that is not left to the C library. The first use makes it.
  [[nodiscard]] static mutex_state& of(pthread_mutex_t& mutex) noexcept;
  /// Forgets it, if there is one. EBUSY if it is held.
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

  /// What `lock` and its kind return without waiting, or nothing. Of the mutex that this thread holds.
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
  std::atomic<std::uint32_t> owner_{};  ///< the number of a thread, or 0
  std::uint32_t depth_ = 0;             ///< of a recursive mutex
  int held_by_ = 0;                     ///< the owner's slot
  change released_;                     ///< for those that wait for a time
  mutex_state* next_ = nullptr;         ///< of the same place in the table, or of those that nobody has
  mutex_state* next_made_ = nullptr;
  std::array<std::atomic<slot*>, slots_per_mutex> slots_{};
};

}  // namespace nearfar::preload
