/// \file The system below the preloaded mutexes and condition variables, in the model checker: futexes, and
/// the C library's mutexes and condition variables. A wake-up names the ranks that it wakes exactly; wake-ups
/// without a reason are an option of the checker.
#pragma once

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>

#include "nearfar/engine/world.hpp"
#include "nearfar/memory/parking.hpp"
#include "src/dropin/pthread/sleeping.hpp"

namespace nearfar::checker::testing {

/// Thrown where a thread is cancelled; the C library also does that by unwinding the stack.
struct thread_cancelled {};

class modelled_system {
 public:
  template <typename T>
  using cell = engine::near_cell<T>;
  template <typename T>
  using plain = engine::plain_cell<T>;
  using word = parking_word<engine::world>;

  /// The functions below find the world of the calling rank here.
  static void enter(engine::world& w) { worlds().at(static_cast<std::size_t>(w.rank())) = &w; }

  // Functions of `futexes`.

  [[nodiscard]] static cell<std::uint32_t>& value(word& of) { return of.value; }
  static void fence(std::memory_order order) { here().fence(order); }
  [[nodiscard]] static unsigned polls() { return 0; }
  static void relax() {}
  static void sleep(word& on, std::uint32_t seen, const timespec* /*until*/ = nullptr,
                    clockid_t /*clock*/ = CLOCK_MONOTONIC) {
    nearfar::detail::park(here(), on, seen);
  }
  static void wake_one(word& on) { nearfar::detail::unpark(here(), on, 1); }
  static void wake_all(word& on) { nearfar::detail::unpark(here(), on, here().size()); }

  // Functions of the C library.

  struct mutex {
    cell<std::uint32_t> taken{};
  };
  struct condition {
    word told{};
  };
  struct deadline {
    std::optional<std::chrono::nanoseconds> until{};
    bool cancels = false;  ///< the thread is cancelled when it wakes
  };

  [[nodiscard]] static mutex unlocked() noexcept { return {}; }
  static void lock(mutex& of) {
    while (of.taken.exchange(1, std::memory_order_acquire) != 0)
      here().await(of.taken, [](std::uint32_t now) { return now == 0; });
  }
  static void unlock(mutex& of) { of.taken.store(0, std::memory_order_release); }
  static void signal(condition& of) {
    of.told.value.fetch_add(1, std::memory_order_release);
    nearfar::detail::unpark(here(), of.told, 1);
  }
  [[nodiscard]] static int wait(condition& on, mutex& held, const deadline& until) {
    const std::uint32_t seen = on.told.value.load(std::memory_order_acquire);
    unlock(held);
    nearfar::detail::park(here(), on.told, seen, until.until);
    lock(held);
    if (until.cancels) throw thread_cancelled();
    return until.until && here().now() >= *until.until ? ETIMEDOUT : 0;
  }

 private:
  static constexpr std::size_t most_ranks = 8;

  [[nodiscard]] static std::array<engine::world*, most_ranks>& worlds() {
    static thread_local std::array<engine::world*, most_ranks> all{};
    return all;
  }
  [[nodiscard]] static engine::world& here() {
    return *worlds().at(static_cast<std::size_t>(engine::substrate::current().running()));
  }
};

/// The engine's world with cells that ranks sleep on, as locks have inside a preloaded mutex.
class sleeping_world : public engine::world, public preload::sleeping_waits<sleeping_world, modelled_system> {
  using base = engine::world;
  using waits = preload::sleeping_waits<sleeping_world, modelled_system>;

 public:
  template <typename T>
  using near = preload::basic_sleeping_cell<modelled_system, T>;
  template <typename T>
  using near_array = nearfar::near_array<sleeping_world, T>;
  template <typename T>
  using near_segment = nearfar::near_segment<sleeping_world, T>;

  /// For the same rank. From then on only this object may be used for memory.
  explicit sleeping_world(engine::world& of) : base(of.substrate(), of.rank()) {
    modelled_system::enter(*this);
  }

  using base::await_until;
  using waits::await;
  using waits::await_exchange;
  using waits::await_for_writing;
};
static_assert(world<sleeping_world>);

}  // namespace nearfar::checker::testing
