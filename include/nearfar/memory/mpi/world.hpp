/// \file
/// The world of real MPI programs.
///
/// Each world has one far window, opened once by all ranks for passive-target access and divided into 64-byte
/// slots, so that locks need no windows of their own. Each node has one shared-memory window for the near
/// cells. If all ranks share one node, the far window is itself a shared-memory window, which Open MPI and
/// MPICH serve fastest. Otherwise it is created over memory that the ranks of each node share, so that ranks
/// can access their node's far words directly.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "nearfar/core/checks.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/core/lifetime.hpp"
#include "nearfar/core/maybe_torn.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/memory/atomic_cell.hpp"
#include "nearfar/memory/mpi/call.hpp"
#include "nearfar/memory/mpi/far_segment.hpp"
#include "nearfar/memory/mpi/handles.hpp"
#include "nearfar/memory/mpi/transport.hpp"
#include "nearfar/memory/near_segment.hpp"
#include "nearfar/memory/plain_cell.hpp"
#include "nearfar/memory/slab.hpp"
#include "nearfar/memory/waiting.hpp"
#include "nearfar/topology/locality.hpp"
#include "nearfar/topology/spec.hpp"

namespace nearfar::mpi {

/// Options of a world. Every rank must give the same, except `island`.
struct options {
  /// Far memory of each rank in bytes. Each lock's header says how much the lock takes, at most 384.
  std::size_t far_bytes = std::size_t{4} << 20U;
  /// Shared memory of each rank in bytes, taken from /dev/shm when first used.
  std::size_t near_bytes = std::size_t{4} << 20U;
  wait_ratios ratios{};
  /// A topology to use in place of the machine's own. Its nodes must not span real nodes.
  std::optional<topology_spec> topology{};
  /// The name of the island that this rank's node belongs to: the nodes below one switch, which no library
  /// finds by itself. 1 to 63 bytes. All ranks of a node give the same name; all ranks give one, or none
  /// does. Without it the world takes the environment variable NEARFAR_ISLAND, unless that is empty. A
  /// `topology` replaces these islands, too.
  std::optional<std::string> island{};
  /// Whether waiting yields. By default determined from the allowed processors and the ranks on the node.
  std::optional<bool> oversubscribed{};
  /// Whether to refuse a transport that fails the quick self-test.
  bool self_test = true;
  /// A wait that lasts longer throws `stalled`, also in `unlock()`; after that only `MPI_Abort` is a safe
  /// call of MPI. The limit does not apply inside MPI's own calls, nor in the world's destructor, which waits
  /// as long as other ranks work, but not for a rank that has left by an exception. Without a limit ranks
  /// wait for ever.
  std::optional<std::chrono::nanoseconds> stall_limit{};
};

/// A communicator's ranks, with their near and far memory. Cannot be copied or moved, because segments refer
/// to it.
///
/// One thread of each rank uses it, at any thread level of MPI; with MPI_THREAD_FUNNELED the main thread.
/// Constructing and destroying it is collective over the communicator, which it duplicates and otherwise
/// leaves alone.
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
  using far_array = mpi::far_array<world, T>;
  template <typename T>
  using far_segment = mpi::far_segment<world, T>;
  template <typename T>
  using maybe_torn = nearfar::maybe_torn<T>;
  class signal_channel;
  class lock_epoch;
  using release_scope = plain_release_scope;

  /// Throws the following on every rank, so that all may continue without this world:
  ///  - `transport_error` if this MPI installation cannot do what nearfar needs;
  ///  - `topology_error` if the given topology or the names of islands do not fit the ranks;
  ///  - `out_of_memory` for impossible sizes;
  ///  - `collective_mismatch` if ranks give different options;
  ///  - `misuse` for an invalid communicator or an intercommunicator, and before MPI_Init or after
  ///    MPI_Finalize.
  /// Throws `mpi_error` if a call fails.
  explicit world(MPI_Comm comm, const options& chosen = {});
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  /// Waits, driving progress, until every rank destroys its world: a rank that has finished may still be the
  /// home of words that others use. `stall_limit` does not apply, since other ranks may still have much to
  /// do.
  ///
  /// If an exception ends the world, this rank does not wait. It leaks MPI's handles of the world, and tells
  /// the other ranks that it has left, even if the exception is caught and the program continues. Ranks that
  /// wait in their destructors stop waiting, and leak the same handles. Barriers and other collective calls
  /// of the world, including the constructors of locks, throw `rank_left`, from the first call in which this
  /// rank takes no part. Only `gather_to_first` may return instead, on ranks other than 0. A wait for a lock
  /// that this rank held lasts for ever, or until `stall_limit`. After `stalled` the rank does not tell the
  /// others, because no call of MPI is safe then.
  ///
  /// Otherwise throws `destroyed_while_in_use` if locks or segments still live in it. After that they may
  /// only be destroyed.
  ~world() noexcept(false);

