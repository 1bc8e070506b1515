/// \file
/// Locks for the ends of a channel, for strategies that use locks. All are words in the channel's memory, so
/// that each serves threads, the ranks of a node, and the model checker.
///
/// Source: Laubert 2021, sections 3.1 to 3.4 and chapter 6.
///
/// A lock has `acquire()` and `release()`. If a waiting thread can give up, it also has
/// `acquire_unless(gives_up)`, which returns whether it acquired the lock. `excludes` is false for the lock
/// that does nothing. A channel has one object of each lock, which its threads share, or one for each rank.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "nearfar/channel/channel_memory.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/core/layout.hpp"

namespace nearfar::channel_lock {

/// No lock, for an end that one thread or rank uses at a time. The creator of the channel ensures that.
template <typename Memory>
class none {
 public:
  static constexpr bool excludes = false;
  explicit none(Memory& /*memory*/) {}
  static constexpr void acquire() noexcept {}
  static constexpr void release() noexcept {}
};

/// The behaviour of a thread while another holds the lock.
enum class spinning : std::uint8_t {
  tests,   ///< only reads the word until the lock is free
  tries,   ///< swaps the word in each turn, as published: each swap takes the line from the others
  yields,  ///< gives its processor away after each look, as published
};

/// Test-and-set. A waiting thread gives up when `gives_up` says so. Fairness: none. Cost: a swap and the
/// line's transfer; with `tests`, each waiting thread reads the line again when the lock is released. Memory:
/// 64 bytes.
template <typename Memory, spinning How>
class test_and_set {
 public:
  static constexpr bool excludes = true;
  explicit test_and_set(Memory& memory) : memory_(&memory), words_(memory, 1) {}

  void acquire() {
    static_cast<void>(acquire_unless([] { return false; }));
  }
  template <typename GivesUp>
  [[nodiscard]] bool acquire_unless(const GivesUp& gives_up) {
    auto& taken = words_[0].taken;
    while (taken.exchange(1, std::memory_order_acquire) != 0) {  // pairs with (1)
      if (gives_up()) return false;
      const auto is_free = [](std::uint32_t now) { return now == 0; };
      if constexpr (How == spinning::tries)
        memory_->try_again(taken, is_free);
      else
        memory_->await(taken, is_free);
    }
    return true;
  }
  void release() { words_[0].taken.store(0, std::memory_order_release); }  // (1)

 private:
  struct alignas(cache_line) words {
    typename Memory::template near<std::uint32_t> taken{};
  };

  Memory* memory_;
  typename Memory::template array<words> words_;
};

template <typename Memory>
using spin = test_and_set<Memory, spinning::tests>;
/// The lock of the source.
template <typename Memory>
using published_spin = test_and_set<Memory, spinning::tries>;

/// First come, first served: each thread waits for its number. Fairness: FIFO. Cost: an addition; each
/// waiting thread reads the line again at each release. Memory: 64 bytes.
template <typename Memory, spinning How>
class numbers {
 public:
  static constexpr bool excludes = true;
  explicit numbers(Memory& memory) : memory_(&memory), words_(memory, 1) {}

  void acquire() {
    auto& [next, serving] = words_[0];
    const std::uint32_t mine = next.fetch_add(1, std::memory_order_relaxed);
    const auto is_mine = [mine](std::uint32_t now) { return now == mine; };
    if constexpr (How == spinning::yields)
      memory_->await_yielding(serving, is_mine);  // pairs with (2)
    else
      memory_->await(serving, is_mine);  // pairs with (2)
  }
  void release() {
    auto& serving = words_[0].serving;  // only the holder changes it
    serving.store(serving.load(std::memory_order_relaxed) + 1, std::memory_order_release);  // (2)
  }

 private:
  struct alignas(cache_line) words {
    typename Memory::template near<std::uint32_t> next{};
    typename Memory::template near<std::uint32_t> serving{};
  };

  Memory* memory_;
  typename Memory::template array<words> words_;
};

template <typename Memory>
using ticket = numbers<Memory, spinning::tests>;
/// The lock of the source.
template <typename Memory>
using published_ticket = numbers<Memory, spinning::yields>;

/// A ticket lock whose waiting threads poll different lines, as long as at most `lines` of them wait. Source:
/// D. Dice, "Brief announcement: a partitioned ticket lock", SPAA 2011, doi 10.1145/1989493.1989543; after
/// Anderson's array lock, for which the number of threads must be known. Fairness: FIFO. Cost: an addition; a
/// release writes the line that the next holder polls. Memory: 64 (lines + 1) bytes.
template <typename Memory>
class partitioned_ticket {
 public:
  static constexpr bool excludes = true;
  static constexpr std::uint32_t lines = 16;  ///< a power of two, so that numbers may wrap around

  explicit partitioned_ticket(Memory& memory) : memory_(&memory), ends_(memory, 1), grants_(memory, lines) {}

  void acquire() {
    const std::uint32_t mine = ends_[0].next.fetch_add(1, std::memory_order_relaxed);
    memory_->await(grants_[mine % lines].to,
                   [mine](std::uint32_t now) { return now == mine; });  // pairs with (3)
    ends_[0].holder.store(mine, std::memory_order_relaxed);
  }
  void release() {
    const std::uint32_t heir = ends_[0].holder.load(std::memory_order_relaxed) + 1;
    grants_[heir % lines].to.store(heir, std::memory_order_release);  // (3)
  }

