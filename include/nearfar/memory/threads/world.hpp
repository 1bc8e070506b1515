/// \file
/// The world of the threads of one process: the same near cells and far words, both in ordinary memory.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "nearfar/core/agreement.hpp"
#include "nearfar/core/checks.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/core/lifetime.hpp"
#include "nearfar/core/maybe_torn.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/memory/atomic_cell.hpp"
#include "nearfar/memory/near_segment.hpp"
#include "nearfar/memory/plain_cell.hpp"
#include "nearfar/memory/sanitized_memory.hpp"
#include "nearfar/memory/slab.hpp"
#include "nearfar/memory/threads/far_segment.hpp"
#include "nearfar/memory/waiting.hpp"
#include "nearfar/topology/hardware.hpp"
#include "nearfar/topology/locality.hpp"
#include "nearfar/topology/spec.hpp"

namespace nearfar::threads {

/// Options of a team.
struct options {
  /// Address space for each rank's near and far words in bytes, rounded up to whole cache lines. Memory is
  /// used only as it is touched.
  std::size_t bytes = std::size_t{16} << 20U;
  wait_ratios ratios{};
  /// A topology to use in place of the machine's own. With several nodes, a rank can access near memory of
  /// its own node only.
  std::optional<topology_spec> topology{};
  /// Whether waiting yields. By default determined from the allowed processors.
  std::optional<bool> oversubscribed{};
  /// Whether to bind rank r to the r-th allowed core, if there are enough cores.
  bool bind = false;
  /// A wait that lasts longer throws `stalled`, also in `unlock()`. Without a limit ranks wait for ever.
  std::optional<std::chrono::nanoseconds> stall_limit{};
};

/// Another thread of the team ended with an exception, so a wait for it would never end. Every waiting rank
/// throws it; `run` rethrows the original exception instead of this one.
struct team_stopped : error {
  using error::error;
};

class world;

/// The state that the ranks of one team share.
class team {
 public:
  team(int ranks, const options& chosen);
  team(const team&) = delete;
  team& operator=(const team&) = delete;
  ~team() { munmap(memory_, bytes()); }

 private:
  friend class world;
  friend void run(int ranks, const std::function<void(world&)>& body, const options& chosen);

  [[nodiscard]] std::size_t bytes() const noexcept {
    return options_.bytes * static_cast<std::size_t>(ranks_);
  }

  struct alignas(cache_line) arrival {
    atomic_cell<std::uint64_t> count;
    alignas(cache_line) atomic_cell<std::uint64_t> round;
  };

  int ranks_;
  options options_;
  hardware hardware_;
  bool bind_;
  nearfar::locality locality_;
  std::byte* memory_;
  arrival barrier_{};
  std::vector<std::vector<std::int64_t>> exchanged_;  ///< the contribution of each rank
  atomic_cell<bool> stopped_{};
  atomic_cell<bool> differs_{};  ///< whether ranks were in different collective calls at once
};

/// One rank's view of its team; lives in that rank's thread.
class world : public waiting<world> {
 public:
  template <typename T>
  using near = atomic_cell<T>;
  template <typename T>
  using plain = plain_cell<T>;
  template <typename T>
  using near_array = nearfar::near_array<world, T>;
  template <typename T>
  using near_segment = nearfar::near_segment<world, T>;
  template <typename T>
  using far_array = threads::far_array<world, T>;
  template <typename T>
  using far_segment = threads::far_segment<world, T>;
  template <typename T>
  using maybe_torn = nearfar::maybe_torn<T>;
  class signal_channel;

  world(team& of, int rank) : team_(&of), rank_(rank), slab_(std::make_shared<slab>(of.options_.bytes)) {
    if (of.bind_) of.hardware_.bind_this_thread_to_core(rank);
    const bool crowded = of.ranks_ > of.hardware_.allowed_cpus();
    set_waiting(of.options_.ratios, of.options_.oversubscribed.value_or(crowded), of.options_.stall_limit);
  }
  world(const world&) = delete;
  world& operator=(const world&) = delete;
  /// If an exception ends the world, ranks that wait for this one, now or later, throw `team_stopped`, even
  /// if the exception is caught and the thread continues. Otherwise throws `destroyed_while_in_use` if locks
  /// or segments still live in it; after that they may only be destroyed.
  ~world() noexcept(false) {
    slab_->note_end_of_world();
    if (std::uncaught_exceptions() != exceptions_before_)
      team_->stopped_.store(true, std::memory_order_release);
    else if (slab_->used() != 0)
      throw destroyed_while_in_use("a world was destroyed before the locks in it: destroy the locks first");
  }