  /// The first part of the destructor: waits for all ranks, then frees MPI's handles of the world. Afterwards
  /// the objects that live in the world may only be destroyed. For callers that learn that MPI is about to
  /// end. Collective. Throws `rank_left`.
  void close();

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] const class locality& locality() const noexcept { return locality_; }

  /// Lets MPI complete operations that other ranks aim at this one. MPI_Iprobe does so on every
  /// implementation, if its communicator carries no messages. On one that carries messages, Open MPI returns
  /// without progress once a message is there.
  void progress() {
    int found = 0;
    check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, progress_comm_.get(), &found, MPI_STATUS_IGNORE),
          "MPI_Iprobe");
  }

  /// Collective; drives progress while it waits, and yields if oversubscribed.
  void barrier();

  /// Whether `mine` is the same on every rank. Collective.
  [[nodiscard]] bool all_alike(std::int64_t mine);

  /// The element-wise sum over all ranks. Collective.
  [[nodiscard]] std::vector<std::int64_t> sum_over_ranks(std::vector<std::int64_t> values);

  /// `mine` of every rank, in rank order. Collective.
  [[nodiscard]] std::vector<std::int64_t> gather_to_all(std::int64_t mine);

  /// The same for rank 0; other ranks get nothing. Collective.
  [[nodiscard]] std::vector<std::int64_t> gather_to_first(std::int64_t mine);

  /// Whether the machine itself, and not an override, puts all ranks on one node.
  [[nodiscard]] bool one_physical_node() const { return physical_node_.size() == size_; }

  /// The number of ranks and processors of this rank's machine.
  [[nodiscard]] processor_share processors() const noexcept { return processors_; }

  // For segments.

  [[nodiscard]] lent_memory allocate_near(std::size_t bytes);
  [[nodiscard]] lent_memory allocate_far(std::size_t bytes);
  /// By which objects that live in this world, such as locks, know whether it has ended.
  [[nodiscard]] std::shared_ptr<const slab> lifetime() const noexcept { return near_slab_; }
  /// Called by pools. AddressSanitizer would only know the accesses of one process.
  static void taken(const std::byte* /*from*/, std::size_t /*bytes*/) noexcept {}
  static void given_back(const std::byte* /*from*/, std::size_t /*bytes*/,
                         std::source_location /*site*/ = std::source_location::current()) noexcept {}
  [[nodiscard]] std::byte* near_memory(int rank) const { return reachable(near_memory_, rank); }
  [[nodiscard]] std::byte* far_memory(int rank) const { return reachable(far_memory_, rank); }
  [[nodiscard]] std::byte* direct_memory(int rank) const { return far_memory(rank); }
  [[nodiscard]] MPI_Win far_window() const noexcept { return far_window_.get(); }
  /// Displacement of the far memory of `rank` in the far window.
  [[nodiscard]] MPI_Aint far_displacement(int rank) const {
    if constexpr (checked_build) rank = checked_rank(*this, rank);
    return far_displacements_[index(rank)];
  }

 private:
  [[nodiscard]] static std::size_t index(int rank) noexcept { return static_cast<std::size_t>(rank); }

  /// Finds the ranks and their places, and checks that they can work together. Collective.
  void find_ranks();

  void make_windows();

  /// Windows of lock epochs, in the order in which all ranks made them, and which of them have no lock now.
  /// Each vector has room for what is added where nothing may throw.
  struct window_store {
    static constexpr std::size_t windows_of_world = 3;

    window_store() { made.reserve(windows_of_world); }

    std::vector<window> made;
    std::vector<std::size_t> free;
  };

  /// Collective. For errors that all ranks throw, since the handles' own destructors do nothing then.
  void free_handles();
  /// For a rank that has left, or would wait for one that has: leaks the communicators, and leaves the
  /// windows to MPI_Finalize.
  void leave_handles() noexcept;
  /// Counts the worlds that this process makes: ranks make those that they have in common in the same order.
  [[nodiscard]] static std::uint64_t next_order() noexcept;
  /// Index in `lock_windows_` of a window for a lock, to which it returns. Collective if all have locks.
  [[nodiscard]] std::size_t take_lock_window(int home);
  /// Keeps the buffer for ever if MPI may still write to it.
  void keep_buffer() noexcept;

  lent_memory allocate(const std::shared_ptr<slab>& memory, std::size_t bytes, std::byte* base,
                       const window& of, const slab_request& wanted);

  [[nodiscard]] std::byte* reachable(const std::vector<std::byte*>& memory, int rank) const {
    if constexpr (checked_build)
      if (rank < 0 || rank >= size_ || memory[index(rank)] == nullptr)
        detail::throw_no_shared_memory(rank, rank_);
    return memory[index(rank)];
  }

  [[nodiscard]] std::vector<std::int64_t> reduce_over_ranks(std::vector<std::int64_t> values,
                                                            MPI_Op operation);

  /// A rank that has left the world, and in how many of its collective calls it has taken part.
  struct departure {
    int rank = 0;
    std::int64_t calls = 0;
  };

  /// Tells the other ranks that this one will not take part in any further collective call.
  void tell_of_leaving() noexcept;
  /// Throws `rank_left` if another rank has told that it left before the collective call of now. A rank that
  /// took part in this call and left after it hinders nobody.
  void expect_all_take_part();

  /// Counts the collective call that `request` has begun, and waits for it with yields. MPI's own wait spins
  /// without yielding, which takes a scheduler's time slice for each step when oversubscribed.
  void complete_collective(MPI_Request& request, awaited what);

  options options_;
  communicator comm_;
  communicator progress_comm_;
  int rank_;
  int size_;
  communicator physical_node_;
  processor_share processors_;
  nearfar::locality locality_ = nearfar::locality::single_node(1);  // until the ranks are known
  communicator node_;
  window near_window_;
  window far_backing_;
  window far_window_;
  std::shared_ptr<window_store> lock_windows_ = std::make_shared<window_store>();
  std::uint64_t order_ = next_order();
  std::vector<std::byte*> near_memory_;
  std::vector<std::byte*> far_memory_;
  std::vector<int> far_displacements_;
  std::shared_ptr<slab> near_slab_ = std::make_shared<slab>(0);
  std::shared_ptr<slab> far_slab_ = std::make_shared<slab>(0);
  std::shared_ptr<slab> tags_;
  std::size_t tag_of_leaving_;
  /// How many collective calls this rank has begun. All ranks make the same calls in the same order. Outside
  /// the world, so that a message about it may outlive the world.
  std::unique_ptr<std::int64_t> collective_calls_ = std::make_unique<std::int64_t>(0);
  std::optional<departure> first_to_leave_;  ///< of those that have told, the one with the fewest calls
  bool has_given_up_ = false;  ///< on a collective operation in which a rank that has left does not take part
  /// Buffer of collective operations. A member, so that it outlives an operation that is given up.
  std::vector<std::int64_t> exchanged_;
};