 private:
  struct alignas(cache_line) ends {
    typename Memory::template near<std::uint32_t> next{};
    typename Memory::template near<std::uint32_t> holder{};  ///< accessed only by the holder
  };
  struct alignas(cache_line) grant {
    typename Memory::template near<std::uint32_t> to{};
  };

  Memory* memory_;
  typename Memory::template array<ends> ends_;
  typename Memory::template array<grant> grants_;
};

/// Waiting threads sleep. Source: U. Drepper, "Futexes are tricky", 2011, mutex 2, with polling before the
/// sleep. Fairness: none. Cost: a swap each for acquire and release; if others sleep, a system call. Memory:
/// 64 bytes.
template <typename Memory>
class parking {
 public:
  static constexpr bool excludes = true;
  explicit parking(Memory& memory) : memory_(&memory), words_(memory, 1) {}

  void acquire() {
    parking_word<Memory>& word = words_[0].state;
    std::uint32_t expected = is_free;
    if (word.value.compare_exchange(expected, is_held, std::memory_order_acquire, std::memory_order_relaxed))
      return;  // pairs with (4), as does the swap
    typename Memory::sleeping_wait wait;
    while (word.value.exchange(has_sleepers, std::memory_order_acquire) != is_free)
      memory_->park(wait, word, has_sleepers, std::nullopt);
  }
  void release() {
    parking_word<Memory>& word = words_[0].state;
    if (word.value.exchange(is_free, std::memory_order_release) == has_sleepers)
      memory_->unpark_one(word);  // (4)
  }

 private:
  static constexpr std::uint32_t is_free = 0;
  static constexpr std::uint32_t is_held = 1;
  static constexpr std::uint32_t has_sleepers = 2;
  struct alignas(cache_line) words {
    parking_word<Memory> state{};
  };

  Memory* memory_;
  typename Memory::template array<words> words_;
};

/// The mutex of the POSIX threads library. Not for simulated or checked ranks.
template <typename Memory>
class pthread_mutex {
 public:
  static constexpr bool excludes = true;
  static_assert(Memory::is_hardware,
                "a mutex of the system needs real memory: it works for threads and processes only");

  explicit pthread_mutex(Memory& memory) : words_(memory, 1) {
    if (memory.is_maker()) {
      pthread_mutexattr_t how{};
      pthread_mutexattr_init(&how);
      pthread_mutexattr_setpshared(&how, PTHREAD_PROCESS_SHARED);
      pthread_mutex_init(&words_[0].mutex, &how);
      pthread_mutexattr_destroy(&how);
    }
    memory.made();
  }
  void acquire() { ::pthread_mutex_lock(&words_[0].mutex); }
  void release() { ::pthread_mutex_unlock(&words_[0].mutex); }

 private:
  struct alignas(cache_line) words {
    pthread_mutex_t mutex;
  };
  typename Memory::template array<words> words_;
};

/// The spin lock of the POSIX threads library. A waiting thread keeps its processor.
template <typename Memory>
class pthread_spin {
 public:
  static constexpr bool excludes = true;
  static_assert(Memory::is_hardware,
                "a lock of the system needs real memory: it works for threads and processes only");

  explicit pthread_spin(Memory& memory) : words_(memory, 1) {
    if (memory.is_maker()) ::pthread_spin_init(&words_[0].lock, PTHREAD_PROCESS_SHARED);
    memory.made();
  }
  void acquire() { ::pthread_spin_lock(&words_[0].lock); }
  void release() { ::pthread_spin_unlock(&words_[0].lock); }

 private:
  struct alignas(cache_line) words {
    pthread_spinlock_t lock;
  };
  typename Memory::template array<words> words_;
};

/// Any lock of this project, between the ranks of a node, given as a template over the world's type.
template <template <typename> typename Lock>
struct of_world {
  template <typename Memory>
  class lock {
   public:
    static constexpr bool excludes = true;
    explicit lock(Memory& memory) : lock_(memory.world_of()) {}
    void acquire() { lock_.lock(); }
    void release() { lock_.unlock(); }

   private:
    Lock<typename Memory::world_type> lock_;
  };
};

/// Returns the result of `inside()`, called with the lock held.
template <typename Lock, typename Inside>
[[nodiscard]] auto with(Lock& lock, const Inside& inside) {
  lock.acquire();
  return detail::and_always(inside, [&] { lock.release(); });
}
/// The same, or `otherwise` if waiting for the lock has become useless.
template <typename Lock, typename GivesUp, typename Result, typename Inside>
[[nodiscard]] Result with_unless(Lock& lock, const GivesUp& gives_up, Result otherwise,
                                 const Inside& inside) {
  if constexpr (requires { lock.acquire_unless(gives_up); }) {
    if (!lock.acquire_unless(gives_up)) return otherwise;
    return detail::and_always(inside, [&] { lock.release(); });
  } else {
    return with(lock, inside);
  }
}

/// The fence to call before reading the other end to report full or empty. With a lock, the caller then sees
/// the effects of calls that have returned and fenced. An end without a lock uses a light fence instead, and
/// sees these effects soon; before it sleeps, the fence of event_count.hpp suffices.
template <typename Lock, typename Memory>
void fence_before_look(Memory& memory) {
  if constexpr (Lock::excludes)
    memory.fence(std::memory_order_seq_cst);
  else
    memory.light_fence();
}

}  // namespace nearfar::channel_lock
