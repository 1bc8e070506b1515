#include "nearfar/memory/mpi/world.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "nearfar/core/agreement.hpp"
#include "nearfar/core/checks.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/memory/mpi/call.hpp"
#include "nearfar/memory/mpi/handles.hpp"
#include "nearfar/memory/mpi/self_test.hpp"
#include "nearfar/memory/mpi/transport.hpp"
#include "nearfar/memory/slab.hpp"
#include "nearfar/memory/waiting.hpp"
#include "nearfar/topology/hardware.hpp"
#include "nearfar/topology/level.hpp"
#include "nearfar/topology/locality.hpp"
#include "nearfar/topology/spec.hpp"

namespace nearfar::mpi {

namespace {

MPI_Comm intracommunicator(MPI_Comm comm) {
  if (!is_active()) throw misuse("a world before MPI_Init, or after MPI_Finalize");
  if (comm == MPI_COMM_NULL) throw misuse("a world of no ranks: MPI_COMM_NULL");
  int is_inter = 0;
  check(MPI_Comm_test_inter(comm, &is_inter), "MPI_Comm_test_inter");
  if (is_inter != 0)
    throw misuse(
        "a world of an intercommunicator, whose two groups have no ranks in common: merge them by "
        "MPI_Intercomm_merge");
  return comm;
}

void require_thread_level() {
  int provided = MPI_THREAD_SINGLE;
  int is_main = 1;
  check(MPI_Query_thread(&provided), "MPI_Query_thread");
  check(MPI_Is_thread_main(&is_main), "MPI_Is_thread_main");
  if (provided < MPI_THREAD_SERIALIZED && is_main == 0)
    throw transport_error(
        "MPI does not allow this thread to make a world: ask MPI_Init_thread for MPI_THREAD_SERIALIZED or "
        "more, or make the world in the main thread");
}

int largest_tag(MPI_Comm comm) {
  int* bound = nullptr;
  int found = 0;
  check(MPI_Comm_get_attr(comm, MPI_TAG_UB, static_cast<void*>(&bound), &found), "MPI_Comm_get_attr");
  return found != 0 ? *bound : 32767;
}

/// Runs `checks`. If they throw on any rank, throws on every one of `ranks`, so that no rank waits for the
/// others afterwards. Collective.
template <typename Checks>
void agree(const communicator& ranks, Checks checks) {
  enum kind : char { of_transport, of_topology, of_memory };
  struct {
    kind of = of_transport;
    std::array<char, 511> text{};
  } refusal;
  const int nobody_fails = ranks.size();
  int failing = nobody_fails;
  try {
    checks();
  } catch (const error& problem) {
    if (dynamic_cast<const topology_error*>(&problem) != nullptr) refusal.of = of_topology;
    if (dynamic_cast<const out_of_memory*>(&problem) != nullptr) refusal.of = of_memory;
    std::string(problem.what()).copy(refusal.text.data(), refusal.text.size() - 1);
    failing = ranks.rank();
  }
  check(MPI_Allreduce(MPI_IN_PLACE, &failing, 1, MPI_INT, MPI_MIN, ranks.get()), "MPI_Allreduce");
  if (failing == nobody_fails) return;
  check(MPI_Bcast(&refusal, sizeof refusal, MPI_BYTE, failing, ranks.get()), "MPI_Bcast");
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

/// Nodes are numbered by their lowest ranks.
int index_of_physical_node(const communicator& ranks, const communicator& node) {
  int lowest = ranks.rank();
  check(MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, node.get()), "MPI_Allreduce");
  const std::vector<int> lowest_of_rank = ranks.gather_to_all({lowest});
  const std::set<int> nodes(lowest_of_rank.begin(), lowest_of_rank.end());
  return static_cast<int>(std::distance(nodes.begin(), nodes.find(lowest)));
}

constexpr const char* island_variable = "NEARFAR_ISLAND";
constexpr std::size_t longest_island = 63;

/// The name of this rank's island, if somebody has named it. Throws `topology_error` for what is no name.
std::optional<std::string> name_of_island(const options& chosen) {
  std::optional<std::string> name = chosen.island;
  if (!name) {
    const char* const value = std::getenv(island_variable);  // NOLINT(concurrency-mt-unsafe): nothing sets it
    if (value == nullptr || *value == '\0') return std::nullopt;
    name = value;
  }
  if (name->empty() || name->size() > longest_island || name->find('\0') != std::string::npos)
    throw topology_error("the name of an island has " + std::to_string(name->size()) + " bytes: give 1 to " +
                         std::to_string(longest_island) +
                         " in nearfar::mpi::options::"
                         "island or " +
                         island_variable);
  return name;
}

/// The name that every rank gives to its island; empty for none. Collective.
std::vector<std::string> names_of_islands(const communicator& ranks, const std::string& mine) {
  std::vector<int> packed((longest_island + 1) / sizeof(int));
  std::memcpy(packed.data(), mine.data(), mine.size());
  const std::vector<int> all = ranks.gather_to_all(packed);
  std::vector<std::string> names;
  for (std::size_t at = 0; at < all.size(); at += packed.size())
    names.emplace_back(reinterpret_cast<const char*>(&all[at]));  // ends with a zero
  return names;
}

/// Numbers the islands of `places` by their lowest ranks. Throws `topology_error` for names that contradict
/// each other.
void set_islands(std::vector<place>& places, const std::vector<std::string>& names) {
  std::map<std::string, int> numbers;
  std::map<int, std::size_t> first_of_node;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    const std::string& name = names[rank];
    if (name.empty()) {
      const auto other =
          std::find_if(names.begin(), names.end(), [](const auto& one) { return !one.empty(); });
      throw topology_error("rank " + std::to_string(rank) + " names no island, and rank " +
                           std::to_string(other - names.begin()) + " is on island '" + *other + "': set " +
                           island_variable + " for all ranks, or for none");
    }
    const auto [first, is_new] = first_of_node.try_emplace(places[rank][index(level::node)], rank);
    if (names[first->second] != name)
      throw topology_error("ranks " + std::to_string(first->second) + " and " + std::to_string(rank) +
                           " of one node are on islands '" + names[first->second] + "' and '" + name +
                           "': set " + island_variable + " to the same name on all ranks of a node");
    places[rank][index(level::island)] =
        numbers.try_emplace(name, static_cast<int>(numbers.size())).first->second;
  }
}

/// The localities of ranks on `topology`, given their `physical` places.
locality virtual_locality(const topology_spec& topology, const std::vector<place>& physical) {
  const auto node_of = [&physical](int rank) {
    return physical[static_cast<std::size_t>(rank)][index(level::node)];
  };
  locality result = topology.place(static_cast<int>(physical.size()));
  for (int node = 0; node < result.groups(level::node); ++node)
    for (const int member : result.members(level::node, node))
      if (node_of(member) != node_of(result.members(level::node, node).front()))
        throw topology_error(
            "topology '" + topology.to_string() + "' puts rank " + std::to_string(member) +
            " on a node with ranks of another machine: use at least as many nodes as there are");
  return result;
}

}  // namespace