/// Zero-byte messages with a tag of their own. Making one is collective.
class world::signal_channel {
 public:
  explicit signal_channel(world& w);
  signal_channel(const signal_channel&) = delete;
  signal_channel& operator=(const signal_channel&) = delete;
  ~signal_channel() = default;

  /// Wakes `rank`. Eager: returns without waiting for the receiver.
  void signal(int rank) {
    if constexpr (checked_build) {
      tag_.expect_world();
      rank = checked_rank(*world_, rank);
    }
    check(MPI_Send(nullptr, 0, MPI_BYTE, rank, tag(), world_->comm_.get()), "MPI_Send");
  }

  /// Waits for a signal from `rank`, or from any rank if it is `any_rank`. Ordered after what the sender
  /// completed before it sent.
  void await_signal(int rank);
  /// The same, at most until the deadline. Returns whether a signal came; later signals stay for the next
  /// wait.
  [[nodiscard]] bool await_signal_until(std::chrono::nanoseconds until, int rank);

 private:
  /// Waits for a signal without taking it, and returns its sender. A receive from MPI_ANY_SOURCE would do
  /// both, but on MPICH 5.0.2 over UCX it never ends once there are several nodes. A receive that is given up
  /// would have to be cancelled, and may still take a signal.
  template <typename Until>
  [[nodiscard]] std::optional<int> find_signal(int rank, Until until);
  void take_signal(int rank);
  [[nodiscard]] int tag() const noexcept { return static_cast<int>(tag_.offset()); }

  world* world_;
  lent_memory tag_;
};

/// MPI's own lock for a target's memory. It needs a window of its own, since MPI does not allow it inside the
/// far window's epoch. Making one is collective and synchronises. Each rank destroys its
/// lock epochs before all make the next one, in any order; later ones use the windows of those that are gone.
class world::lock_epoch {
 public:
  lock_epoch(world& w, int home);
  lock_epoch(const lock_epoch&) = delete;
  lock_epoch& operator=(const lock_epoch&) = delete;
  /// Does not free the window: this would wait for all ranks, of which one may have left the world.
  ~lock_epoch() { store_->free.push_back(index_); }

  void begin() { begin_as(MPI_LOCK_EXCLUSIVE); }
  /// Shares the lock with other ranks that call this.
  void begin_shared() { begin_as(MPI_LOCK_SHARED); }
  void end() { check(MPI_Win_unlock(home_, window_), "MPI_Win_unlock"); }

 private:
  /// MPI_Win_lock alone may return before the lock is held; the completed read after it cannot (MPI 3.1,
  /// 11.5.3).
  void begin_as(int lock_type) {
    check(MPI_Win_lock(lock_type, home_, 0, window_), "MPI_Win_lock");
    std::uint64_t ignored = 0;
    check(MPI_Get(&ignored, 1, MPI_UINT64_T, home_, 0, 1, MPI_UINT64_T, window_), "MPI_Get");
    check(MPI_Win_flush(home_, window_), "MPI_Win_flush");
  }

  int home_;
  std::shared_ptr<window_store> store_;
  std::size_t index_;
  MPI_Win window_;
};

static_assert(nearfar::world<world>);
static_assert(nearfar::detail::tells_its_end<world>);
static_assert(has_lock_epochs<world>);

}  // namespace nearfar::mpi
