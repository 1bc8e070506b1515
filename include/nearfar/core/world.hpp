/// \file
/// The contract between algorithms and worlds: the ranks, the memory they share, and how they wait.
///
/// An algorithm is a template over a `world` and uses nothing else, so one source text runs on MPI, on
/// threads, on a simulated cluster and in a model checker. An algorithm keeps these rules:
///  - a word is near (host atomics) or far (RMA), never both;
///  - an object of more than a word is never seen as a whole while it is written. Its reader is ordered with
///    its writers, or takes a `maybe_torn` copy and finds out by other means whether that is one value;
///  - no far operation is complete before its origin's `flush` returns. Its origin and result stay alive
///    until then (rvalues are refused at compile time);
///  - **seen is not complete**: ranks of its owner's node may read a far word in place at any time, but what
///    they read may be written again until its origin's flush has returned. A rank may write a far word in
///    place, or by put, only when every earlier far write to it is complete *and* the rank knows that by
///    happens-before. This order leads from the return of the flush, through hand-overs, messages or atomics,
///    to the write. Accumulates (every atomic is one) exclude each other and need no such order among
///    themselves;
///  - algorithms never spin: every wait goes through the world, which drives progress, yields, or blocks a
///    simulated rank;
///  - constructors of segments and channels are collective: all ranks, same order.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>
#include <vector>

#include "nearfar/core/backoff.hpp"
#include "nearfar/core/condition.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/topology/locality.hpp"

