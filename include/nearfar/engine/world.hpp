/// \file
/// The engine's world: the ranks of a simulated cluster, or of a program in the model checker. Both use this
/// one world, because an algorithm sees the same interface in both. A `substrate` decides what
/// each operation costs, or in which orders operations may happen.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "nearfar/core/agreement.hpp"
#include "nearfar/core/backoff.hpp"
#include "nearfar/core/checks.hpp"
#include "nearfar/core/condition.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/engine/near_cell.hpp"
#include "nearfar/engine/substrate.hpp"
#include "nearfar/memory/near_segment.hpp"
#include "nearfar/memory/slab.hpp"
#include "nearfar/topology/locality.hpp"

namespace nearfar::engine {

/// Far words of each rank. Operations on them take effect when the substrate says so.
template <far_element T>
class far_array;
template <far_layout T>
class far_segment;
/// As those of `nearfar`; schedules show them by name.
template <near_element T>
class named_near_array;
template <near_layout T>
class named_near_segment;
template <far_object_value T>
class maybe_torn;

/// One rank's view of its world. It lives in that rank's fibre.
class world {
 public:
  template <typename T>
  using near = near_cell<T>;
  template <typename T>
  using plain = plain_cell<T>;
  template <typename T>
  using near_array = named_near_array<T>;
  template <typename T>
  using near_segment = named_near_segment<T>;
  template <typename T>
  using far_array = engine::far_array<T>;
  template <typename T>
  using far_segment = engine::far_segment<T>;
  template <typename T>
  using maybe_torn = engine::maybe_torn<T>;
  class signal_channel;
  class lock_epoch;

  world(class substrate& of, int rank)
      : substrate_(&of), rank_(rank), memory_(std::make_shared<slab>(of.bytes())), ids_(most_ids, 1) {}
  world(const world&) = delete;
  world& operator=(const world&) = delete;
  ~world() noexcept(!checked_build) {
    if constexpr (checked_build)
      if (std::uncaught_exceptions() == 0 && memory_->used() != 0)
        throw destroyed_while_in_use("a world was destroyed before the locks in it: destroy the locks first");
  }

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return substrate_->size(); }
  [[nodiscard]] const class locality& locality() const noexcept { return substrate_->locality(); }
  [[nodiscard]] static bool oversubscribed() noexcept { return false; }

  // Waiting without a deadline.

