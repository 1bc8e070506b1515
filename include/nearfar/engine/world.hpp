/// \file
/// The engine's world: the ranks of a simulated cluster, or of a program in the model checker. One world for
/// both, since what an algorithm sees is the same; a substrate behind `team` decides what each operation
/// costs, or in which orders it may happen.
#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "nearfar/core/agreement.hpp"
#include "nearfar/core/backoff.hpp"
#include "nearfar/core/checks.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/engine/near_cell.hpp"
#include "nearfar/engine/team.hpp"
#include "nearfar/memory/near_segment.hpp"
#include "nearfar/memory/slab.hpp"
#include "nearfar/topology/locality.hpp"

namespace nearfar::engine {

/// A `T` of far words for each rank, reached by operations that take effect when the substrate says so.
template <far_layout T>
class far_segment;
/// As `nearfar::near_segment`, known by name to schedules.
template <near_layout T>
class named_near_segment;

/// One rank's view of its team; lives in that rank's fibre.
class world {
 public:
  template <typename T>
  using near = near_cell<T>;
  template <typename T>
  using near_segment = named_near_segment<T>;
  template <typename T>
  using far_segment = engine::far_segment<T>;
  class signal_channel;
  class exclusive_epoch;

  world(team& of, int rank) : team_(&of), rank_(rank), memory_(of.bytes()), ids_(most_ids, 1) {}
  world(const world&) = delete;
  world& operator=(const world&) = delete;
  ~world() noexcept(!checked_build) {
    if constexpr (checked_build)
      if (std::uncaught_exceptions() == 0 && memory_.used() != 0)
        throw destroyed_while_in_use("a world was destroyed before the locks in it: destroy the locks first");
  }

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return team_->size(); }
  [[nodiscard]] const class locality& locality() const noexcept { return team_->locality(); }
  [[nodiscard]] static bool oversubscribed() noexcept { return false; }

  // Waiting.

  template <typename T, std::predicate<T> Predicate>
  T await(const near_cell<T>& cell, Predicate predicate,
          std::source_location site = std::source_location::current()) {
    const auto satisfied = [&](std::uint64_t word) { return predicate(near_cell<T>::decoded(word)); };
    return near_cell<T>::decoded(team_->at(site).await({.read = cell.awaited(), .satisfied = satisfied}));
  }
  template <typename T, typename V, std::predicate<V> Predicate>
  V await_direct(const far_segment<T>& segment, int rank, far<V> T::*field, Predicate predicate,
                 std::source_location site = std::source_location::current()) {
    return await_far<V>(site, segment.operation_of(action::read_direct, rank, field), predicate, true);
  }
  template <typename T, typename V, std::predicate<V> Predicate>
  V await_get(far_segment<T>& segment, int rank, far<V> T::*field, Predicate predicate,
              std::source_location site = std::source_location::current()) {
    return await_far<V>(site, segment.operation_of(action::get, rank, field), predicate, true);
  }
  template <typename T, typename V, std::predicate<V> Predicate>
  V await_fetch(far_segment<T>& segment, int rank, far<V> T::*field, Predicate predicate,
                std::source_location site = std::source_location::current()) {
    return await_far<V>(site, segment.operation_of(action::fetch, rank, field), predicate, true);
  }
  template <typename T, typename V, std::predicate<V> Predicate>
  V await_swap(far_segment<T>& segment, int rank, far<V> T::*field, const V& origin, Predicate predicate,
               backoff pause, std::source_location site = std::source_location::current()) {
    operation swap = segment.operation_of(action::swap, rank, field);
    swap.operand = static_cast<std::uint64_t>(origin);
    return await_far<V>(site, swap, predicate, true, pause);
  }
  /// As `await_direct` in a library whose `MPI_Win_sync` makes no progress: the fault that the published
  /// locks had. For the study of faults; no lock waits so.
  template <typename T, typename V, std::predicate<V> Predicate>
  V await_direct_without_progress(const far_segment<T>& segment, int rank, far<V> T::*field,
                                  Predicate predicate,
                                  std::source_location site = std::source_location::current()) {
    return await_far<V>(site, segment.operation_of(action::read_direct, rank, field), predicate, false);
  }

  void fence(std::memory_order order, std::source_location site = std::source_location::current()) {
    team_->at(site).fence(order);
  }
  void delay(std::chrono::nanoseconds span) { team_->delay(span); }
  /// A simulated cluster lets time pass and far operations in; the checker explores no loop that waits so.
  void rest() { delay(backoff{}.shortest); }
  using release_scope = plain_release_scope;
  void barrier() { team_->barrier(); }
  [[nodiscard]] std::chrono::nanoseconds now() const { return team_->now(); }

