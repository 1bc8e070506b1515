/// \file
/// The ranks of an engine's world: their fibres, the memory that they share, and the decisions that a
/// substrate makes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <vector>

#include "nearfar/core/error.hpp"
#include "nearfar/engine/fibre.hpp"
#include "nearfar/engine/field_names.hpp"
#include "nearfar/engine/operation.hpp"
#include "nearfar/topology/locality.hpp"

namespace nearfar::engine {

class world;

/// No rank can go on although some have not ended. The text says which rank waits for what.
struct deadlock : error {
  using error::error;
};

/// The place of a word, for messages: "far_queue.tail" of a rank.
struct word_name {
  std::string text;
  int rank = 0;
};

/// A time by the clock of the world; empty for a wait without end.
using deadline = std::optional<std::chrono::nanoseconds>;

/// The operations that worlds ask for, from the fibre of the rank that asks.
class operations {
 public:
  /// Performs a near or direct operation and returns what the word held before. For an object, reads the
  /// value from `origin` or writes it to `result`, and returns no meaningful value.
  virtual std::uint64_t perform(const operation& what) = 0;
  /// Starts an RMA operation.
  virtual void issue(const operation& what) = 0;
  /// Completes this rank's RMA operations at `target`.
  virtual void flush(int target) = 0;
  /// Waits and returns the value that satisfied the predicate.
  virtual std::uint64_t await(const wait& what) = 0;
  /// Waits for one of several words, at the latest until the deadline. Several words must be words in place.
  [[nodiscard]] virtual waited await_any(std::span<const wait> any, deadline until) = 0;
  virtual void signal(int channel, int to) = 0;
  virtual void await_signal(int channel, int from) = 0;
  /// Returns whether a signal came before the deadline.
  [[nodiscard]] virtual bool await_signal_until(int channel, int from, std::chrono::nanoseconds until) = 0;
  /// Waits until the rank holds the epoch of `home`. The rank ends an epoch with the kind with which it began
  /// it.
  virtual void begin_epoch(int epoch, int home, epoch_kind how) = 0;
  virtual void end_epoch(int epoch, int home, epoch_kind how) = 0;
  /// As `std::atomic_thread_fence`, for near cells.
  virtual void fence(std::memory_order order) = 0;
  /// A light and a heavy fence order each other as two sequentially consistent fences do. Two light fences
  /// order nothing.
  virtual void light_fence() = 0;
  virtual void heavy_fence() = 0;

 protected:
  operations() = default;
  ~operations() = default;
};

/// The ranks of one world, which one thread runs. A substrate (the simulated cluster, the model checker)
/// derives from this class and decides when each operation happens and which rank goes on.
///
/// A run depends on the substrate's parameters and the body alone: nothing here looks at a real clock or
/// address.
class substrate : public operations {
 public:
  using rank_body = std::function<void(world&)>;

  /// Gives each rank `bytes` of memory. The system provides a page when a rank touches it.
  substrate(nearfar::locality where, std::size_t bytes, stack_pool& stacks);
  substrate(const substrate&) = delete;
  substrate& operator=(const substrate&) = delete;
  virtual ~substrate();

  [[nodiscard]] int size() const noexcept { return locality_.size(); }
  [[nodiscard]] const nearfar::locality& locality() const noexcept { return locality_; }

  /// The substrate whose rank runs now, for near cells, which do not know their world.
  [[nodiscard]] static substrate& current() noexcept { return *current_; }
  /// The rank that runs now.
  [[nodiscard]] int running() const noexcept { return running_; }

  // Worlds ask for these besides `operations`.

  /// Sets the source location of the next operation. Schedules show it, and tests use it to break one line of
  /// an algorithm.
  substrate& at(const std::source_location& site) noexcept {
    site_ = site;
    return *this;
  }

  /// The location that `at` set.
  [[nodiscard]] const std::source_location& current_site() const noexcept { return site_; }