  template <typename T, std::predicate<T> Predicate>
  T await(const near_cell<T>& cell, Predicate predicate,
          std::source_location site = std::source_location::current()) {
    const auto satisfied = [&](std::uint64_t word) { return predicate(near_cell<T>::decoded(word)); };
    return near_cell<T>::decoded(
        substrate_->at(site).await({.read = cell.awaited(), .satisfied = satisfied}));
  }
  template <typename T, std::predicate<T> Predicate>
  T await_for_writing(near_cell<T>& cell, Predicate predicate,
                      std::source_location site = std::source_location::current()) {
    const auto satisfied = [&](std::uint64_t word) { return predicate(near_cell<T>::decoded(word)); };
    return near_cell<T>::decoded(
        substrate_->at(site).await({.read = cell.awaited_for_writing(), .satisfied = satisfied}));
  }
  template <typename T, std::predicate<T> Predicate>
  T await_exchange(near_cell<T>& cell, T value, Predicate predicate, backoff pause,
                   std::source_location site = std::source_location::current()) {
    const auto satisfied = [&](std::uint64_t word) { return predicate(near_cell<T>::decoded(word)); };
    return near_cell<T>::decoded(substrate_->at(site).await(
        {.read = cell.awaited_by_exchange(value), .satisfied = satisfied, .pause = pause}));
  }
  template <typename T, typename V, std::predicate<V> Predicate>
  V await_direct(const far_array<T>& array, element where, far<V> T::*field, Predicate predicate,
                 std::source_location site = std::source_location::current()) {
    return await_far<V>(site, array.operation_of(action::read_direct, where, field), predicate, true);
  }
  template <typename T, std::predicate<std::uint8_t> Predicate>
  std::uint8_t await_direct(const far_array<T>& array, element where, far_byte T::*field, Predicate predicate,
                            std::source_location site = std::source_location::current()) {
    return await_far<std::uint8_t>(site, array.operation_of(action::read_direct, where, field), predicate,
                                   true);
  }
  template <typename T, typename V, std::predicate<V> Predicate>
  V await_get(far_array<T>& array, element where, far<V> T::*field, Predicate predicate,
              std::source_location site = std::source_location::current()) {
    return await_far<V>(site, array.operation_of(action::get, where, field), predicate, true);
  }
  template <typename T, typename V, std::predicate<V> Predicate>
  V await_fetch(far_array<T>& array, element where, far<V> T::*field, Predicate predicate,
                std::source_location site = std::source_location::current()) {
    return await_far<V>(site, array.operation_of(action::fetch, where, field), predicate, true);
  }
  template <typename T, typename V, std::predicate<V> Predicate>
  V await_swap(far_array<T>& array, element where, far<V> T::*field, const V& origin, Predicate predicate,
               backoff pause, std::source_location site = std::source_location::current()) {
    return await_far<V>(site, array.swap_of(where, field, origin), predicate, true, pause);
  }
  template <typename T, typename V, std::predicate<V> Predicate>
  V await_compare_and_swap(far_array<T>& array, element where, far<V> T::*field, const V& expected,
                           const V& desired, Predicate predicate, backoff pause,
                           std::source_location site = std::source_location::current()) {
    return await_far<V>(site, array.compare_and_swap_of(where, field, expected, desired), predicate, true,
                        pause);
  }
  /// As `await_direct` in a library whose `MPI_Win_sync` makes no progress, the fault that the published
  /// locks had. Exists to study that fault; no lock waits this way.
  template <typename T, typename V, std::predicate<V> Predicate>
  V await_direct_without_progress(const far_array<T>& array, element where, far<V> T::*field,
                                  Predicate predicate,
                                  std::source_location site = std::source_location::current()) {
    return await_far<V>(site, array.operation_of(action::read_direct, where, field), predicate, false);
  }

  // Waiting with a deadline. In the checker the deadline may come at any step.

  template <typename T, std::predicate<T> Predicate>
  [[nodiscard]] std::optional<T> await_until(std::chrono::nanoseconds until, const near_cell<T>& cell,
                                             Predicate predicate,
                                             std::source_location site = std::source_location::current()) {
    return await_one_until<T>(site, until, cell.awaited(), predicate);
  }
  template <typename T, typename V, std::predicate<V> Predicate>
  [[nodiscard]] std::optional<V> await_direct_until(
      std::chrono::nanoseconds until, const far_array<T>& array, element where, far<V> T::*field,
      Predicate predicate, std::source_location site = std::source_location::current()) {
    return await_one_until<V>(site, until, array.operation_of(action::read_direct, where, field), predicate);
  }
  template <typename T, typename V, std::predicate<V> Predicate>
  [[nodiscard]] std::optional<V> await_get_until(
      std::chrono::nanoseconds until, far_array<T>& array, element where, far<V> T::*field,
      Predicate predicate, std::source_location site = std::source_location::current()) {
    return await_one_until<V>(site, until, array.operation_of(action::get, where, field), predicate);
  }
  template <typename T, typename V, std::predicate<V> Predicate>
  [[nodiscard]] std::optional<V> await_fetch_until(
      std::chrono::nanoseconds until, far_array<T>& array, element where, far<V> T::*field,
      Predicate predicate, std::source_location site = std::source_location::current()) {
    return await_one_until<V>(site, until, array.operation_of(action::fetch, where, field), predicate);
  }
  template <typename T, typename V, std::predicate<V> Predicate>
  [[nodiscard]] std::optional<V> await_swap_until(
      std::chrono::nanoseconds until, far_array<T>& array, element where, far<V> T::*field, const V& origin,
      Predicate predicate, backoff pause, std::source_location site = std::source_location::current()) {
    return await_one_until<V>(site, until, array.swap_of(where, field, origin), predicate, pause);
  }