world::world(MPI_Comm comm, const options& chosen)
    : options_(chosen),
      comm_(communicator::duplicate(intracommunicator(comm))),
      progress_comm_(communicator::duplicate(comm)),
      rank_(comm_.rank()),
      size_(comm_.size()),
      tags_(std::make_shared<slab>(static_cast<std::size_t>(largest_tag(comm_.get())) + 1, 1)),
      tag_of_leaving_(tags_->allocate(1).value()) {
  try {
    find_ranks();
    make_windows();
    if (options_.self_test) quick_self_test(*this);
  } catch (const mpi_error&) {
    throw;  // perhaps only this rank throws
  } catch (const stalled&) {
    leave_handles();
    throw;
  } catch (const error&) {
    free_handles();  // all ranks do so, and no stack is being unwound
    throw;
  }
}

world::~world() noexcept(false) {
  for (slab* each : {near_slab_.get(), far_slab_.get(), tags_.get()}) each->note_end_of_world();
  if (!may_free_collectively()) {
    tell_of_leaving();
    leave_handles();
    return;
  }
  // Channels have tags, and one tells of leaving.
  const bool is_in_use = near_slab_->used() + far_slab_->used() != 0 || tags_->used() > 1 ||
                         lock_windows_->made.size() != lock_windows_->free.size();
  try {
    close();  // before the exception: a rank performs no collective operation during one
  } catch (const rank_left&) {
    leave_handles();
  }
  if (is_in_use)
    throw destroyed_while_in_use("a world was destroyed before the locks in it: destroy the locks first");
}