  [[nodiscard]] bool all_alike(std::int64_t mine) { return team_->all_alike(mine); }
  [[nodiscard]] std::vector<std::int64_t> gather_to_all(std::int64_t mine) {
    return team_->gather_to_all(mine);
  }
  [[nodiscard]] std::vector<std::int64_t> gather_to_first(std::int64_t mine) {
    return team_->gather_to_first(mine);
  }
  [[nodiscard]] std::vector<std::int64_t> sum_over_ranks(std::vector<std::int64_t> mine) {
    return team_->sum_over_ranks(std::move(mine));
  }

  // What segments are made of.

  [[nodiscard]] std::size_t allocate_near(std::size_t bytes) { return allocate(bytes, "near memory"); }
  [[nodiscard]] std::size_t allocate_far(std::size_t bytes) { return allocate(bytes, "far memory"); }
  void release_near(std::size_t offset, std::size_t bytes) { memory_.release(offset, bytes); }
  void release_far(std::size_t offset, std::size_t bytes) { memory_.release(offset, bytes); }
  [[nodiscard]] std::byte* near_memory(int rank) const {
    if (rank < 0 || rank >= size() || !locality().same(level::node, rank_, rank))
      throw unreachable_rank("rank " + std::to_string(rank) + " shares no memory with rank " +
                             std::to_string(rank_));
    return team_->memory(rank);
  }
  [[nodiscard]] std::byte* far_memory(int rank) const { return team_->memory(checked_rank(*this, rank)); }
  [[nodiscard]] team& substrate() const noexcept { return *team_; }

 private:
  static constexpr std::size_t most_ids = std::size_t{1} << 20U;

  template <typename V, typename Predicate>
  V await_far(const std::source_location& site, const operation& read, Predicate& predicate, bool progresses,
              backoff pause = {}) {
    const auto satisfied = [&](std::uint64_t word) { return predicate(static_cast<V>(word)); };
    return static_cast<V>(team_->at(site).await(
        {.read = read, .satisfied = satisfied, .progresses = progresses, .pause = pause}));
  }

  [[nodiscard]] std::size_t allocate(std::size_t bytes, const char* what) {
    const std::size_t offset = allocate_alike(*this, memory_, bytes, {what, "bytes", "give the team more"});
    team_->cleared(team_->memory(rank_) + offset, bytes);
    std::memset(team_->memory(rank_) + offset, 0, bytes);
    team_->barrier();
    return offset;
  }
  [[nodiscard]] std::size_t allocate_id(const char* what) {
    return allocate_alike(*this, ids_, 1, {what, "ids", "destroy what is no longer used"});
  }

  team* team_;
  int rank_;
  slab memory_;
  slab ids_;
};

template <near_layout T>
class named_near_segment : public nearfar::near_segment<world, T> {
 public:
  explicit named_near_segment(world& w) : nearfar::near_segment<world, T>(w) {
    const auto* at = reinterpret_cast<const std::byte*>(&this->at(w.rank()));
    if (w.rank() == 0) w.substrate().describe(static_cast<std::size_t>(at - w.near_memory(0)), names_of<T>());
  }
};

template <far_layout T>
class far_segment {
 public:
  explicit far_segment(world& w) : world_(&w), offset_(w.allocate_far(sizeof(T))) {
    if (w.rank() == 0) w.substrate().describe(offset_, names_of<T>());
  }
  far_segment(const far_segment&) = delete;
  far_segment& operator=(const far_segment&) = delete;
  ~far_segment() { world_->release_far(offset_, sizeof(T)); }

  template <typename V>
  void put(int target, far<V> T::*field, const V& origin,
           std::source_location site = std::source_location::current()) {
    issue(site, action::put, target, field, &origin);
  }
  template <typename V>
  void put(int target, far<V> T::*field, V&& origin) = delete;

  template <typename V>
  void get(int target, far<V> T::*field, V& result,
           std::source_location site = std::source_location::current()) {
    issue<V>(site, action::get, target, field, nullptr, &result);
  }
  template <typename V>
  void fetch(int target, far<V> T::*field, V& result,
             std::source_location site = std::source_location::current()) {
    issue<V>(site, action::fetch, target, field, nullptr, &result);
  }

  template <typename V>
  void swap(int target, far<V> T::*field, const V& origin, V& result,
            std::source_location site = std::source_location::current()) {
    issue(site, action::swap, target, field, &origin, &result);
  }
  template <typename V>
  void swap(int target, far<V> T::*field, V&& origin, V& result) = delete;

  template <typename V>
  void fetch_add(int target, far<V> T::*field, const V& origin, V& result,
                 std::source_location site = std::source_location::current()) {
    issue(site, action::fetch_add, target, field, &origin, &result);
  }
  template <typename V>
  void fetch_add(int target, far<V> T::*field, V&& origin, V& result) = delete;