  virtual void delay(std::chrono::nanoseconds span) = 0;
  virtual void compute(std::chrono::nanoseconds span) = 0;
  virtual void barrier() = 0;
  [[nodiscard]] virtual std::chrono::nanoseconds now() = 0;
  /// As `now`, for a time that nothing but a wait or a pause depends on.
  [[nodiscard]] virtual std::chrono::nanoseconds now_for_waiting() { return now(); }
  /// The running rank has ended a turn of a benchmark's loop at `at`. Returns when its next turn begins.
  [[nodiscard]] virtual std::chrono::nanoseconds after_turn(std::chrono::nanoseconds at) { return at; }
  /// Returns one of the given number of possibilities, counted from 0. Called where nothing in the program
  /// decides between them.
  [[nodiscard]] virtual int choose(int /*possibilities*/) { return 0; }
  /// Whether the running rank, which is about to sleep, wakes up spuriously at once.
  [[nodiscard]] virtual bool wakes_for_no_reason() { return false; }
  /// Where the running rank is while it sleeps, if its sleep drives no progress.
  [[nodiscard]] virtual sleep_place begins_sleep() { return sleep_place::in_library; }
  /// Whether the running rank, which is about to sleep, compares the word with the value that it has seen.
  /// Only a mutant does not.
  [[nodiscard]] virtual bool looks_before_sleep() { return true; }
  /// How many ranks the running rank wakes when the algorithm asks for `most`. A mutant wakes fewer.
  [[nodiscard]] virtual int to_wake(int most) { return most; }
  /// The running rank has woken ranks that slept on a word. Bit r of `ranks` stands for rank r.
  virtual void note_woken(const std::uint64_t* /*word*/, std::uint64_t /*ranks*/) {}
  /// The memory of a rank has been zeroed, for new words that have nothing to do with the old ones.
  virtual void cleared(const std::byte* /*from*/, std::size_t /*bytes*/) {}
  /// The running rank accesses data that is not atomic.
  virtual void access(const plain_access& /*what*/) {}
  /// The running rank takes memory of its own out of a pool, or gives it back.
  virtual void taken(const std::byte* /*from*/, std::size_t /*bytes*/) {}
  virtual void given_back(const std::byte* /*from*/, std::size_t /*bytes*/) {}
  /// The running rank treats as whole a value whose words came from these writers.
  virtual void confirmed(const std::uint64_t* /*writers*/, std::size_t /*words*/) {}

  // Collective helpers over `barrier`.

  [[nodiscard]] std::vector<std::int64_t> gather_to_all(std::int64_t mine);
  [[nodiscard]] std::vector<std::int64_t> gather_to_first(std::int64_t mine);
  [[nodiscard]] std::vector<std::int64_t> sum_over_ranks(std::vector<std::int64_t> mine);
  /// Whether every rank passes the same value.
  [[nodiscard]] bool all_alike(std::int64_t mine);

  /// The memory of a rank.
  [[nodiscard]] std::byte* memory(int rank) const noexcept {
    return memory_ + static_cast<std::size_t>(rank) * bytes_;
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// Records what lies at `offset` in every rank's memory: `count` elements of `layout`.
  void describe(std::size_t offset, const layout_names& layout, std::size_t count = 1);
  /// The name of a word in the ranks' memory.
  [[nodiscard]] word_name name_of(const void* word) const;

 protected:
  /// Makes a fibre for each rank, suspended at its beginning.
  void start(const rank_body& body);
  /// Runs a rank until it suspends or ends.
  void resume(int rank) {
    running_ = rank;
    fibres_[static_cast<std::size_t>(rank)]->resume();
    running_ = nobody_runs;
  }
  /// Returns to the code that resumed the running rank.
  void suspend() {
    const int rank = running_;
    fibres_[static_cast<std::size_t>(rank)]->suspend();
  }
  /// Ends the running rank where it is, without unwinding. For a rank that is being unwound while its
  /// destructors wait for something that will not happen. Everything that those objects hold is lost.
  [[noreturn]] void drop() { fibres_[static_cast<std::size_t>(running_)]->drop(); }
  [[nodiscard]] const fibre& fibre_of(int rank) const { return *fibres_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] bool has_ended(int rank) const { return fibre_of(rank).ended(); }
  /// Ends all ranks, then rethrows the exception of the lowest rank that threw one.
  void finish();
  /// Ends all ranks where they are.
  void abandon() noexcept;

  [[nodiscard]] std::size_t word_index(const void* word) const noexcept {
    return static_cast<std::size_t>(static_cast<const std::byte*>(word) - memory_) / sizeof(std::uint64_t);
  }

  static constexpr int nobody_runs = -1;

 private:
  struct described {
    std::size_t offset;
    const layout_names* layout;
    std::size_t count;
    int ordinal;
  };

  /// Makes this substrate the current one for as long as one of its ranks may run.
  friend class current_substrate;
  static thread_local substrate* current_;

  nearfar::locality locality_;
  std::size_t bytes_;
  std::byte* memory_;
  stack_pool* stacks_;
  rank_body body_;
  std::vector<std::unique_ptr<fibre>> fibres_;
  std::vector<std::int64_t> exchanged_;
  std::vector<std::int64_t> sums_;
  int in_sums_ = 0;  // ranks whose values are in `sums_`
  std::uint64_t disagreements_ = 0;
  std::vector<described> described_;
  std::source_location site_;
  int running_ = nobody_runs;
};

/// Makes a substrate current in a scope.
class current_substrate {
 public:
  explicit current_substrate(substrate& of) : before_(substrate::current_) { substrate::current_ = &of; }
  current_substrate(const current_substrate&) = delete;
  current_substrate& operator=(const current_substrate&) = delete;
  ~current_substrate() { substrate::current_ = before_; }

 private:
  substrate* before_;
};

}  // namespace nearfar::engine
