/// \file
/// The world of real MPI programs.
///
/// One far window for each world, opened once for passive-target access by everybody and divided into 64-byte
/// slots, so that locks cost no windows; one shared-memory window for each node for the near cells. Where all
/// ranks share one node the far window is a shared-memory window itself (which is what Open MPI and MPICH
/// serve fastest); otherwise it is created over memory that the ranks of each node share, so that ranks can
/// reach their node's far words directly.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <utility>
#include <vector>

#include "nearfar/core/checks.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/core/layout.hpp"
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

/// What a world can be told; every rank must give the same.
struct options {
  /// Far memory of each rank in bytes. Each lock's header says what it takes; most take 128.
  std::size_t far_bytes = std::size_t{4} << 20U;
  /// Shared memory of each rank in bytes, taken from /dev/shm when first used.
  std::size_t near_bytes = std::size_t{4} << 20U;
  wait_ratios ratios{};
  /// A tree to use in place of the machine's own. Its nodes must not span real nodes.
  std::optional<topology_spec> topology{};
  /// Whether waiting yields; found out from the allowed processors and the ranks on the node when not given.
  std::optional<bool> oversubscribed{};
  /// Refuse to work on a transport that fails the quick self-test.
  bool self_test = true;
  /// A wait that lasts longer throws `stalled`, one in `unlock()` too; after that no call of MPI but
  /// `MPI_Abort` is safe. Does not count inside MPI's own calls, nor in the world's destructor, which waits
  /// as long as others work, but not for one that has left by an exception. Without a limit ranks wait for
  /// ever.
  std::optional<std::chrono::nanoseconds> stall_limit{};
};