  template <typename T, typename V, std::predicate<V> Predicate>
  [[nodiscard]] std::optional<V> await_compare_and_swap_until(
      std::chrono::nanoseconds until, far_array<T>& array, element where, far<V> T::*field, const V& expected,
      const V& desired, Predicate predicate, backoff pause,
      std::source_location site = std::source_location::current()) {
    return await_one_until<V>(site, until, array.compare_and_swap_of(where, field, expected, desired),
                              predicate, pause);
  }

  /// Waits for the first of several conditions (`core/condition.hpp`).
  template <wait_condition... Condition>
  satisfied_condition await_any(Condition... any) {
    const waited first = await_first({}, std::nullopt, any...);
    return {*first.which, first.value};
  }
  /// The same with a pause before each look at all conditions, longer each time.
  template <wait_condition... Condition>
  satisfied_condition await_any_after_pauses(backoff pause, Condition... any) {
    const waited first = await_first({}, pause, any...);
    return {*first.which, first.value};
  }
  template <wait_condition... Condition>
  [[nodiscard]] std::optional<satisfied_condition> await_any_until(std::chrono::nanoseconds until,
                                                                   Condition... any) {
    const waited first = await_first(until, std::nullopt, any...);
    if (!first.which) return std::nullopt;
    return satisfied_condition{*first.which, first.value};
  }

  void fence(std::memory_order order, std::source_location site = std::source_location::current()) {
    substrate_->at(site).fence(order);
  }
  /// Asymmetric fences. A heavy fence makes all other threads of the process pass a fence, so that the
  /// frequent side needs only a light one. A light and a heavy fence order each other as two sequentially
  /// consistent fences do; two light fences order nothing. The ranks of a simulated cluster are processes,
  /// and there both are full fences.
  void light_fence(std::source_location site = std::source_location::current()) {
    substrate_->at(site).light_fence();
  }
  void heavy_fence(std::source_location site = std::source_location::current()) {
    substrate_->at(site).heavy_fence();
  }
  /// See `substrate` for this and the next functions.
  [[nodiscard]] int choose(int possibilities, std::source_location site = std::source_location::current()) {
    return substrate_->at(site).choose(possibilities);
  }
  [[nodiscard]] bool wakes_for_no_reason(std::source_location site = std::source_location::current()) {
    return substrate_->at(site).wakes_for_no_reason();
  }
  [[nodiscard]] sleep_place begins_sleep() { return substrate_->begins_sleep(); }
  [[nodiscard]] bool looks_before_sleep(std::source_location site = std::source_location::current()) {
    return substrate_->at(site).looks_before_sleep();
  }
  [[nodiscard]] int to_wake(int most, std::source_location site = std::source_location::current()) {
    return substrate_->at(site).to_wake(most);
  }
  template <typename T>
  void note_woken(const near_cell<T>& word, std::uint64_t ranks) {
    substrate_->note_woken(word.awaited().word, ranks);
  }
  /// As `await`, for a rank that sleeps on `word`, in which it has seen the value `seen`.
  template <typename T, std::predicate<T> Predicate, typename V>
  T await_asleep(const near_cell<T>& cell, Predicate predicate, const near_cell<V>& word, V seen,
                 bool is_in_library, std::source_location site = std::source_location::current()) {
    const auto satisfied = [&](std::uint64_t now) { return predicate(near_cell<T>::decoded(now)); };
    const sleep asleep{.word = word.awaited().word, .seen = static_cast<std::uint64_t>(seen)};
    return near_cell<T>::decoded(substrate_->at(site).await(
        {.read = cell.awaited(), .satisfied = satisfied, .progresses = is_in_library, .asleep = asleep}));
  }
  void delay(std::chrono::nanoseconds span) { substrate_->delay(span); }
  void compute(std::chrono::nanoseconds span) { substrate_->compute(span); }
  /// Lets a moment of virtual time pass in a simulated cluster, and far operations with it. The checker
  /// explores no loop that waits this way.
  void rest() { delay(backoff{}.shortest); }
  using release_scope = plain_release_scope;
  void barrier() { substrate_->barrier(); }
  [[nodiscard]] std::chrono::nanoseconds now(
      std::source_location site = std::source_location::current()) const {
    return substrate_->at(site).now();
  }
  /// See `time_for_waiting`.
  [[nodiscard]] std::chrono::nanoseconds now_for_waiting() const { return substrate_->now_for_waiting(); }
  /// Lets pass what a turn of a benchmark's loop costs besides its work, which ended at `at`. Returns when
  /// the next turn begins. A simulated cluster charges it here, so that reading the clock within a turn is
  /// free.
  [[nodiscard]] std::chrono::nanoseconds after_turn(std::chrono::nanoseconds at) {
    return substrate_->after_turn(at);
  }

