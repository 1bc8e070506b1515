/// \file
/// How threads that wait for a mutex sleep and are woken. `System` is any class with the members of
/// `futexes`, so the model checker runs the same code (tests/dropin/checked_dropin_test.cpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

#include "nearfar/core/backoff.hpp"

namespace nearfar::preload {

/// Lets threads sleep until a shared state has changed. The threads look at that state themselves.
///
/// A changing thread makes its change by a sequentially consistent operation and then calls `tell`. A waiting
/// thread calls `announce`, then looks at the state, then calls `sleep`. Either its look sees the change, or
/// `tell` sees its announcement: the fence orders the announcement before the look, and the change and the
/// load of `tell` are both sequentially consistent.
template <typename System>
class basic_change {
 public:
  [[nodiscard]] std::uint32_t announce() {
    auto& word = System::value(word_);
    std::uint32_t seen = word.load(std::memory_order_relaxed);
    while (!word.compare_exchange(seen, seen | awaited, std::memory_order_relaxed, std::memory_order_relaxed))
      ;
    System::fence(std::memory_order_seq_cst);
    return seen | awaited;
  }
  void sleep(std::uint32_t announced, const timespec* until = nullptr, clockid_t clock = CLOCK_MONOTONIC) {
    System::sleep(word_, announced, until, clock);
  }
  void tell() {
    auto& word = System::value(word_);
    std::uint32_t seen = word.load(std::memory_order_seq_cst);
    if ((seen & awaited) == 0) [[likely]]
      return;
    // Advances to the next even number. If the exchange fails, another thread has told the sleepers.
    if (word.compare_exchange(seen, seen + 1, std::memory_order_relaxed, std::memory_order_relaxed))
      System::wake_all(word_);
  }

 private:
  static constexpr std::uint32_t awaited = 1;
  typename System::word word_{};
};

/// The lock of this library's own bookkeeping. A thread may lock it again, as `fork` handlers do that run
/// after ours has locked it.
template <typename System>
class basic_inner_lock {
 public:
  void lock(std::uint32_t thread) {
    if (holder_.load(std::memory_order_relaxed) == thread) {
      depth_.store(depth_.load() + 1);
      return;
    }
    auto& word = System::value(word_);
    std::uint32_t expected = is_free;
    if (!word.compare_exchange(expected, is_held, std::memory_order_acquire, std::memory_order_relaxed))
      while (word.exchange(has_sleepers, std::memory_order_acquire) != is_free)
        System::sleep(word_, has_sleepers);
    holder_.store(thread, std::memory_order_relaxed);
    depth_.store(1);
  }
  void unlock() {
    depth_.store(depth_.load() - 1);
    if (depth_.load() != 0) return;
    holder_.store(nobody, std::memory_order_relaxed);
    if (System::value(word_).exchange(is_free, std::memory_order_release) == has_sleepers)
      System::wake_one(word_);
  }

 private:
  static constexpr std::uint32_t nobody = 0;
  static constexpr std::uint32_t is_free = 0;
  static constexpr std::uint32_t is_held = 1;
  static constexpr std::uint32_t has_sleepers = 2;
  typename System::word word_{};
  typename System::template cell<std::uint32_t> holder_{};
  typename System::template plain<unsigned> depth_{};
};

/// An atomic cell that threads can sleep on. Each write is sequentially consistent, whatever order the caller
/// asks for, and wakes the sleeping threads. A release of a lock thus costs what the C library's release
/// costs, one exchange.
template <typename System, typename T>
class basic_sleeping_cell : public System::template cell<T> {
  using base = typename System::template cell<T>;

 public:
  void store(T value, std::memory_order /*order*/) {
    base::store(value, std::memory_order_seq_cst);
    changed_.tell();
  }
  [[nodiscard]] T exchange(T value, std::memory_order /*order*/) {
    const T before = base::exchange(value, std::memory_order_seq_cst);
    changed_.tell();
    return before;
  }
  [[nodiscard]] bool compare_exchange(T& expected, T desired, std::memory_order /*success*/,
                                      std::memory_order failure) {
    const bool done = base::compare_exchange(expected, desired, std::memory_order_seq_cst, failure);
    if (done) changed_.tell();
    return done;
  }
  T fetch_add(T value, std::memory_order /*order*/) {
    const T before = base::fetch_add(value, std::memory_order_seq_cst);
    changed_.tell();
    return before;
  }

  /// Returns the value and fetches the cache line for writing, because the caller writes the cell next.
  [[nodiscard]] T load_for_writing() { return base::fetch_add(T{}, std::memory_order_acquire); }
  /// Sleeps until the value satisfies the predicate.
  template <typename Predicate>
  [[nodiscard]] T sleep_until(Predicate predicate) const {
    for (;;) {
      const std::uint32_t announced = changed_.announce();
      const T value = this->load(std::memory_order_acquire);
      if (predicate(value)) return value;
      changed_.sleep(announced);
    }
  }

 private:
  mutable basic_change<System> changed_;
};

/// How the ranks of a world wait for such cells: they poll for a while and then sleep.
template <typename World, typename System>
class sleeping_waits {
  template <typename T>
  using cell = basic_sleeping_cell<System, T>;

 public:
  template <typename T, typename Predicate>
  static T await(const cell<T>& of, Predicate predicate) {
    return poll(
        of, [&] { return of.load(std::memory_order_acquire); }, predicate);
  }
  template <typename T, typename Predicate>
  static T await_for_writing(cell<T>& of, Predicate predicate) {
    return poll(
        of, [&] { return of.load_for_writing(); }, predicate);
  }
  template <typename T, typename Predicate>
  T await_exchange(cell<T>& of, T value, Predicate predicate, backoff pause) {
    for (auto span = pause.shortest;; span = pause.after(span)) {
      if (span < pause.longest)
        static_cast<World*>(this)->delay(span);
      else
        static_cast<void>(await(of, predicate));
      const T before = of.exchange(value, std::memory_order_acq_rel);
      if (predicate(before)) return before;
    }
  }

 private:
  template <typename T, typename Look, typename Predicate>
  static T poll(const cell<T>& of, const Look& look, const Predicate& predicate) {
    for (unsigned polls = System::polls(); polls > 0; --polls) {
      const T value = look();
      if (predicate(value)) return value;
      System::relax();
    }
    return of.sleep_until(predicate);
  }
};

}  // namespace nearfar::preload