/// A communicator's ranks, with their near and far memory. Neither copied nor moved, as segments refer to it.
///
/// Used by one thread of each rank, at any thread level of MPI; with MPI_THREAD_FUNNELED by the main thread.
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

  /// Throws `transport_error` when this MPI installation cannot do what nearfar needs, `topology_error` when
  /// the given topology does not fit the ranks, `out_of_memory` for sizes that cannot be,
  /// `collective_mismatch` when ranks give different options, `misuse` for a communicator that is none or an
  /// intercommunicator, and before MPI_Init or after MPI_Finalize: these on every rank, so that all may go on
  /// without this world. Throws `mpi_error` when a call fails.
  explicit world(MPI_Comm comm, const options& chosen = {});
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  /// Waits, progressing, until every rank destroys its world: a rank that has finished may still be the home
  /// of words that others use. `stall_limit` does not count, since the others may have much to do still.
  ///
  /// Where an exception ends the world, this rank waits for nobody, leaks what MPI has of the world, and
  /// tells the others that it has left, also if the exception is caught and the program goes on: those that
  /// wait in their destructors do so no longer, and leak the same; barriers and other collective calls of the
  /// world, making a lock among them, throw `rank_left`. A wait for a lock that the rank held lasts for ever,
  /// or until `stall_limit`. Not told after `stalled`, when no call of MPI is safe.
  ///
  /// Else throws `destroyed_while_in_use` if there are locks or segments in it, which may only be destroyed
  /// then.
  ~world() noexcept(false);

  /// What the destructor does first: waits for all ranks, then frees what MPI has of the world. Nothing that
  /// lives in it may do anything afterwards but be destroyed. For who is told that MPI ends; collective.
  /// Throws `rank_left`.
  void close();

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] const class locality& locality() const noexcept { return locality_; }

  /// Lets MPI complete what others aim at this rank. MPI_Iprobe, on a communicator that carries no message,
  /// is what does so on every implementation; on one that carries messages Open MPI returns without progress
  /// once one is there.
  void progress() {
    int found = 0;
    check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, progress_comm_.get(), &found, MPI_STATUS_IGNORE),
          "MPI_Iprobe");
  }

  /// Collective; progresses and, when oversubscribed, yields while it waits.
  void barrier();

  /// Whether `mine` is the same on every rank. Collective.
  [[nodiscard]] bool all_alike(std::int64_t mine);

  /// The sum over all ranks of each element. Collective.
  [[nodiscard]] std::vector<std::int64_t> sum_over_ranks(std::vector<std::int64_t> values);

  /// `mine` of every rank, in rank order. Collective.
  [[nodiscard]] std::vector<std::int64_t> gather_to_all(std::int64_t mine);

  /// The same for rank 0; the others get nothing. Collective.
  [[nodiscard]] std::vector<std::int64_t> gather_to_first(std::int64_t mine);

  /// Whether the machine, not an override, puts all ranks on one node.
  [[nodiscard]] bool one_physical_node() const { return physical_node_.size() == size_; }

  /// The ranks and processors of this rank's machine.
  [[nodiscard]] processor_share processors() const noexcept { return processors_; }

  // What segments are made of.

  [[nodiscard]] lent_memory allocate_near(std::size_t bytes);
  [[nodiscard]] lent_memory allocate_far(std::size_t bytes);
  /// What a pool tells. AddressSanitizer would know of one process' accesses only.
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

  /// Who takes part, where they are, and whether they can work together. Collective.
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

  /// Collective; for errors that all ranks throw, since the handles' own destructors do nothing then.
  void free_handles();
  /// For a rank that has left, or would wait for one that has: leaks the communicators, and leaves the
  /// windows to MPI_Finalize.
  void leave_handles() noexcept;
  /// Counts the worlds that this process makes: ranks make those that they have in common in the same order.
  [[nodiscard]] static std::uint64_t next_order() noexcept;
  /// Index in `lock_windows_` of a window for a lock, to which it returns. Collective if all have locks.
  [[nodiscard]] std::size_t take_lock_window();
  /// For ever, if MPI may still write to it.
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

  /// Tells the others that this rank will not come to anything that is collective.
  void tell_of_leaving() noexcept;
  /// Throws `rank_left` if a rank has told that.
  void expect_nobody_left();

  /// MPI's own waiting spins without yielding, which takes a scheduler's slice for each step when
  /// oversubscribed.
  void complete(MPI_Request& request, awaited what);

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
  bool has_given_up_ = false;  ///< a collective operation, to which a rank that has left does not come
  /// Buffer of collective operations: here, so that it outlives one that is given up.
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
    if constexpr (checked_build) rank = checked_rank(*world_, rank);
    check(MPI_Send(nullptr, 0, MPI_BYTE, rank, tag(), world_->comm_.get()), "MPI_Send");
  }

  /// Waits for a signal from `rank`, or from whoever sends one if it is `any_rank`; ordered after what the
  /// sender completed before.
  void await_signal(int rank);
  /// The same until the deadline at the latest. Returns whether there was one; later ones stay for the next
  /// wait.
  [[nodiscard]] bool await_signal_until(std::chrono::nanoseconds until, int rank);

 private:
  /// Waits for a signal without taking it; says who sent it. A receive from MPI_ANY_SOURCE would do both, but
  /// on MPICH 5.0.2 over UCX it never ends once there are several nodes. A receive that is given up would
  /// have to be cancelled, and may take a signal all the same.
  template <typename Until>
  [[nodiscard]] std::optional<int> find_signal(int rank, Until until);
  void take_signal(int rank);
  [[nodiscard]] int tag() const noexcept { return static_cast<int>(tag_.offset()); }

  world* world_;
  lent_memory tag_;
};

/// The lock that MPI has for a target's memory, which takes a window of its own since it cannot be had inside
/// the far window's epoch. Making one is collective and synchronises. All ranks destroy those of a world in
/// the same order; the windows of those that are gone serve the next ones.
class world::lock_epoch {
 public:
  lock_epoch(world& w, int home);
  lock_epoch(const lock_epoch&) = delete;
  lock_epoch& operator=(const lock_epoch&) = delete;
  /// Does not free the window: this would wait for all ranks, of which one may have left the world.
  ~lock_epoch() { store_->free.push_back(index_); }

  void begin() { begin_as(MPI_LOCK_EXCLUSIVE); }
  /// Together with others that do so.
  void begin_shared() { begin_as(MPI_LOCK_SHARED); }
  void end() { check(MPI_Win_unlock(home_, window_), "MPI_Win_unlock"); }

 private:
  /// MPI_Win_lock alone may return before the lock is held; the completed read behind it cannot
  /// (MPI 3.1, 11.5.3).
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
static_assert(has_lock_epochs<world>);

}  // namespace nearfar::mpi