  [[nodiscard]] bool all_alike(std::int64_t mine) { return substrate_->all_alike(mine); }
  [[nodiscard]] std::vector<std::int64_t> gather_to_all(std::int64_t mine) {
    return substrate_->gather_to_all(mine);
  }
  [[nodiscard]] std::vector<std::int64_t> gather_to_first(std::int64_t mine) {
    return substrate_->gather_to_first(mine);
  }
  [[nodiscard]] std::vector<std::int64_t> sum_over_ranks(std::vector<std::int64_t> mine) {
    return substrate_->sum_over_ranks(std::move(mine));
  }

  // Memory for segments.

  [[nodiscard]] lent_memory allocate_near(std::size_t bytes) { return allocate(bytes, "near memory"); }
  [[nodiscard]] lent_memory allocate_far(std::size_t bytes) { return allocate(bytes, "far memory"); }
  /// Memory of this rank that a pool lends, or gets back.
  void taken(const std::byte* from, std::size_t bytes) { substrate_->taken(from, bytes); }
  void given_back(const std::byte* from, std::size_t bytes,
                  std::source_location site = std::source_location::current()) {
    substrate_->at(site).given_back(from, bytes);
  }
  [[nodiscard]] std::byte* near_memory(int rank) const {
    if (rank < 0 || rank >= size() || !locality().same(level::node, rank_, rank))
      throw unreachable_rank("rank " + std::to_string(rank) + " shares no memory with rank " +
                             std::to_string(rank_));
    return substrate_->memory(rank);
  }
  [[nodiscard]] std::byte* far_memory(int rank) const {
    return substrate_->memory(checked_rank(*this, rank));
  }
  [[nodiscard]] class substrate& substrate() const noexcept { return *substrate_; }

 private:
  static constexpr std::size_t most_ids = std::size_t{1} << 20U;

  template <typename V, typename Predicate>
  V await_far(const std::source_location& site, const operation& read, Predicate& predicate, bool progresses,
              backoff pause = {}) {
    const auto satisfied = [&](std::uint64_t word) { return predicate(static_cast<V>(word)); };
    return static_cast<V>(substrate_->at(site).await(
        {.read = read, .satisfied = satisfied, .progresses = progresses, .pause = pause}));
  }

  template <typename V, typename Predicate>
  std::optional<V> await_one_until(const std::source_location& site, std::chrono::nanoseconds until,
                                   const operation& read, Predicate& predicate, backoff pause = {}) {
    const auto satisfied = [&](std::uint64_t word) { return predicate(static_cast<V>(word)); };
    const std::array one{wait{.read = read, .satisfied = satisfied, .pause = pause}};
    const waited result = substrate_->at(site).await_any(one, until);
    if (!result.which) return std::nullopt;
    return static_cast<V>(result.value);
  }

