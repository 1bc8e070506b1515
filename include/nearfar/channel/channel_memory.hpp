/// \file
/// Where a channel's cells are, and how its threads or ranks wait for each other. Channels use nothing else
/// of the world, so that the same code serves `std::thread`s, the ranks of a node, and the model checker.
///
/// `process_memory` is the memory of the threads of one process. It needs no world, and any thread may use
/// any channel. `node_memory<W>` is near memory of a world's ranks on one node. Each rank has its own object
/// for the channel, and messages are copied byte by byte.
///
/// Both provide cells, fences and waits as worlds do (core/world.hpp), and
///  - `slot<T>`, the place of a message: `put(T&&)` constructs one there, `take()` moves it out and leaves
///    none, and `drop()` destroys it;
///  - `loan<T>`, a message that stays where it is until `take()`, if the memory permits;
///  - `array<S>`, a number of structs, constructed from the `memory` and a count, accessed by index;
///  - `few<S, count>`, the same with a count known at compile time; between threads it is a member of its
///    owner, which saves an indirection;
///  - `with_waiters<C, S>`, a struct `common()` to all, and `mine()`, one for each waiting thread or rank;
///    the distance between the two is the same in every process;
///  - `is_hardware`: cells are words of real memory, not of a model;
///  - `light_fence()` and `heavy_fence()`: a light fence and a heavy fence order each other as two full
///    fences do; two light fences do not. A light fence may compile to no instruction;
///  - `is_maker()`: this thread or rank initialises the shared structs; `made()`: called when that is done;
///  - `await_yielding(cell, predicate)`: waits as `await` does, and gives the processor away after each look;
///  - `try_again(cell, predicate)`: called between two attempts to change a cell. It returns at once on
///    hardware, and where the predicate holds in a model, which cannot try without end;
///  - `caller()`: a number of the calling thread or rank, for choosing among lines of memory;
///  - `park(wait, word, seen, deadline)` on a `parking_word`: returns at once if the word differs from
///  `seen`;
///    otherwise when the caller is unparked, when the deadline (if any) has passed, or spuriously. It polls
///    for a while and then sleeps. All sleeps of one wait have one `sleeping_wait`, by which ranks of an MPI
///    world keep to its `stall_limit`. `unpark_one` and `unpark_all` wake, and are called after a change of
///    the word.
#pragma once

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <climits>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>

#include "nearfar/core/error.hpp"
#include "nearfar/core/fence.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/memory/atomic_cell.hpp"
#include "nearfar/memory/parking.hpp"
#include "nearfar/memory/waiting.hpp"

namespace nearfar {

/// When a wait ends, by the steady clock or the world's clock; without a value: never.
using channel_deadline = std::optional<std::chrono::nanoseconds>;

namespace detail {

/// Returns the result of `does()` after calling `afterwards()`, which is called even if `does()` throws. A
/// destructor cannot do this: where ranks are fibres (engine/fibre.hpp), `afterwards` may wait, and an
/// exception leaves it if the execution ends there.
template <typename Does, typename Afterwards>
[[nodiscard]] std::invoke_result_t<const Does&> and_always(const Does& does, const Afterwards& afterwards) {
  auto attempt = [&] {
    try {
      return does();
    } catch (...) {
      afterwards();
      throw;
    }
  };
  std::invoke_result_t<const Does&> result = attempt();
  afterwards();
  return result;
}

/// Prefetches for writing the cache line that is `bytes` past an object, without waiting. As a hint it may
/// touch an address that is not the program's. The compiler's builtin would request a copy for reading unless
/// it knows that the processor has this instruction. Older processors ignore the instruction.
template <std::size_t bytes>
void ask_for_line_past([[maybe_unused]] const void* object) noexcept {
#if defined(__x86_64__)
  asm volatile("prefetchw %c1(%0)" : : "r"(object), "i"(bytes));  // NOLINT(hicpp-no-assembler)
#else
  __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(object) + bytes), 1);
#endif
}
/// Executes `moments` pause instructions, of some tens of cycles each.
inline void pause(std::uint64_t moments) noexcept {
  for (std::uint64_t i = 0; i < moments; ++i) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
  }
}