  /// Tells, also after the world's end, whether it has ended.
  [[nodiscard]] std::shared_ptr<const slab> lifetime() const noexcept { return slab_; }

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return team_->ranks_; }
  [[nodiscard]] const class locality& locality() const noexcept { return team_->locality_; }

  /// While an object lives, this rank's waits do not notice that the team has stopped. They end all the same:
  /// a rank that is in a queue registers without waiting for another rank.
  class release_scope {
   public:
    explicit release_scope(world& w) noexcept : world_(&w), before_(std::exchange(w.releasing_, true)) {}
    release_scope(const release_scope&) = delete;
    release_scope& operator=(const release_scope&) = delete;
    ~release_scope() { world_->releasing_ = before_; }

   private:
    world* world_;
    bool before_;
  };

  /// Drives nothing, but notices that the team cannot go on.
  void progress() const {
    // Pairs with the stores, so that a rank sees why the team stopped.
    if (!team_->stopped_.load(std::memory_order_acquire) || releasing_) return;
    if (team_->differs_.load(std::memory_order_relaxed)) throw_mismatch();
    throw team_stopped("another thread of the team ended with an exception");
  }

  /// Collective. Throws `collective_mismatch` on every rank if another rank is in another collective call.
  void barrier() { meet(purpose::synchronise); }

  /// `mine` of every rank, in rank order. Collective.
  [[nodiscard]] std::vector<std::int64_t> gather_to_all(std::int64_t mine) {
    return exchange({mine}, [this] { return first_of_each(); });
  }

  /// The same for rank 0; other ranks get nothing. Collective.
  [[nodiscard]] std::vector<std::int64_t> gather_to_first(std::int64_t mine) {
    return exchange({mine}, [this] { return rank_ == 0 ? first_of_each() : std::vector<std::int64_t>(); });
  }

  /// Whether `mine` is the same on every rank. Collective.
  [[nodiscard]] bool all_alike(std::int64_t mine) {
    const std::vector<std::int64_t> all = gather_to_all(mine);
    return std::count(all.begin(), all.end(), all.front()) == size();
  }

