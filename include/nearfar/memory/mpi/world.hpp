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

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "nearfar/core/agreement.hpp"
#include "nearfar/core/checks.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/memory/atomic_cell.hpp"
#include "nearfar/memory/mpi/call.hpp"
#include "nearfar/memory/mpi/far_segment.hpp"
#include "nearfar/memory/mpi/handles.hpp"
#include "nearfar/memory/mpi/self_test.hpp"
#include "nearfar/memory/mpi/transport.hpp"
#include "nearfar/memory/near_segment.hpp"
#include "nearfar/memory/slab.hpp"
#include "nearfar/memory/waiting.hpp"
#include "nearfar/topology/hardware.hpp"
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
  /// `MPI_Abort` is safe. Does not count inside MPI's own calls, nor in the world's destructor. Without a
  /// limit ranks wait for ever.
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
  using near_segment = nearfar::near_segment<world, T>;
  template <typename T>
  using far_segment = mpi::far_segment<world, T>;
  class signal_channel;
  class exclusive_epoch;
  using release_scope = plain_release_scope;

  /// Throws `transport_error` when this MPI installation cannot do what nearfar needs, `topology_error` when
  /// the given topology does not fit the ranks, `out_of_memory` for sizes that cannot be,
  /// `collective_mismatch` when ranks give different options, `misuse` for a communicator that is none or an
  /// intercommunicator: these on every rank, so that all may go on without this world. Throws `mpi_error`
  /// when a call fails.
  explicit world(MPI_Comm comm, const options& chosen = {})
      : options_(chosen),
        comm_(communicator::duplicate(intracommunicator(comm))),
        progress_comm_(communicator::duplicate(comm)),
        rank_(comm_.rank()),
        size_(comm_.size()),
        tags_(static_cast<std::size_t>(largest_tag()) + 1, 1) {
    try {
      find_ranks();
      make_windows();
      if (options_.self_test) quick_self_test(*this);
    } catch (const mpi_error&) {
      throw;  // perhaps by this rank alone
    } catch (const error&) {
      free_handles();  // which all ranks do, and while no exception is on its way
      throw;
    }
  }
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  /// Waits, progressing, until every rank destroys its world: a rank that has finished may still be the home
  /// of words that others use.
  ~world() noexcept(!checked_build) {
    if (!may_free_collectively()) return;
    wait_without_limit();
    barrier();
    if constexpr (checked_build) {
      if (near_slab_.used() + far_slab_.used() == 0) return;
      // Before the exception, during which nothing collective is done.
      free_handles();
      throw destroyed_while_in_use("a world was destroyed before the locks in it: destroy the locks first");
    }
  }

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
  void barrier() {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ibarrier(comm_.get(), &request), "MPI_Ibarrier");
    complete(request, {"the other ranks in a barrier"});
  }

  /// Whether `mine` is the same on every rank. Collective.
  [[nodiscard]] bool all_alike(std::int64_t mine) {
    const std::vector<std::int64_t> bounds = reduce_over_ranks({mine, ~mine}, MPI_MAX);
    return bounds[0] == ~bounds[1];
  }

  /// The sum over all ranks of each element. Collective.
  [[nodiscard]] std::vector<std::int64_t> sum_over_ranks(std::vector<std::int64_t> values) {
    return reduce_over_ranks(std::move(values), MPI_SUM);
  }

  /// `mine` of every rank, in rank order. Collective.
  [[nodiscard]] std::vector<std::int64_t> gather_to_all(std::int64_t mine) {
    exchanged_.assign(index(size_), mine);
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_INT64_T, exchanged_.data(), 1, MPI_INT64_T, comm_.get(),
                         &request),
          "MPI_Iallgather");
    complete(request, {"the other ranks in a collective operation"});
    return std::move(exchanged_);
  }

  /// Whether the machine, not an override, puts all ranks on one node.
  [[nodiscard]] bool one_physical_node() const { return physical_node_.size() == size_; }

  /// The ranks and processors of this rank's machine.
  [[nodiscard]] processor_share processors() const noexcept { return processors_; }

  // What segments are made of.

  [[nodiscard]] std::size_t allocate_near(std::size_t bytes) {
    return allocate(near_slab_, bytes, near_memory_[index(rank_)], near_window_,
                    {"near memory", "bytes", "raise nearfar::mpi::options::near_bytes"});
  }
  [[nodiscard]] std::size_t allocate_far(std::size_t bytes) {
    return allocate(far_slab_, bytes, far_memory_[index(rank_)], far_window_,
                    {"far memory", "bytes", "raise nearfar::mpi::options::far_bytes"});
  }
  void release_near(std::size_t offset, std::size_t bytes) { near_slab_.release(offset, bytes); }
  void release_far(std::size_t offset, std::size_t bytes) { far_slab_.release(offset, bytes); }
  [[nodiscard]] std::byte* near_memory(int rank) const { return reachable(near_memory_, rank); }
  [[nodiscard]] std::byte* far_memory(int rank) const { return reachable(far_memory_, rank); }
  [[nodiscard]] MPI_Win far_window() const noexcept { return far_window_.get(); }
  /// Displacement of the far memory of `rank` in the far window.
  [[nodiscard]] MPI_Aint far_displacement(int rank) const {
    if constexpr (checked_build) rank = checked_rank(*this, rank);
    return far_displacements_[index(rank)];
  }

 private:
  [[nodiscard]] static std::size_t index(int rank) noexcept { return static_cast<std::size_t>(rank); }

  [[nodiscard]] static MPI_Comm intracommunicator(MPI_Comm comm) {
    if (comm == MPI_COMM_NULL) throw misuse("a world of no ranks: MPI_COMM_NULL");
    int is_inter = 0;
    check(MPI_Comm_test_inter(comm, &is_inter), "MPI_Comm_test_inter");
    if (is_inter != 0)
      throw misuse(
          "a world of an intercommunicator, whose two groups have no ranks in common: merge them by "
          "MPI_Intercomm_merge");
    return comm;
  }

  /// Who takes part, where they are, and whether they can work together. Collective.
  void find_ranks() {
    expect_alike(*this,
                 "a world with " +
                     (options_.topology ? "topology " + options_.topology->to_string() : "no topology given"),
                 {{"far_bytes", static_cast<std::int64_t>(options_.far_bytes)},
                  {"near_bytes", static_cast<std::int64_t>(options_.near_bytes)},
                  {"self_test", options_.self_test ? 1 : 0}});
    std::optional<hardware> here;
    place mine{};
    agree([&] {
      require_thread_level();
      options_.far_bytes = slab_bytes(options_.far_bytes, size_, "nearfar::mpi::options::far_bytes");
      options_.near_bytes = slab_bytes(options_.near_bytes, size_, "nearfar::mpi::options::near_bytes");
      here.emplace();
      mine = here->this_thread_place();
    });
    far_slab_ = slab(options_.far_bytes);
    near_slab_ = slab(options_.near_bytes);
    physical_node_ = communicator::shared_memory(comm_.get());
    processors_ = count_processors(comm_.get(), *here);
    set_waiting(options_.ratios, options_.oversubscribed.value_or(processors_.oversubscribed()),
                options_.stall_limit);
    mine[static_cast<std::size_t>(level::node)] = index_of_physical_node();
    const std::vector<int> flat = comm_.gather_to_all({mine.begin(), mine.end()});
    std::vector<place> places(index(size_));
    for (std::size_t r = 0; r < places.size(); ++r)
      std::copy_n(flat.begin() + static_cast<std::ptrdiff_t>(r * mine.size()), mine.size(),
                  places[r].begin());
    agree([&] {
      require_transport(comm_.get(), one_physical_node());
      require_shared_memory(physical_node_.get(), options_.near_bytes + options_.far_bytes);
      locality_ = options_.topology ? virtual_locality(places) : nearfar::locality(places);
    });
    node_ = communicator::split(comm_.get(), locality_.group(level::node, rank_));
  }

  [[nodiscard]] class locality virtual_locality(const std::vector<place>& physical) const {
    constexpr auto node_of = static_cast<std::size_t>(level::node);
    nearfar::locality result = options_.topology->place(size_);
    for (int node = 0; node < result.groups(level::node); ++node)
      for (const int member : result.members(level::node, node))
        if (physical[index(member)][node_of] !=
            physical[index(result.members(level::node, node).front())][node_of])
          throw topology_error(
              "topology '" + options_.topology->to_string() + "' puts rank " + std::to_string(member) +
              " on a node with ranks of another machine: use at least as many nodes as there are");
    return result;
  }

  /// Nodes are numbered by their lowest ranks.
  [[nodiscard]] int index_of_physical_node() const {
    int lowest = rank_;
    check(MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, physical_node_.get()), "MPI_Allreduce");
    const std::vector<int> lowest_of_rank = comm_.gather_to_all({lowest});
    const std::set<int> nodes(lowest_of_rank.begin(), lowest_of_rank.end());
    return static_cast<int>(std::distance(nodes.begin(), nodes.find(lowest)));
  }

  void require_thread_level() const {
    int provided = MPI_THREAD_SINGLE;
    int is_main = 1;
    check(MPI_Query_thread(&provided), "MPI_Query_thread");
    check(MPI_Is_thread_main(&is_main), "MPI_Is_thread_main");
    if (provided < MPI_THREAD_SERIALIZED && is_main == 0)
      throw transport_error(
          "a world is made by a thread that MPI does not allow to call it: ask MPI_Init_thread for "
          "MPI_THREAD_SERIALIZED or more, or make the world in the main thread");
  }

  [[nodiscard]] int largest_tag() const {
    int* bound = nullptr;
    int found = 0;
    check(MPI_Comm_get_attr(comm_.get(), MPI_TAG_UB, static_cast<void*>(&bound), &found),
          "MPI_Comm_get_attr");
    return found != 0 ? *bound : 32767;
  }

  /// Runs `checks`; if they throw on any rank, throws on every one, so that none waits for the others in what
  /// follows. Collective.
  template <typename Checks>
  void agree(Checks checks) const {
    enum kind : char { of_transport, of_topology, of_memory };
    struct {
      kind of = of_transport;
      std::array<char, 511> text{};
    } refusal;
    int failing = size_;
    try {
      checks();
    } catch (const error& problem) {
      if (dynamic_cast<const topology_error*>(&problem) != nullptr) refusal.of = of_topology;
      if (dynamic_cast<const out_of_memory*>(&problem) != nullptr) refusal.of = of_memory;
      std::string(problem.what()).copy(refusal.text.data(), refusal.text.size() - 1);
      failing = rank_;
    }
    check(MPI_Allreduce(MPI_IN_PLACE, &failing, 1, MPI_INT, MPI_MIN, comm_.get()), "MPI_Allreduce");
    if (failing == size_) return;
    check(MPI_Bcast(&refusal, sizeof refusal, MPI_BYTE, failing, comm_.get()), "MPI_Bcast");
    switch (refusal.of) {
      case of_topology:
        throw topology_error(refusal.text.data());
      case of_memory:
        throw out_of_memory(refusal.text.data());
      case of_transport:
        break;
    }
    throw transport_error(refusal.text.data());
  }

  void make_windows() {
    near_window_ = window::allocate_shared(node_.get(), options_.near_bytes);
    near_window_.open();  // MPI_Win_sync is an error outside an epoch
    window& shared_far = one_physical_node() ? far_window_ : far_backing_;
    // The ranks of a virtual node must reach each other's far words, so the mapping follows the physical node
    // there.
    const communicator& sharers = one_physical_node() ? comm_ : physical_node_;
    shared_far = window::allocate_shared(sharers.get(), options_.far_bytes);
    if (!one_physical_node())
      far_window_ = window::create(comm_.get(), far_backing_.base(), options_.far_bytes);
    agree([&] {
      if (!far_window_.is_unified())
        throw transport_error(
            "this MPI library gives its windows separate public and private copies; nearfar needs the "
            "unified memory model: use a cache-coherent machine and transport");
    });
    far_window_.open();

    near_memory_.assign(index(size_), nullptr);
    far_memory_.assign(index(size_), nullptr);
    const auto group = locality_.members(level::node, locality_.group(level::node, rank_));
    far_displacements_ = comm_.gather_to_all({far_window_.displacement()});
    const std::vector<int> sharer_ranks = sharers.gather_to_all({rank_});
    for (std::size_t i = 0; i < group.size(); ++i) {
      near_memory_[index(group[i])] = near_window_.part_of(static_cast<int>(i));
      const auto sharer =
          std::find(sharer_ranks.begin(), sharer_ranks.end(), group[i]) - sharer_ranks.begin();
      far_memory_[index(group[i])] = shared_far.part_of(static_cast<int>(sharer));
    }
  }

  /// Collective; for errors that all ranks throw, since the handles' own destructors do nothing then.
  void free_handles() {
    for (window* made : {&far_window_, &far_backing_, &near_window_}) *made = window();
    for (communicator* made : {&node_, &physical_node_, &progress_comm_, &comm_}) *made = communicator();
  }

  std::size_t allocate(slab& memory, std::size_t bytes, std::byte* base, const window& of,
                       const slab_request& wanted);

  [[nodiscard]] std::byte* reachable(const std::vector<std::byte*>& memory, int rank) const {
    if constexpr (checked_build)
      if (rank < 0 || rank >= size_ || memory[index(rank)] == nullptr)
        throw unreachable_rank("rank " + std::to_string(rank) + " shares no memory with rank " +
                               std::to_string(rank_));
    return memory[index(rank)];
  }

  [[nodiscard]] std::vector<std::int64_t> reduce_over_ranks(std::vector<std::int64_t> values,
                                                            MPI_Op operation) {
    exchanged_ = std::move(values);
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Iallreduce(MPI_IN_PLACE, exchanged_.data(), static_cast<int>(exchanged_.size()), MPI_INT64_T,
                         operation, comm_.get(), &request),
          "MPI_Iallreduce");
    complete(request, {"the other ranks in a collective operation"});
    return std::move(exchanged_);
  }

  /// MPI's own waiting spins without yielding, which takes a scheduler's slice for each step when
  /// oversubscribed.
  void complete(MPI_Request& request, awaited what) {
    int done = 0;
    wait current{what};
    for (;;) {
      check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      if (done != 0) return;
      if (oversubscribed()) sched_yield();
      note_rest(current);
    }
  }

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
  std::vector<std::byte*> near_memory_;
  std::vector<std::byte*> far_memory_;
  std::vector<int> far_displacements_;
  slab near_slab_{0};
  slab far_slab_{0};
  slab tags_;
  /// Buffer of collective operations: here, so that it outlives one that is given up.
  std::vector<std::int64_t> exchanged_;
};