/// Number of polls before a thread sleeps. The second half of them also yield the processor.
inline constexpr int looks_before_sleep = 64;

/// Called before each poll of a loop that waits for the next step of another thread.
inline void before_look(int number) noexcept {
  if (number >= looks_before_sleep / 2) sched_yield();
}

/// Yields the processor before a thread sleeps, since the awaited thread may be about to act, and yielding is
/// cheaper than being woken. If other threads want the processor for longer, a yield lasts as long as their
/// time slice, a thousand times the cost of a wake-up. After such a yield this thread sleeps at once for
/// `waits_without` waits. On 2 cores of a virtual machine, a rendezvous took 0.6 us with yields and 30 us
/// without them if no other thread ran. Beside one busy thread for each core, it took 1500 us with yields and
/// 40 to 70 us without.
class patient_thread {
 public:
  /// A yield longer than this counts as long. The `waits_without` waits after it do not yield.
  static constexpr std::chrono::microseconds long_yield{100};
  static constexpr int waits_without = 1000;

  /// Yields, unless a recent yield was long. Returns whether polling again is worthwhile.
  [[nodiscard]] static bool yields() noexcept {
    if (waits_left_ > 0) return false;
    const auto before = std::chrono::steady_clock::now();
    sched_yield();
    if (std::chrono::steady_clock::now() - before > long_yield) waits_left_ = waits_without;
    return true;
  }
  static void note_sleep() noexcept { waits_left_ = std::max(waits_left_ - 1, 0); }

 private:
  static inline thread_local int waits_left_ = 0;
};

/// Registers the process with the kernel's membarrier, which makes every thread of the process execute a
/// fence on request. Returns whether the kernel provides it.
[[nodiscard]] inline bool register_process_barrier() noexcept {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0U, 0) == 0;
}
[[nodiscard]] inline bool has_process_barrier() noexcept {
  static const bool result = register_process_barrier();
  return result;
}
/// The same for light fences, which are executed for each message. False until static initialisation is done.
inline const bool is_process_barrier_known = has_process_barrier();
/// Makes every thread of the process execute a fence. A process forked after its parent registered may have
/// to register again.
inline void pass_process_barrier() noexcept {
  const auto pass = [] { return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0U, 0) == 0; };
  // The light fences of other threads rely on this, and there is no substitute.
  if (!pass() && !(register_process_barrier() && pass())) std::abort();
}

}  // namespace detail

/// The memory of the threads of a process.
class process_memory {
 public:
  static constexpr bool is_hardware = true;

  template <typename T>
  using near = atomic_cell<T>;

  /// For any movable type.
  template <typename T>
  class slot {
   public:
    slot() noexcept {}  // NOLINT(modernize-use-equals-default): there is no message yet
    slot(const slot&) = delete;
    slot& operator=(const slot&) = delete;
    ~slot() {}  // NOLINT(modernize-use-equals-default): nor at the end

    void put(T&& value) { std::construct_at(std::addressof(value_), std::move(value)); }
    [[nodiscard]] T take() {
      const leave_empty afterwards(*this);
      return std::move(value_);
    }
    void drop() { std::destroy_at(std::addressof(value_)); }

   private:
    struct leave_empty {
      explicit leave_empty(slot& of) noexcept : of_(&of) {}
      leave_empty(const leave_empty&) = delete;
      leave_empty& operator=(const leave_empty&) = delete;
      ~leave_empty() { of_->drop(); }
      slot* of_;
    };

    union {
      T value_;
    };
  };

  template <typename T>
  class loan {
   public:
    void lend(T& value) noexcept { value_ = std::addressof(value); }
    [[nodiscard]] T take() { return std::move(*value_); }

   private:
    T* value_ = nullptr;
  };

  template <typename S>
  class array {
   public:
    array(process_memory& /*memory*/, std::size_t count) : elements_(std::make_unique<S[]>(count)) {}

    [[nodiscard]] S& operator[](std::size_t index) const noexcept { return elements_[index]; }

   private:
    std::unique_ptr<S[]> elements_;
  };

  template <typename S, std::size_t count>
  class few {
   public:
    explicit few(process_memory& /*memory*/) {}