  template <typename V>
  void compare_and_swap(int target, far<V> T::*field, const V& expected, const V& desired, V& result,
                        std::source_location site = std::source_location::current()) {
    issue(site, action::compare_and_swap, target, field, &desired, &result, &expected);
  }
  template <typename V>
  void compare_and_swap(int target, far<V> T::*field, V&& expected, const V& desired, V& result) = delete;
  template <typename V>
  void compare_and_swap(int target, far<V> T::*field, const V& expected, V&& desired, V& result) = delete;

  template <typename V>
  void accumulate(int target, far<V> T::*field, const V& origin, far_op op,
                  std::source_location site = std::source_location::current()) {
    issue(site, op == far_op::replace ? action::replace : action::sum, target, field, &origin);
  }
  template <typename V>
  void accumulate(int target, far<V> T::*field, V&& origin, far_op op) = delete;

  void flush(int target, std::source_location site = std::source_location::current()) {
    world_->substrate().at(site).flush(checked_rank(*world_, target));
  }

  /// The word of a rank of this node, read in place.
  template <typename V>
  [[nodiscard]] V read_direct(int rank, far<V> T::*field,
                              std::source_location site = std::source_location::current()) const {
    return static_cast<V>(
        world_->substrate().at(site).perform(operation_of(action::read_direct, rank, field)));
  }
  /// The word of a rank of this node, written in place; only when every far write to it is known to be
  /// complete.
  template <typename V>
  void write_direct(int rank, far<V> T::*field, V value,
                    std::source_location site = std::source_location::current()) {
    operation write = operation_of(action::write_direct, rank, field);
    write.operand = static_cast<std::uint64_t>(value);
    world_->substrate().at(site).perform(write);
  }

 private:
  friend class world;

  template <typename V>
  [[nodiscard]] operation operation_of(action what, int rank, far<V> T::*field) const {
    std::byte* memory = is_direct(what) ? world_->near_memory(rank) : world_->far_memory(rank);
    auto& object = *reinterpret_cast<T*>(memory + offset_);
    return {.what = what, .target = rank, .word = reinterpret_cast<std::uint64_t*>(&(object.*field).word)};
  }

  template <typename V>
  void issue(const std::source_location& site, action what, int target, far<V> T::*field, const V* origin,
             V* result = nullptr, const V* compare = nullptr) {
    operation started = operation_of(what, target, field);
    if (origin != nullptr) started.operand = static_cast<std::uint64_t>(*origin);
    if (compare != nullptr) started.expected = static_cast<std::uint64_t>(*compare);
    started.origin = origin;
    started.compare = compare;
    started.result = result;
    world_->substrate().at(site).issue(started);
  }

  world* world_;
  std::size_t offset_;
};

/// Undelivered signals belong to the substrate; a channel has an id that all ranks agree on.
class world::signal_channel {
 public:
  explicit signal_channel(world& w) : world_(&w), id_(w.allocate_id("a signal channel")) {}
  signal_channel(const signal_channel&) = delete;
  signal_channel& operator=(const signal_channel&) = delete;
  ~signal_channel() { world_->ids_.release(id_, 1); }

  void signal(int rank, std::source_location site = std::source_location::current()) {
    world_->team_->at(site).signal(static_cast<int>(id_), checked_rank(*world_, rank));
  }
  void await_signal(int rank, std::source_location site = std::source_location::current()) {
    world_->team_->at(site).await_signal(static_cast<int>(id_), rank);
  }

 private:
  world* world_;
  std::size_t id_;
};

/// The lock that an MPI library has for a target's memory. As over MPI, a completed read behind the request
/// makes sure that it is held.
class world::exclusive_epoch {
 public:
  exclusive_epoch(world& w, int home) : world_(&w), home_(agreed(w, home)), window_(w) {}
  exclusive_epoch(const exclusive_epoch&) = delete;
  exclusive_epoch& operator=(const exclusive_epoch&) = delete;
  ~exclusive_epoch() { world_->ids_.release(id_, 1); }

  void begin(std::source_location site = std::source_location::current()) {
    world_->team_->at(site).begin_exclusive(static_cast<int>(id_), home_);
    std::uint64_t ignored = 0;
    window_.get(home_, &window::word, ignored, site);
    window_.flush(home_, site);
  }
  void end(std::source_location site = std::source_location::current()) {
    world_->team_->at(site).end_exclusive(static_cast<int>(id_), home_);
  }

 private:
  struct alignas(slot_bytes) window {
    far<std::uint64_t> word;
  };

  /// `home`, if it is the same on every rank and one of them.
  [[nodiscard]] static int agreed(world& w, int home) {
    expect_alike(w, "an exclusive epoch", {{"home", home}});
    return checked_rank(w, home);
  }

  world* world_;
  int home_;
  std::size_t id_ = world_->allocate_id("an exclusive epoch");
  engine::far_segment<window> window_;
};

static_assert(nearfar::world<world>);
static_assert(has_exclusive_epochs<world>);

}  // namespace nearfar::engine