  template <typename Cell, typename Predicate>
  [[nodiscard]] static operation read_of(const near_condition<Cell, Predicate>& one) {
    return one.cell->awaited();
  }
  template <typename Array, typename T, typename V, typename Predicate>
  [[nodiscard]] static operation read_of(const direct_condition<Array, far<V> T::*, Predicate>& one) {
    return one.array->operation_of(action::read_direct, one.where, one.field);
  }
  template <typename Cell, typename Predicate>
  [[nodiscard]] static auto value_test(const near_condition<Cell, Predicate>& one) {
    return [&one](std::uint64_t word) { return one.predicate(Cell::decoded(word)); };
  }
  template <typename Array, typename T, typename V, typename Predicate>
  [[nodiscard]] static auto value_test(const direct_condition<Array, far<V> T::*, Predicate>& one) {
    return [&one](std::uint64_t word) { return one.predicate(static_cast<V>(word)); };
  }
  template <typename... Condition>
  waited await_first(deadline until, const std::optional<backoff>& pause, const Condition&... any) {
    static_assert(sizeof...(any) > 0, "wait for one condition at least");
    const std::tuple tests{value_test(any)...};
    return std::apply(
        [&](const auto&... satisfied) {
          const std::array waits{wait{.read = read_of(any),
                                      .satisfied = satisfied,
                                      .pause = pause.value_or(backoff{}),
                                      .looks_after_pauses = pause.has_value()}...};
          return substrate_->at(std::get<0>(std::tie(any...)).site).await_any(waits, until);
        },
        tests);
  }

  [[nodiscard]] lent_memory allocate(std::size_t bytes, const char* what) {
    const std::size_t offset = allocate_alike(*this, *memory_, bytes, {what, "bytes", "raise `bytes`"});
    lent_memory result(memory_, offset, bytes);
    substrate_->cleared(substrate_->memory(rank_) + offset, bytes);
    std::memset(substrate_->memory(rank_) + offset, 0, bytes);
    substrate_->barrier();
    return result;
  }
  [[nodiscard]] std::size_t allocate_id(const char* what) {
    return allocate_alike(*this, ids_, 1, {what, "ids", "destroy objects that are no longer used"});
  }

  class substrate* substrate_;
  int rank_;
  std::shared_ptr<slab> memory_;
  slab ids_;
};

template <near_element T>
class named_near_array : public nearfar::near_array<world, T> {
 public:
  named_near_array(world& w, std::size_t count) : nearfar::near_array<world, T>(w, count) {
    const auto* at = reinterpret_cast<const std::byte*>(&this->at(w.rank()));
    if (w.rank() == 0)
      w.substrate().describe(static_cast<std::size_t>(at - w.near_memory(0)), names_of<T>(), count);
  }
};

template <near_layout T>
class named_near_segment : public named_near_array<T> {
 public:
  explicit named_near_segment(world& w) : named_near_array<T>(w, 1) {}
};

/// As `nearfar::maybe_torn`, but also names the writer of each word.
template <far_object_value T>
class maybe_torn {
 public:
  using value_type = T;

  [[nodiscard]] const T& confirmed(std::source_location site = std::source_location::current()) const {
    engine::substrate::current().at(site).confirmed(writers_.data(), writers_.size());
    return value_;
  }
  [[nodiscard]] const T& unconfirmed() const noexcept { return value_; }
  [[nodiscard]] T& buffer() noexcept { return value_; }
  [[nodiscard]] std::uint64_t* writers() noexcept { return writers_.data(); }

 private:
  T value_{};
  std::array<std::uint64_t, std::tuple_size_v<decltype(far_object<T>::words)>> writers_{};
};

template <far_element T>
class far_array {
 public:
  far_array(world& w, std::size_t count)
      : world_(&w), place_(count, sizeof(T), [&](std::size_t bytes) { return w.allocate_far(bytes); }) {
    if (w.rank() == 0) w.substrate().describe(place_.offset(), names_of<T>(), count);
  }
  far_array(const far_array&) = delete;
  far_array& operator=(const far_array&) = delete;
  ~far_array() = default;

  [[nodiscard]] std::size_t count() const noexcept { return place_.count(); }

  template <typename V>
  void put(element where, far<V> T::*field, const V& origin,
           std::source_location site = std::source_location::current()) {
    issue(site, action::put, where, field, &origin);
  }
  template <typename V>
  void put(element where, far<V> T::*field, V&& origin) = delete;