namespace nearfar {

/// An atomic word of near memory with explicit orders. There is no default order, because each order is a
/// decision of the algorithm.
template <typename Cell, typename T>
concept near_cell_of =
    !std::copyable<Cell> && requires(Cell& cell, const Cell& constant, T value, T& expected) {
      { constant.load(std::memory_order_acquire) } -> std::same_as<T>;
      cell.store(value, std::memory_order_release);
      { cell.exchange(value, std::memory_order_acq_rel) } -> std::same_as<T>;
      {
        cell.compare_exchange(expected, value, std::memory_order_acq_rel, std::memory_order_acquire)
      } -> std::same_as<bool>;
      { cell.fetch_add(value, std::memory_order_acq_rel) } -> std::same_as<T>;
    };

namespace detail {

/// The smallest layouts, with which the `world` concept checks a world's arrays and segments.
struct alignas(slot_bytes) far_probe {
  far<std::uint64_t> word;
  far_object<std::array<std::uint32_t, 3>> object;
  far_byte byte;
};

template <typename W>
struct alignas(cache_line) near_probe {
  typename W::template near<std::uint64_t> cell{};
};

struct any_value {
  bool operator()(std::uint64_t) const noexcept { return true; }
};

}  // namespace detail

/// A value in near memory without atomicity, for payloads. Two accesses, one of them a write, must be ordered
/// by happens-before.
template <typename Cell, typename T>
concept plain_cell_of = !std::copyable<Cell> && requires(Cell& cell, const Cell& constant, const T& value) {
  { constant.load() } -> std::same_as<T>;
  cell.store(value);
};

/// Structs of near cells that the ranks of a node can access. Each rank has as many as all ranks asked for
/// when they made the array.
template <typename S, typename W>
concept near_array_of =
    std::constructible_from<S, W&, std::size_t> && requires(S& array, const S& constant, element where) {
      { array.at(where) } -> std::same_as<detail::near_probe<W>&>;
      { constant.count() } -> std::same_as<std::size_t>;
    };

/// Structs of far words, bytes and objects that every rank can access by one-sided operations.
template <typename S, typename W>
concept far_array_of =
    std::constructible_from<S, W&, std::size_t> &&
    requires(S& array, const S& constant, element where, const std::uint64_t& origin, std::uint64_t& result,
             far<std::uint64_t> detail::far_probe::*field) {
      array.put(where, field, origin);
      array.get(where, field, result);
      array.fetch(where, field, result);
      array.swap(where, field, origin, result);
      array.fetch_add(where, field, origin, result);
      array.compare_and_swap(where, field, origin, origin, result);
      array.accumulate(where, field, origin, far_op::replace);
      array.flush(where.rank);
      { constant.read_direct(where, field) } -> std::same_as<std::uint64_t>;
      array.write_direct(where, field, std::uint64_t{});
      { constant.count() } -> std::same_as<std::size_t>;
    } &&
    requires(S& array, const S& constant, element where, const std::array<std::uint32_t, 3>& origin,
             std::array<std::uint32_t, 3>& result,
             typename W::template maybe_torn<std::array<std::uint32_t, 3>>& copy,
             far_object<std::array<std::uint32_t, 3>> detail::far_probe::*field) {
      array.put(where, field, origin);
      // The first must be ordered with every write; the second is an optimistic copy.
      array.get(where, field, result);
      array.get(where, field, copy);
      { constant.read_direct(where, field) } -> std::same_as<std::array<std::uint32_t, 3>>;
      constant.read_direct(where, field, copy);
      array.write_direct(where, field, origin);
      { copy.confirmed() } -> std::same_as<const std::array<std::uint32_t, 3>&>;
    } &&
    requires(S& array, const S& constant, element where, const std::uint8_t& origin,
             far_byte detail::far_probe::*field) {
      array.put(where, field, origin);
      { constant.read_direct(where, field) } -> std::same_as<std::uint8_t>;
      array.write_direct(where, field, std::uint8_t{});
    };

/// A named stream of zero-byte messages. Each lock has its own, so two locks' wake-ups are never confused.
template <typename C, typename W>
concept signal_channel_of =
    std::constructible_from<C, W&> && requires(C& channel, int rank, std::chrono::nanoseconds deadline) {
      channel.signal(rank);
      channel.await_signal(rank);
      { channel.await_signal_until(deadline, rank) } -> std::same_as<bool>;
    };

/// The needs of a near lock: ranks, near memory, and waits for near cells. `world` adds far memory and
/// messages. A type that is a near world only, such as the slots of a preloaded mutex, need not pretend
/// that it has them.
template <typename W>
concept near_world = requires(W& w, const W& constant, typename W::template near<std::uint64_t>& cell,
                              const std::uint64_t& origin, detail::any_value predicate, backoff pause,
                              std::chrono::nanoseconds span, std::chrono::nanoseconds deadline) {
  // Ranks and locality.
  { constant.rank() } -> std::same_as<int>;
  { constant.size() } -> std::same_as<int>;
  { constant.locality() } -> std::same_as<const locality&>;
  // Memory.
  requires near_cell_of<typename W::template near<std::uint64_t>, std::uint64_t>;
  requires plain_cell_of<typename W::template plain<std::array<char, 3>>, std::array<char, 3>>;
  requires near_array_of<typename W::template near_array<detail::near_probe<W>>, W>;
  // An array with one element for each rank, on cache lines of its own.
  requires std::derived_from<typename W::template near_segment<detail::near_probe<W>>,
                             typename W::template near_array<detail::near_probe<W>>>;
  requires std::constructible_from<typename W::template near_segment<detail::near_probe<W>>, W&>;
  // Waits return the value that satisfied the predicate, and are ordered after the store that wrote it.
  { w.await(cell, predicate) } -> std::same_as<std::uint64_t>;
  { w.await_for_writing(cell, predicate) } -> std::same_as<std::uint64_t>;
  { w.await_exchange(cell, origin, predicate, pause) } -> std::same_as<std::uint64_t>;
  // The same until a deadline by the world's clock. A value that is present wins over a deadline in the past.
  { w.await_until(deadline, cell, predicate) } -> std::same_as<std::optional<std::uint64_t>>;
  // Called by pools (memory/pool.hpp).
  w.taken(static_cast<const std::byte*>(nullptr), std::size_t{});
  w.given_back(static_cast<const std::byte*>(nullptr), std::size_t{}, std::source_location());
  // Orders accesses to near cells as `std::atomic_thread_fence` does.
  w.fence(std::memory_order_seq_cst);
  // Let time pass: `delay` in the library, driving its progress, and `compute` outside it.
  w.delay(span);
  w.compute(span);
  // One turn of a caller's own loop that waits for another rank in a way that the world cannot see.
  w.rest();
  // Held while a lock is released, which destructors do: waits in it are not given up half-way, whatever has
  // become of other ranks. A release waits only for ranks that are in the queue and are about to register.
  requires std::constructible_from<typename W::release_scope, W&>;
  // Collective over all ranks. A world whose ranks are alike by construction answers for all of them.
  w.barrier();
  { w.all_alike(std::int64_t{}) } -> std::same_as<bool>;
  { w.gather_to_all(std::int64_t{}) } -> std::same_as<std::vector<std::int64_t>>;
  { constant.now() } -> std::same_as<std::chrono::nanoseconds>;
};

/// The time by the world's clock, where only waits and pauses depend on it: the deadline of a wait, or a
/// measurement that sets the length of a pause. The checker then need not explore how much time has passed.
/// An algorithm that compares two times itself uses `now()`.
template <typename W>
[[nodiscard]] std::chrono::nanoseconds time_for_waiting(const W& w) {
  if constexpr (requires { w.now_for_waiting(); })
    return w.now_for_waiting();
  else
    return w.now();
}

/// The interface of a whole world. The file's comment has the rules that go with it.
template <typename W>
concept world =
    near_world<W> && requires(W& w, typename W::template near<std::uint64_t>& cell,
                              typename W::template far_segment<detail::far_probe>& far_words, int rank,
                              far<std::uint64_t> detail::far_probe::*field, const std::uint64_t& origin,
                              detail::any_value predicate, backoff pause, std::chrono::nanoseconds deadline) {
      requires far_array_of<typename W::template far_array<detail::far_probe>, W>;
      requires std::derived_from<typename W::template far_segment<detail::far_probe>,
                                 typename W::template far_array<detail::far_probe>>;
      requires std::constructible_from<typename W::template far_segment<detail::far_probe>, W&>;
      requires signal_channel_of<typename W::signal_channel, W>;
      { w.await_direct(far_words, rank, field, predicate) } -> std::same_as<std::uint64_t>;
      { w.await_direct(far_words, rank, &detail::far_probe::byte, predicate) } -> std::same_as<std::uint8_t>;
      { w.await_get(far_words, rank, field, predicate) } -> std::same_as<std::uint64_t>;
      { w.await_fetch(far_words, rank, field, predicate) } -> std::same_as<std::uint64_t>;
      { w.await_swap(far_words, rank, field, origin, predicate, pause) } -> std::same_as<std::uint64_t>;
      {
        w.await_compare_and_swap(far_words, rank, field, origin, origin, predicate, pause)
      } -> std::same_as<std::uint64_t>;
      // When a far wait ends it has nothing in flight, so a deadline does not help if its target does not
      // answer.
      {
        w.await_direct_until(deadline, far_words, rank, field, predicate)
      } -> std::same_as<std::optional<std::uint64_t>>;
      {
        w.await_get_until(deadline, far_words, rank, field, predicate)
      } -> std::same_as<std::optional<std::uint64_t>>;
      {
        w.await_fetch_until(deadline, far_words, rank, field, predicate)
      } -> std::same_as<std::optional<std::uint64_t>>;
      {
        w.await_swap_until(deadline, far_words, rank, field, origin, predicate, pause)
      } -> std::same_as<std::optional<std::uint64_t>>;
      {
        w.await_compare_and_swap_until(deadline, far_words, rank, field, origin, origin, predicate, pause)
      } -> std::same_as<std::optional<std::uint64_t>>;
      // Waits for the first of several words in place (core/condition.hpp).
      {
        w.await_any(when(cell, predicate), when(far_words, rank, field, predicate))
      } -> std::same_as<satisfied_condition>;
      { w.await_any_after_pauses(pause, when(cell, predicate)) } -> std::same_as<satisfied_condition>;
      {
        w.await_any_until(deadline, when(cell, predicate))
      } -> std::same_as<std::optional<satisfied_condition>>;
      // Collective, like `gather_to_all`, for rank 0 alone; other ranks get nothing. It would not scale if
      // many ranks kept values of all others.
      { w.gather_to_first(std::int64_t{}) } -> std::same_as<std::vector<std::int64_t>>;
    };

/// The release scope of worlds that never give up a wait.
struct plain_release_scope {
  template <typename W>
  explicit constexpr plain_release_scope(const W& /*w*/) noexcept {}
};

/// Returns `rank` if the world has it; otherwise throws `unreachable_rank`.
template <typename W>
[[nodiscard]] int checked_rank(const W& w, int rank) {
  if (rank < 0 || rank >= w.size()) detail::throw_no_such_rank(rank, w.size());
  return rank;
}

/// The same for a rank from which a signal is awaited; `any_rank` is allowed.
template <typename W>
[[nodiscard]] int checked_sender(const W& w, int rank) {
  return rank == any_rank ? rank : checked_rank(w, rank);
}

/// A world whose transport has locks of its own, which `mpi_win_lock` and `mpi_rw_lock` turn into locks. One
/// rank holds an epoch after `begin`, or any number of ranks share it after `begin_shared`; each ends it by
/// `end`.
template <typename W>
concept has_lock_epochs = world<W> && requires(typename W::lock_epoch& epoch, W& w, int home) {
  requires std::constructible_from<typename W::lock_epoch, W&, int>;
  epoch.begin();
  epoch.begin_shared();
  epoch.end();
};

}  // namespace nearfar