    [[nodiscard]] S& operator[](std::size_t index) const noexcept { return elements_[index]; }

   private:
    mutable std::array<S, count> elements_{};
  };

  template <typename C, typename S>
  class with_waiters {
   public:
    explicit with_waiters(process_memory& /*memory*/) : common_(std::make_unique<C>()) {}

    [[nodiscard]] C& common() const noexcept { return *common_; }
    /// On the caller's stack.
    [[nodiscard]] S mine() const noexcept { return {}; }

   private:
    std::unique_ptr<C> common_;
  };

  [[nodiscard]] static constexpr bool is_maker() noexcept { return true; }
  static constexpr void made() noexcept {}
  [[nodiscard]] static std::chrono::nanoseconds now() noexcept {
    return std::chrono::steady_clock::now().time_since_epoch();
  }
  static void fence(std::memory_order order) noexcept { nearfar::fence(order); }
  static void light_fence() noexcept {
    if (detail::is_process_barrier_known) [[likely]]
      std::atomic_signal_fence(std::memory_order_seq_cst);
    else
      nearfar::fence(std::memory_order_seq_cst);
  }
  static void heavy_fence() noexcept {
    nearfar::fence(std::memory_order_seq_cst);
    if (detail::has_process_barrier()) detail::pass_process_barrier();
  }

  /// Waits for the next step of another thread that does not wait for this one.
  template <typename T, std::predicate<T> Predicate>
  static T await(const atomic_cell<T>& cell, Predicate predicate) noexcept {
    for (int look = 0;; look = std::min(look + 1, detail::looks_before_sleep)) {
      const T value = cell.load(std::memory_order_acquire);
      if (predicate(value)) return value;
      detail::before_look(look);
    }
  }
  template <typename T, std::predicate<T> Predicate>
  static void await_yielding(const atomic_cell<T>& cell, Predicate predicate) noexcept {
    while (!predicate(cell.load(std::memory_order_acquire))) sched_yield();
  }
  template <typename T, std::predicate<T> Predicate>
  static void try_again(const atomic_cell<T>& /*cell*/, Predicate /*predicate*/) noexcept {}
  [[nodiscard]] static std::size_t caller() noexcept {
    static std::atomic<std::size_t> callers{0};
    thread_local const std::size_t mine = callers.fetch_add(1, std::memory_order_relaxed);
    return mine;
  }
  /// Threads of a process wait without a limit.
  struct sleeping_wait {};
  static void park(sleeping_wait /*of*/, const parking_word<process_memory>& word, std::uint32_t seen,
                   const channel_deadline& deadline) noexcept {
    constexpr int in_vain = detail::looks_before_sleep / 2;
    for (int look = 0; look < detail::looks_before_sleep; ++look) {
      if (word.value.load(std::memory_order_acquire) != seen) return;
      if (look >= in_vain && !detail::patient_thread::yields()) break;
    }
    detail::patient_thread::note_sleep();
    detail::sleep_on(word.value, seen, deadline, true);
  }
  static void unpark_one(parking_word<process_memory>& word) noexcept { detail::wake(word.value, 1, true); }
  static void unpark_all(parking_word<process_memory>& word) noexcept {
    detail::wake(word.value, INT_MAX, true);
  }
};

/// Near memory of the ranks of one node, at rank `home`.
template <world W>
class node_memory {
 public:
  using world_type = W;

  template <typename T>
  using near = typename W::template near<T>;
  /// In other worlds the engine implements waits.
  static constexpr bool is_hardware = detail::is_hardware<W>;

  /// For types that can be copied byte by byte.
  template <plain_value T>
  class slot {
   public:
    void put(const T& value) { value_.store(value); }
    [[nodiscard]] T take() { return value_.load(); }

   private:
    typename W::template plain<T> value_{};
  };

  template <plain_value T>
  class loan {
   public:
    void lend(const T& value) { value_.store(value); }
    [[nodiscard]] T take() { return value_.load(); }

   private:
    typename W::template plain<T> value_{};
  };

  template <typename S>
  class array {
   public:
    array(node_memory& memory, std::size_t count) : home_(memory.home_), elements_(*memory.world_, count) {}