  template <typename V>
  void get(element where, far<V> T::*field, V& result,
           std::source_location site = std::source_location::current()) {
    issue<V>(site, action::get, where, field, nullptr, &result);
  }
  template <typename V>
  void put_range(element first, far<V> T::*field, std::span<const V> origins,
                 std::source_location site = std::source_location::current()) {
    if (origins.empty()) return;
    operation started = range_of(action::put, first, field, origins);
    started.origin = origins.data();
    world_->substrate().at(site).issue(started);
  }
  template <typename V>
  void get_range(element first, far<V> T::*field, std::span<V> results,
                 std::source_location site = std::source_location::current()) {
    if (results.empty()) return;
    operation started = range_of(action::get, first, field, std::span<const V>(results));
    started.result = results.data();
    world_->substrate().at(site).issue(started);
  }
  template <typename V>
  void fetch(element where, far<V> T::*field, V& result,
             std::source_location site = std::source_location::current()) {
    issue<V>(site, action::fetch, where, field, nullptr, &result);
  }

  template <typename V>
  void swap(element where, far<V> T::*field, const V& origin, V& result,
            std::source_location site = std::source_location::current()) {
    issue(site, action::swap, where, field, &origin, &result);
  }
  template <typename V>
  void swap(element where, far<V> T::*field, V&& origin, V& result) = delete;

  template <typename V>
  void fetch_add(element where, far<V> T::*field, const V& origin, V& result,
                 std::source_location site = std::source_location::current()) {
    issue(site, action::fetch_add, where, field, &origin, &result);
  }
  template <typename V>
  void fetch_add(element where, far<V> T::*field, V&& origin, V& result) = delete;

  template <typename V>
  void compare_and_swap(element where, far<V> T::*field, const V& expected, const V& desired, V& result,
                        std::source_location site = std::source_location::current()) {
    issue(site, action::compare_and_swap, where, field, &desired, &result, &expected);
  }
  template <typename V>
  void compare_and_swap(element where, far<V> T::*field, V&& expected, const V& desired, V& result) = delete;
  template <typename V>
  void compare_and_swap(element where, far<V> T::*field, const V& expected, V&& desired, V& result) = delete;

  template <typename V>
  void accumulate(element where, far<V> T::*field, const V& origin, far_op op,
                  std::source_location site = std::source_location::current()) {
    issue(site, op == far_op::replace ? action::replace : action::sum, where, field, &origin);
  }
  template <typename V>
  void accumulate(element where, far<V> T::*field, V&& origin, far_op op) = delete;

  void put(element where, far_byte T::*field, const std::uint8_t& origin,
           std::source_location site = std::source_location::current()) {
    operation started = operation_of(action::put, where, field);
    started.operand = origin;
    started.origin = &origin;
    world_->substrate().at(site).issue(started);
  }
  void put(element where, far_byte T::*field, std::uint8_t&& origin) = delete;
  template <typename V>
  void put(element where, far_object<V> T::*field, const V& origin,
           std::source_location site = std::source_location::current()) {
    operation started = operation_of(action::put, where, field);
    started.origin = &origin;
    world_->substrate().at(site).issue(started);
  }
  template <typename V>
  void put(element where, far_object<V> T::*field, V&& origin) = delete;
  template <typename V>
  void get(element where, far_object<V> T::*field, V& result,
           std::source_location site = std::source_location::current()) {
    world_->substrate().at(site).issue(read_of(action::get, where, field, result));
  }
  template <typename V>
  void get(element where, far_object<V> T::*field, maybe_torn<V>& result,
           std::source_location site = std::source_location::current()) {
    world_->substrate().at(site).issue(read_of(action::get, where, field, result));
  }

  void flush(int target, std::source_location site = std::source_location::current()) {
    world_->substrate().at(site).flush(checked_rank(*world_, target));
  }

  /// Reads in place a word of a rank of this node.
  template <typename V>
  [[nodiscard]] V read_direct(element where, far<V> T::*field,
                              std::source_location site = std::source_location::current()) const {
    return static_cast<V>(
        world_->substrate().at(site).perform(operation_of(action::read_direct, where, field)));
  }
  /// Writes in place a word of a rank of this node. Allowed only when every far write to the word is known to
  /// be complete.
  template <typename V>
  void write_direct(element where, far<V> T::*field, V value,
                    std::source_location site = std::source_location::current()) {
    operation write = operation_of(action::write_direct, where, field);
    write.operand = static_cast<std::uint64_t>(value);
    world_->substrate().at(site).perform(write);
  }