void world::close() {
  if (comm_.get() == MPI_COMM_NULL) return;  // it has been
  wait_without_limit();
  barrier();
  free_handles();
}

void world::tell_of_leaving() noexcept {
  if (has_stalled() || !is_active() || comm_.get() == MPI_COMM_NULL) return;
  // Never freed: it has to outlive the requests, for which nobody waits.
  const std::int64_t* const calls = collective_calls_.release();
  for (int rank = 0; rank < size_; ++rank) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == rank_ || MPI_Isend(calls, 1, MPI_INT64_T, rank, static_cast<int>(tag_of_leaving_),
                                   comm_.get(), &request) != MPI_SUCCESS)
      continue;
    MPI_Request_free(&request);
  }
}

void world::expect_all_take_part() {
  const int tag = static_cast<int>(tag_of_leaving_);
  while (true) {
    int found = 0;
    MPI_Status status;
    check(MPI_Iprobe(MPI_ANY_SOURCE, tag, comm_.get(), &found, &status), "MPI_Iprobe");
    if (found == 0) break;
    departure told{status.MPI_SOURCE};
    check(MPI_Recv(&told.calls, 1, MPI_INT64_T, told.rank, tag, comm_.get(), MPI_STATUS_IGNORE), "MPI_Recv");
    if (!first_to_leave_ || told.calls < first_to_leave_->calls) first_to_leave_ = told;
  }
  if (!first_to_leave_ || first_to_leave_->calls >= *collective_calls_) return;
  has_given_up_ = true;
  throw rank_left("rank " + std::to_string(first_to_leave_->rank) +
                  " has left the world by an exception, and this collective call would wait for it for ever");
}

void world::barrier() {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibarrier(comm_.get(), &request), "MPI_Ibarrier");
  complete_collective(request, {"the other ranks in a barrier"});
}

bool world::all_alike(std::int64_t mine) {
  const std::vector<std::int64_t> bounds = reduce_over_ranks({mine, ~mine}, MPI_MAX);
  return bounds[0] == ~bounds[1];
}

std::vector<std::int64_t> world::sum_over_ranks(std::vector<std::int64_t> values) {
  return reduce_over_ranks(std::move(values), MPI_SUM);
}

std::vector<std::int64_t> world::gather_to_all(std::int64_t mine) {
  keep_buffer();
  exchanged_.assign(index(size_), mine);
  MPI_Request request = MPI_REQUEST_NULL;
  check(
      MPI_Iallgather(MPI_IN_PLACE, 0, MPI_INT64_T, exchanged_.data(), 1, MPI_INT64_T, comm_.get(), &request),
      "MPI_Iallgather");
  complete_collective(request, {"the other ranks in a collective operation"});
  return std::move(exchanged_);
}

std::vector<std::int64_t> world::gather_to_first(std::int64_t mine) {
  keep_buffer();
  exchanged_.assign(rank_ == 0 ? index(size_) : 1, mine);
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Igather(rank_ == 0 ? MPI_IN_PLACE : exchanged_.data(), 1, MPI_INT64_T, exchanged_.data(), 1,
                    MPI_INT64_T, 0, comm_.get(), &request),
        "MPI_Igather");
  complete_collective(request, {"the other ranks in a collective operation"});
  if (rank_ != 0) exchanged_.clear();
  return std::move(exchanged_);
}

std::vector<std::int64_t> world::reduce_over_ranks(std::vector<std::int64_t> values, MPI_Op operation) {
  keep_buffer();
  exchanged_ = std::move(values);
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallreduce(MPI_IN_PLACE, exchanged_.data(), static_cast<int>(exchanged_.size()), MPI_INT64_T,
                       operation, comm_.get(), &request),
        "MPI_Iallreduce");
  complete_collective(request, {"the other ranks in a collective operation"});
  return std::move(exchanged_);
}

lent_memory world::allocate_near(std::size_t bytes) {
  return allocate(near_slab_, bytes, near_memory_[index(rank_)], near_window_,
                  {"near memory", "bytes", "raise nearfar::mpi::options::near_bytes"});
}

lent_memory world::allocate_far(std::size_t bytes) {
  return allocate(far_slab_, bytes, far_memory_[index(rank_)], far_window_,
                  {"far memory", "bytes", "raise nearfar::mpi::options::far_bytes"});
}