/// Zero-byte messages with a tag of their own. Making one is collective.
class world::signal_channel {
 public:
  explicit signal_channel(world& w)
      : world_(&w),
        tag_(allocate_alike(w, w.tags_, 1,
                            {"a signal channel", "message tags", "destroy locks that are no longer used"})) {}
  signal_channel(const signal_channel&) = delete;
  signal_channel& operator=(const signal_channel&) = delete;
  ~signal_channel() { world_->tags_.release(tag_, 1); }

  /// Wakes `rank`. Eager: returns without waiting for the receiver.
  void signal(int rank) {
    check(MPI_Send(nullptr, 0, MPI_BYTE, rank, tag(), world_->comm_.get()), "MPI_Send");
  }

  /// Waits for a signal from `rank`, or from whoever sends one if it is `any_rank`; ordered after what the
  /// sender completed before.
  void await_signal(int rank) {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Irecv(nullptr, 0, MPI_BYTE, rank == any_rank ? next_sender() : rank, tag(), world_->comm_.get(),
                    &request),
          "MPI_Irecv");
    world_->complete(request, {"a signal", rank});
  }

 private:
  /// Waits for a signal without taking it. A receive from MPI_ANY_SOURCE would do both, but on MPICH 5.0.2
  /// over UCX it never ends once there are several nodes.
  [[nodiscard]] int next_sender() {
    wait current{{"a signal", any_rank}};
    for (;;) {
      int found = 0;
      MPI_Status status;
      check(MPI_Iprobe(MPI_ANY_SOURCE, tag(), world_->comm_.get(), &found, &status), "MPI_Iprobe");
      if (found != 0) return status.MPI_SOURCE;
      if (world_->oversubscribed()) sched_yield();
      world_->note_rest(current);
    }
  }

  [[nodiscard]] int tag() const noexcept { return static_cast<int>(tag_); }

  world* world_;
  std::size_t tag_;
};