  /// The same for a byte.
  [[nodiscard]] std::uint8_t read_direct(element where, far_byte T::*field,
                                         std::source_location site = std::source_location::current()) const {
    return static_cast<std::uint8_t>(
        world_->substrate().at(site).perform(operation_of(action::read_direct, where, field)));
  }
  void write_direct(element where, far_byte T::*field, std::uint8_t value,
                    std::source_location site = std::source_location::current()) {
    operation write = operation_of(action::write_direct, where, field);
    write.operand = value;
    world_->substrate().at(site).perform(write);
  }

  template <typename V>
  [[nodiscard]] V read_direct(element where, far_object<V> T::*field,
                              std::source_location site = std::source_location::current()) const {
    V result{};
    world_->substrate().at(site).perform(read_of(action::read_direct, where, field, result));
    return result;
  }
  template <typename V>
  void read_direct(element where, far_object<V> T::*field, maybe_torn<V>& result,
                   std::source_location site = std::source_location::current()) const {
    world_->substrate().at(site).perform(read_of(action::read_direct, where, field, result));
  }
  template <typename V>
  void write_direct(element where, far_object<V> T::*field, const V& value,
                    std::source_location site = std::source_location::current()) {
    operation write = operation_of(action::write_direct, where, field);
    write.origin = &value;
    world_->substrate().at(site).perform(write);
  }

  /// This rank's element, as pools lend it.
  [[nodiscard]] std::byte* own_element(std::size_t index) const {
    return address(world_->far_memory(world_->rank()), checked_element({world_->rank(), index}, count()));
  }
  static constexpr std::size_t element_bytes = sizeof(T);

 private:
  friend class world;

  [[nodiscard]] std::byte* address(std::byte* memory, element where) const {
    return memory + place_.offset() + where.index * sizeof(T);
  }
  [[nodiscard]] T& object(action what, element where) const {
    std::byte* memory = is_direct(what) ? world_->near_memory(where.rank) : world_->far_memory(where.rank);
    return *reinterpret_cast<T*>(address(memory, checked_element(where, count())));
  }
  template <typename V>
  [[nodiscard]] operation operation_of(action what, element where, far<V> T::*field) const {
    return {.what = what,
            .target = where.rank,
            .word = reinterpret_cast<std::uint64_t*>(&(object(what, where).*field).word)};
  }
  /// To the engine a byte is a word that has eight bits.
  [[nodiscard]] operation operation_of(action what, element where, far_byte T::*field) const {
    return {.what = what,
            .target = where.rank,
            .word = reinterpret_cast<std::uint64_t*>(&(object(what, where).*field)),
            .mask = std::numeric_limits<std::uint8_t>::max()};
  }
  template <typename V>
  [[nodiscard]] operation operation_of(action what, element where, far_object<V> T::*field) const {
    return {.what = what,
            .target = where.rank,
            .word = (object(what, where).*field).words.data(),
            .bytes = sizeof(V)};
  }
  /// An operation on one word of each of `words.size()` elements in a row.
  template <typename V>
  [[nodiscard]] operation range_of(action what, element first, far<V> T::*field,
                                   std::span<const V> words) const {
    static_assert(sizeof(T) == sizeof(V),
                  "a range needs elements of one word each, so that its words are contiguous");
    (void)checked_element({first.rank, first.index + words.size() - 1}, count());
    operation result = operation_of(what, first, field);
    result.bytes = words.size_bytes();
    result.is_of_values = true;
    return result;
  }
  template <typename V>
  [[nodiscard]] operation read_of(action what, element where, far_object<V> T::*field, V& result) const {
    operation read = operation_of(what, where, field);
    read.result = &result;
    return read;
  }
  template <typename V>
  [[nodiscard]] operation read_of(action what, element where, far_object<V> T::*field,
                                  maybe_torn<V>& result) const {
    operation read = read_of(what, where, field, result.buffer());
    read.writers = result.writers();
    return read;
  }
  template <typename V>
  [[nodiscard]] operation swap_of(element where, far<V> T::*field, const V& origin) const {
    operation swap = operation_of(action::swap, where, field);
    swap.operand = static_cast<std::uint64_t>(origin);
    return swap;
  }
  template <typename V>
  [[nodiscard]] operation compare_and_swap_of(element where, far<V> T::*field, const V& expected,
                                              const V& desired) const {
    operation swap = operation_of(action::compare_and_swap, where, field);
    swap.operand = static_cast<std::uint64_t>(desired);
    swap.expected = static_cast<std::uint64_t>(expected);
    return swap;
  }