lent_memory world::allocate(const std::shared_ptr<slab>& memory, std::size_t bytes, std::byte* base,
                            const window& of, const slab_request& wanted) {
  const std::size_t offset = allocate_alike(*this, *memory, bytes, wanted);
  lent_memory result(memory, offset, bytes);
  std::fill_n(base + offset, bytes, std::byte{0});
  check(MPI_Win_sync(of.get()), "MPI_Win_sync");
  barrier();
  return result;
}

void world::find_ranks() {
  expect_alike(*this,
               "a world with " +
                   (options_.topology ? "topology " + options_.topology->to_string() : "no topology given"),
               {{"far_bytes", static_cast<std::int64_t>(options_.far_bytes)},
                {"near_bytes", static_cast<std::int64_t>(options_.near_bytes)},
                {"self_test", options_.self_test ? 1 : 0}});
  std::optional<hardware> here;
  place mine{};
  std::optional<std::string> island;
  agree(comm_, [&] {
    require_thread_level();
    options_.far_bytes = slab_bytes(options_.far_bytes, size_, "nearfar::mpi::options::far_bytes");
    options_.near_bytes = slab_bytes(options_.near_bytes, size_, "nearfar::mpi::options::near_bytes");
    here.emplace();
    mine = here->this_thread_place();
    if (!options_.topology) island = name_of_island(options_);
  });
  far_slab_ = std::make_shared<slab>(options_.far_bytes);
  near_slab_ = std::make_shared<slab>(options_.near_bytes);
  physical_node_ = communicator::shared_memory(comm_.get());
  processors_ = count_processors(comm_.get(), *here);
  set_waiting(options_.ratios, options_.oversubscribed.value_or(processors_.oversubscribed()),
              options_.stall_limit);
  mine[nearfar::index(level::node)] = index_of_physical_node(comm_, physical_node_);
  mine[nearfar::index(level::island)] = island ? 0 : unknown_id;
  const std::vector<int> flat = comm_.gather_to_all({mine.begin(), mine.end()});
  std::vector<place> places(index(size_));
  for (std::size_t r = 0; r < places.size(); ++r)
    std::copy_n(flat.begin() + static_cast<std::ptrdiff_t>(r * mine.size()), mine.size(), places[r].begin());
  const bool has_islands = std::any_of(places.begin(), places.end(), [](const place& where) {
    return where[nearfar::index(level::island)] != unknown_id;
  });
  if (has_islands) set_islands(places, names_of_islands(comm_, island.value_or("")));
  agree(comm_, [&] {
    require_transport(comm_.get(), one_physical_node());
    require_shared_memory(physical_node_.get(), options_.near_bytes + options_.far_bytes);
    locality_ = options_.topology ? virtual_locality(*options_.topology, places) : nearfar::locality(places);
  });
  node_ = communicator::split(comm_.get(), locality_.group(level::node, rank_));
}