  /// The element-wise sum over all ranks modulo 2^64. All ranks must give the same number of elements.
  /// Collective.
  [[nodiscard]] std::vector<std::int64_t> sum_over_ranks(std::vector<std::int64_t> values) {
    return exchange(std::move(values), [this] {
      const auto& all = team_->exchanged_;
      std::vector<std::int64_t> sums = all.front();
      for (auto each = std::next(all.begin()); each != all.end(); ++each)
        std::transform(sums.begin(), sums.end(), each->begin(), sums.begin(),
                       [](std::int64_t sum, std::int64_t one) {
                         // An overflow of unsigned numbers is defined.
                         return static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) +
                                                          static_cast<std::uint64_t>(one));
                       });
      return sums;
    });
  }

  // For segments.

  [[nodiscard]] lent_memory allocate_near(std::size_t bytes) { return allocate(bytes, "near memory"); }
  [[nodiscard]] lent_memory allocate_far(std::size_t bytes) { return allocate(bytes, "far memory"); }
  /// Called by pools for memory of this rank. AddressSanitizer reports an access by any rank between
  /// `given_back` and `taken` as an error.
  static void taken(const std::byte* from, std::size_t bytes) noexcept { allow_access(from, bytes); }
  static void given_back(const std::byte* from, std::size_t bytes,
                         std::source_location /*site*/ = std::source_location::current()) noexcept {
    forbid_access(from, bytes);
  }
  /// Memory of a rank of this rank's node.
  [[nodiscard]] std::byte* near_memory(int rank) const {
    if constexpr (checked_build)
      if (rank < 0 || rank >= size() || !locality().same(level::node, rank_, rank))
        detail::throw_no_shared_memory(rank, rank_);
    return far_memory(rank);
  }
  [[nodiscard]] std::byte* direct_memory(int rank) const { return near_memory(rank); }
  /// Memory of any rank, for far operations.
  [[nodiscard]] std::byte* far_memory(int rank) const {
    if constexpr (checked_build) rank = checked_rank(*this, rank);
    return team_->memory_ + static_cast<std::size_t>(rank) * team_->options_.bytes;
  }

 private:
  /// A rank adds it to the count of arrivals: one, and in the upper half one more if the rank gave values.
  enum class purpose : std::uint64_t { synchronise = 1, exchange = 1 | std::uint64_t{1} << 32U };

  /// (1) The arrivals form one release sequence on `count`. The last arrival acquires them all and releases
  /// `round` (2), which the others acquire while they wait.
  void meet(purpose why) {
    progress();  // once a team has stopped, arrivals no longer count
    auto& [count, round] = team_->barrier_;
    const std::uint64_t current = round.load(std::memory_order_relaxed);
    const auto mine = static_cast<std::uint64_t>(why);
    const std::uint64_t arrived = count.fetch_add(mine, std::memory_order_acq_rel) + mine;  // (1)
    const auto ranks = static_cast<std::uint64_t>(size());
    if (static_cast<std::uint32_t>(arrived) == ranks) {
      const std::uint64_t gave = arrived >> 32U;
      if (gave != 0 && gave != ranks) team_->differs_.store(true, std::memory_order_relaxed);
      count.store(0, std::memory_order_relaxed);
      round.store(current + 1, std::memory_order_release);  // (2)
    } else {
      await(round, [current](std::uint64_t value) { return value != current; },  // pairs with (2)
            {"the other ranks in a barrier"});
    }
    if (team_->differs_.load(std::memory_order_relaxed)) throw_mismatch();
  }
  [[noreturn]] static void throw_mismatch() {
    throw collective_mismatch(
        "the ranks of a team are in different collective calls: make each lock, array or channel on all "
        "ranks, in the same order, and call each barrier on all ranks");
  }

  /// Returns what `read` makes of the values that all ranks contribute. The team owns the values until all
  /// ranks have read them, so a rank that leaves with an exception takes nothing away from the others.
  template <typename Read>
  [[nodiscard]] std::vector<std::int64_t> exchange(std::vector<std::int64_t> mine, const Read& read) {
    team_->exchanged_[static_cast<std::size_t>(rank_)] = std::move(mine);
    meet(purpose::exchange);
    std::vector<std::int64_t> result = read();
    meet(purpose::synchronise);
    return result;
  }
  [[nodiscard]] std::vector<std::int64_t> first_of_each() const {
    std::vector<std::int64_t> result;
    for (const std::vector<std::int64_t>& each : team_->exchanged_) result.push_back(each.front());
    return result;
  }

  [[nodiscard]] lent_memory allocate(std::size_t bytes, const char* what) {
    const std::size_t offset =
        allocate_alike(*this, *slab_, bytes, {what, "bytes", "raise nearfar::threads::options::bytes"});
    std::byte* const begin = far_memory(rank_) + offset;
    lent_memory result(slab_, offset, bytes, begin);
    std::fill_n(begin, bytes, std::byte{0});
    barrier();
    return result;
  }

  team* team_;
  int rank_;
  std::shared_ptr<slab> slab_;
  int exceptions_before_ = std::uncaught_exceptions();
  bool releasing_ = false;
};

/// Counts of undelivered signals, one for each sender and receiver. Making one is collective.
class world::signal_channel {
 public:
  explicit signal_channel(world& w)
      : world_(&w),
        memory_(w.allocate(mailbox_bytes(w.size()), "a signal channel")),
        taken_(index(w.size())) {
    for (int from = 0; from < w.size(); ++from) ::new (&mailbox(w.rank(), from)) counter;
    w.barrier();
  }
  signal_channel(const signal_channel&) = delete;
  signal_channel& operator=(const signal_channel&) = delete;
  ~signal_channel() = default;

  /// Wakes `rank` (1).
  void signal(int rank) {
    if constexpr (checked_build) memory_.expect_world();
    mailbox(rank, world_->rank()).fetch_add(1, std::memory_order_release);
  }