/// The lock that MPI has for a target's memory, which takes a window of its own since it cannot be had inside
/// the far window's epoch. Making and destroying one is collective and synchronises.
class world::exclusive_epoch {
 public:
  exclusive_epoch(world& w, int home)
      : home_(agreed(w, home)), window_(window::allocate(w.comm_.get(), slot_bytes)) {}

  /// MPI_Win_lock alone may return before the lock is held; the completed read behind it cannot
  /// (MPI 3.1, 11.5.3).
  void begin() {
    check(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, home_, 0, window_.get()), "MPI_Win_lock");
    std::uint64_t ignored = 0;
    check(MPI_Get(&ignored, 1, MPI_UINT64_T, home_, 0, 1, MPI_UINT64_T, window_.get()), "MPI_Get");
    check(MPI_Win_flush(home_, window_.get()), "MPI_Win_flush");
  }

  void end() { check(MPI_Win_unlock(home_, window_.get()), "MPI_Win_unlock"); }

 private:
  /// `home`, if it is the same on every rank and one of them.
  [[nodiscard]] static int agreed(world& w, int home) {
    expect_alike(w, "an exclusive epoch", {{"home", home}});
    return checked_rank(w, home);
  }

  int home_;
  window window_;
};

inline std::size_t world::allocate(slab& memory, std::size_t bytes, std::byte* base, const window& of,
                                   const slab_request& wanted) {
  const std::size_t offset = allocate_alike(*this, memory, bytes, wanted);
  std::fill_n(base + offset, bytes, std::byte{0});
  check(MPI_Win_sync(of.get()), "MPI_Win_sync");
  barrier();
  return offset;
}

static_assert(nearfar::world<world>);
static_assert(has_exclusive_epochs<world>);

}  // namespace nearfar::mpi