void world::make_windows() {
  near_window_ = window::allocate_shared(node_.get(), options_.near_bytes);
  near_window_.open();  // MPI_Win_sync is an error outside an epoch
  window& shared_far = one_physical_node() ? far_window_ : far_backing_;
  // The ranks of a virtual node must reach each other's far words, so the mapping follows the physical node
  // there.
  const communicator& sharers = one_physical_node() ? comm_ : physical_node_;
  shared_far = window::allocate_shared(sharers.get(), options_.far_bytes);
  if (!one_physical_node())
    far_window_ = window::create(comm_.get(), far_backing_.base(), options_.far_bytes);
  agree(comm_, [&] {
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
    const auto sharer = std::find(sharer_ranks.begin(), sharer_ranks.end(), group[i]) - sharer_ranks.begin();
    far_memory_[index(group[i])] = shared_far.part_of(static_cast<int>(sharer));
  }
}

void world::keep_buffer() noexcept {
  if (!has_given_up_ && !has_stalled()) return;
  static std::vector<std::vector<std::int64_t>> kept;
  kept.push_back(std::move(exchanged_));
}

std::uint64_t world::next_order() noexcept {
  static std::atomic<std::uint64_t> next{0};
  return next.fetch_add(1, std::memory_order_relaxed);
}

std::size_t world::take_lock_window(int home) {
  auto& [made, free] = *lock_windows_;
  // The lowest, so that ranks which destroyed locks in different orders take the same.
  const auto lowest = std::min_element(free.begin(), free.end());
  const std::size_t chosen = lowest != free.end() ? *lowest : made.size();
  expect_alike(*this, "a lock epoch", {{"home", home}, {"window", static_cast<std::int64_t>(chosen)}});
  static_cast<void>(checked_rank(*this, home));
  if (lowest != free.end()) {
    free.erase(lowest);
    return chosen;
  }
  free.reserve(made.size() + 1);
  made.reserve(made.size() + 1 + window_store::windows_of_world);
  // MPI's own error would not say what is missing.
  constexpr std::size_t bytes_of_window = 8192;  // more than Open MPI and MPICH take for each rank
  agree(comm_, [&] {
    require_shared_memory(physical_node_.get(), bytes_of_window,
                          "make fewer locks of MPI's own (mpi_win_lock, mpi_rw_lock)");
  });
  made.push_back(window::allocate(comm_.get(), slot_bytes));
  return chosen;
}

void world::leave_handles() noexcept {
  keep_buffer();
  for (communicator* made : {&node_, &physical_node_, &progress_comm_, &comm_}) made->leak();
  if (has_stalled() || !is_active()) {
    for (window* made : {&far_window_, &far_backing_, &near_window_}) made->leak();
    return;
  }
  std::vector<window>& left = lock_windows_->made;
  for (window* made : {&far_window_, &far_backing_, &near_window_}) left.push_back(std::move(*made));
  free_at_end_of_mpi(order_, std::move(left));
}

void world::free_handles() {
  // Their number still tells whether a lock has one.
  for (window& made : lock_windows_->made) made = window();
  for (window* made : {&far_window_, &far_backing_, &near_window_}) *made = window();
  for (communicator* made : {&node_, &physical_node_, &progress_comm_, &comm_}) *made = communicator();
}

namespace {

bool is_complete(MPI_Request& request) {
  int done = 0;
  check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
  return done != 0;
}

}  // namespace

void world::complete_collective(MPI_Request& request, awaited what) {
  ++*collective_calls_;  // not before the call has begun: a rank whose call fails does not take part
  // Looks rarely, because a look takes as long as the test itself.
  constexpr unsigned tests_per_look = 16;
  const auto test = [this, &request, tests = 0U]() mutable {
    if (is_complete(request)) return true;
    if (++tests % tests_per_look == 0) expect_all_take_part();
    return false;
  };
  static_cast<void>(poll_with_progress(test, std::identity{}, what, wait_for_ever{}));
}

world::signal_channel::signal_channel(world& w)
    : world_(&w),
      tag_(w.tags_,
           allocate_alike(w, *w.tags_, 1,
                          {"a signal channel", "message tags", "destroy locks that are no longer used"}),
           1) {}

void world::signal_channel::await_signal(int rank) {
  if constexpr (checked_build) rank = checked_sender(*world_, rank);
  take_signal(rank == any_rank ? *find_signal(any_rank, wait_for_ever{}) : rank);
}

bool world::signal_channel::await_signal_until(std::chrono::nanoseconds until, int rank) {
  if constexpr (checked_build) rank = checked_sender(*world_, rank);
  const std::optional<int> sender = find_signal(rank, wait_until{until});
  if (sender) take_signal(*sender);
  return sender.has_value();
}

template <typename Until>
std::optional<int> world::signal_channel::find_signal(int rank, Until until) {
  MPI_Status status;
  const auto probe = [&] {
    int found = 0;
    check(MPI_Iprobe(rank == any_rank ? MPI_ANY_SOURCE : rank, tag(), world_->comm_.get(), &found, &status),
          "MPI_Iprobe");
    return found != 0;
  };
  if (!world_->poll_with_progress(probe, std::identity{}, {"a signal", rank}, until)) return std::nullopt;
  return status.MPI_SOURCE;
}

void world::signal_channel::take_signal(int rank) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Irecv(nullptr, 0, MPI_BYTE, rank, tag(), world_->comm_.get(), &request), "MPI_Irecv");
  const auto test = [&request] { return is_complete(request); };
  static_cast<void>(world_->poll_with_progress(test, std::identity{}, {"a signal", rank}, wait_for_ever{}));
}

world::lock_epoch::lock_epoch(world& w, int home)
    : home_(home),
      store_(w.lock_windows_),
      index_(w.take_lock_window(home)),
      window_(store_->made[index_].get()) {}

}  // namespace nearfar::mpi