  /// Waits for a signal from `rank`, or from any rank if it is `any_rank`; pairs with (1).
  void await_signal(int rank) { static_cast<void>(take_signal(rank, wait_for_ever{})); }
  /// The same, at most until the deadline. Returns whether a signal came; later signals stay for the next
  /// wait.
  [[nodiscard]] bool await_signal_until(std::chrono::nanoseconds until, int rank) {
    return take_signal(rank, wait_until{until});
  }

 private:
  using counter = atomic_cell<std::uint32_t>;

  [[nodiscard]] static std::size_t index(int rank) noexcept { return static_cast<std::size_t>(rank); }
  [[nodiscard]] static std::size_t mailbox_bytes(int ranks) noexcept {
    return index(ranks) * sizeof(counter);
  }
  [[nodiscard]] counter& mailbox(int to, int from) const {
    return reinterpret_cast<counter*>(world_->far_memory(to) + memory_.offset())[from];
  }

  template <typename Until>
  bool take_signal(int rank, Until until) {
    if constexpr (checked_build) memory_.expect_world();
    const awaited what{"a signal", rank};
    if (rank != any_rank) {
      const counter& sent = mailbox(world_->rank(), checked_rank(*world_, rank));
      std::uint32_t& taken = taken_[index(rank)];
      return world_->poll([&] { return take_one(sent, taken); }, std::identity{}, what, until).has_value();
    }
    const auto take_any = [this] {
      int from = 0;
      while (from < world_->size() && !take_one(mailbox(world_->rank(), from), taken_[index(from)])) ++from;
      return from < world_->size();
    };
    return world_->poll(take_any, std::identity{}, what, until).has_value();
  }
  [[nodiscard]] static bool take_one(const counter& sent, std::uint32_t& taken) {
    if (sent.load(std::memory_order_acquire) == taken) return false;
    ++taken;
    return true;
  }

  world* world_;
  lent_memory memory_;
  std::vector<std::uint32_t> taken_;
};

inline team::team(int ranks, const options& chosen)
    : ranks_(ranks),
      options_(chosen),
      bind_(options_.bind && hardware_.is_this_system() && ranks <= hardware_.allowed_cores()),
      locality_(options_.topology ? options_.topology->place(ranks) : nearfar::locality::single_node(ranks)),
      memory_(nullptr),
      exchanged_(static_cast<std::size_t>(ranks)) {
  constexpr const char* option = "nearfar::threads::options::bytes";
  options_.bytes = slab_bytes(options_.bytes, ranks, option);
  void* mapped =
      mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    throw out_of_memory("the system has no address space for " + std::to_string(options_.bytes) +
                        " bytes of lock memory for each of " + std::to_string(ranks) + " threads: lower " +
                        option);
  memory_ = static_cast<std::byte*>(mapped);
}

/// Runs `body` in `ranks` threads, each with its own world, and returns when all have ended. If bodies end
/// with exceptions, `run` rethrows that of the lowest rank; ranks that wait for them end with `team_stopped`.
inline void run(int ranks, const std::function<void(world&)>& body, const options& chosen = {}) {
  if (ranks < 1) throw topology_error("a team needs at least one thread, not " + std::to_string(ranks));
  team shared(ranks, chosen);
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(std::max(ranks, 0)));
  const auto rank_body = [&](int rank) {
    try {
      world w(shared, rank);
      body(w);
      w.barrier();
    } catch (const team_stopped&) {
    } catch (...) {
      thrown[static_cast<std::size_t>(rank)] = std::current_exception();
      shared.stopped_.store(true, std::memory_order_release);
    }
  };
  {
    std::vector<std::jthread> threads;
    threads.reserve(static_cast<std::size_t>(ranks));
    // Threads that have started must not wait for ones that have not.
    const auto give_up = [&] {
      shared.stopped_.store(true, std::memory_order_release);
      threads.clear();
    };
    try {
      for (int rank = 0; rank < ranks; ++rank) threads.emplace_back(rank_body, rank);
    } catch (const std::system_error&) {
      give_up();
      throw topology_error("the system does not let this process start " + std::to_string(ranks) +
                           " threads");
    } catch (...) {
      give_up();
      throw;
    }
  }
  for (const std::exception_ptr& one : thrown)
    if (one) std::rethrow_exception(one);
}

static_assert(nearfar::world<world>);
static_assert(nearfar::detail::tells_its_end<world>);

}  // namespace nearfar::threads