  template <typename V>
  void issue(const std::source_location& site, action what, element where, far<V> T::*field, const V* origin,
             V* result = nullptr, const V* compare = nullptr) {
    operation started = operation_of(what, where, field);
    if (origin != nullptr) started.operand = static_cast<std::uint64_t>(*origin);
    if (compare != nullptr) started.expected = static_cast<std::uint64_t>(*compare);
    started.origin = origin;
    started.compare = compare;
    started.result = result;
    world_->substrate().at(site).issue(started);
  }

  world* world_;
  array_place place_;
};

template <far_layout T>
class far_segment : public far_array<T> {
 public:
  explicit far_segment(world& w) : far_array<T>(w, 1) {}
};

/// The substrate holds undelivered signals. All ranks agree on the channel's id.
class world::signal_channel {
 public:
  explicit signal_channel(world& w) : world_(&w), id_(w.allocate_id("a signal channel")) {}
  signal_channel(const signal_channel&) = delete;
  signal_channel& operator=(const signal_channel&) = delete;
  ~signal_channel() { world_->ids_.release(id_, 1); }

  void signal(int rank, std::source_location site = std::source_location::current()) {
    world_->substrate_->at(site).signal(static_cast<int>(id_), checked_rank(*world_, rank));
  }
  void await_signal(int rank, std::source_location site = std::source_location::current()) {
    world_->substrate_->at(site).await_signal(static_cast<int>(id_), checked_sender(*world_, rank));
  }
  [[nodiscard]] bool await_signal_until(std::chrono::nanoseconds until, int rank,
                                        std::source_location site = std::source_location::current()) {
    return world_->substrate_->at(site).await_signal_until(static_cast<int>(id_),
                                                           checked_sender(*world_, rank), until);
  }

 private:
  world* world_;
  std::size_t id_;
};

/// The lock that an MPI library keeps for a target's memory. As over MPI, a read that completes behind the
/// request ensures that the rank holds the lock.
class world::lock_epoch {
 public:
  lock_epoch(world& w, int home) : world_(&w), home_(agreed(w, home)), window_(w) {}
  lock_epoch(const lock_epoch&) = delete;
  lock_epoch& operator=(const lock_epoch&) = delete;
  ~lock_epoch() { world_->ids_.release(id_, 1); }

  void begin(std::source_location site = std::source_location::current()) {
    begin_as(epoch_kind::exclusive, site);
  }
  /// Begins an epoch that other ranks may share.
  void begin_shared(std::source_location site = std::source_location::current()) {
    begin_as(epoch_kind::shared, site);
  }
  void end(std::source_location site = std::source_location::current()) {
    world_->substrate_->at(site).end_epoch(static_cast<int>(id_), home_, begun_as_);
  }

 private:
  struct alignas(slot_bytes) window {
    far<std::uint64_t> word;
  };

  /// Returns `home` if it is a rank and the same on every rank; else throws.
  [[nodiscard]] static int agreed(world& w, int home) {
    expect_alike(w, "a lock epoch", {{"home", home}});
    return checked_rank(w, home);
  }

  void begin_as(epoch_kind how, const std::source_location& site) {
    begun_as_ = how;
    world_->substrate_->at(site).begin_epoch(static_cast<int>(id_), home_, how);
    std::uint64_t ignored = 0;
    window_.get(home_, &window::word, ignored, site);
    window_.flush(home_, site);
  }

  world* world_;
  int home_;
  std::size_t id_ = world_->allocate_id("a lock epoch");
  epoch_kind begun_as_ = epoch_kind::exclusive;
  engine::far_segment<window> window_;
};

static_assert(nearfar::world<world>);
static_assert(has_lock_epochs<world>);

}  // namespace nearfar::engine