    [[nodiscard]] S& operator[](std::size_t index) const { return elements_.at({home_, index}); }

   private:
    int home_;
    typename W::template near_array<S> elements_;
  };

  template <typename S, std::size_t count>
  class few : public array<S> {
   public:
    explicit few(node_memory& memory) : array<S>(memory, count) {}
  };

  template <typename C, typename S>
  class with_waiters {
   public:
    explicit with_waiters(node_memory& memory)
        : mine_(static_cast<std::size_t>(memory.world_->rank())),
          elements_(memory, static_cast<std::size_t>(memory.world_->size())) {}

    [[nodiscard]] C& common() const { return elements_[0].common; }
    [[nodiscard]] S& mine() const { return elements_[mine_].mine; }

   private:
    struct element {
      C common{};
      S mine{};
    };
    std::size_t mine_;
    array<element> elements_;
  };

  /// Throws `misuse` if the ranks are not all on one node.
  explicit node_memory(W& w, int home = 0) : world_(&w), home_(checked_rank(w, home)) {
    if (w.locality().groups(level::node) != 1)
      throw misuse("a channel serves the ranks of one node: make it in a world of one node");
  }

  [[nodiscard]] W& world_of() const noexcept { return *world_; }
  [[nodiscard]] bool is_maker() const { return world_->rank() == home_; }
  void made() { world_->barrier(); }
  [[nodiscard]] std::chrono::nanoseconds now() const { return world_->now(); }
  // In the engine's worlds a fence is of the line that asks for it, as other operations are.
  void fence(std::memory_order order, std::source_location site = std::source_location::current()) {
    if constexpr (is_hardware)
      world_->fence(order);
    else
      world_->fence(order, site);
  }
  void light_fence(std::source_location site = std::source_location::current()) {
    if constexpr (is_hardware)
      world_->fence(std::memory_order_seq_cst);
    else
      world_->light_fence(site);
  }
  void heavy_fence(std::source_location site = std::source_location::current()) {
    if constexpr (is_hardware)
      world_->fence(std::memory_order_seq_cst);
    else
      world_->heavy_fence(site);
  }

  template <typename Cell, typename Predicate>
  auto await(const Cell& cell, Predicate predicate) {
    return world_->await(cell, predicate);
  }
  template <typename Cell, typename Predicate>
  void await_yielding(const Cell& cell, Predicate predicate) {
    if constexpr (is_hardware) {
      while (!predicate(cell.load(std::memory_order_acquire))) {
        world_->rest();
        sched_yield();
      }
    } else {
      world_->await(cell, predicate);
    }
  }
  template <typename Cell, typename Predicate>
  void try_again(const Cell& cell, Predicate predicate) {
    if constexpr (is_hardware)
      world_->rest();
    else
      world_->await(cell, predicate);
  }
  [[nodiscard]] std::size_t caller() const { return static_cast<std::size_t>(world_->rank()); }
  /// One wait of several sleeps, which together last at most as long as the world lets a rank wait.
  struct sleeping_wait {
    ongoing_wait lasts{{"another rank at a channel"}};
  };
  /// Between two sleeps the rank drives MPI's progress. Throws `stalled` in a wait that has lasted too long.
  void park(sleeping_wait& of, parking_word<node_memory>& word, std::uint32_t seen,
            const channel_deadline& deadline,
            const std::source_location& site = std::source_location::current()) {
    if constexpr (is_hardware) {
      for (int look = 0; look < detail::looks_before_sleep; ++look) {
        if (word.value.load(std::memory_order_acquire) != seen) return;
        world_->rest(of.lasts);
      }
    }
    detail::park(*world_, word, seen, deadline, detail::between_sleeps::drives_progress, site);
  }
  void unpark_one(parking_word<node_memory>& word,
                  const std::source_location& site = std::source_location::current()) {
    detail::unpark(*world_, word, 1, site);
  }
  void unpark_all(parking_word<node_memory>& word,
                  const std::source_location& site = std::source_location::current()) {
    detail::unpark(*world_, word, INT_MAX, site);
  }

 private:
  W* world_;
  int home_;
};

}  // namespace nearfar
