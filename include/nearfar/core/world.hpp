/// \file
/// The contract between algorithms and worlds: who takes part, what memory they share, how one waits.
///
/// An algorithm is a template over a `world` and uses nothing else, so that one text runs on MPI, on threads,
/// on a simulated cluster and in a model checker. The rules it keeps:
///  - a word is near (host atomics) or far (RMA), never both;
///  - no far operation is complete before its origin's `flush` returns, and its origin and result stay alive
///    until then (rvalues are refused at compile time);
///  - **seen is not complete**: ranks of its owner's node may read a far word in place at any time, but what
///    they read may be written again until its origin's flush has returned. A far word may be written in
///    place, or by put, only when every earlier far write to it is complete *and* the writer knows that by
///    happens-before: from the return of the flush, through hand-overs, messages or atomics, to the write.
///    Accumulates (every atomic is one) exclude each other and need no such order among themselves;
///  - nothing spins: every wait goes through the world, which drives progress, yields, or blocks a
///    simulated rank;
///  - constructors of segments and channels are collective: all ranks, same order.
#pragma once

#include <atomic>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <vector>

#include "nearfar/core/backoff.hpp"
#include "nearfar/core/error.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/topology/locality.hpp"

namespace nearfar {

/// An atomic word of near memory with explicit orders; no default, because each order is a decision of the
/// algorithm.
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

/// The smallest layouts, with which the concept below tries a world's segments out.
struct alignas(slot_bytes) far_probe {
  far<std::uint64_t> word;
};

template <typename W>
struct alignas(cache_line) near_probe {
  typename W::template near<std::uint64_t> cell{};
};

struct any_value {
  bool operator()(std::uint64_t) const noexcept { return true; }
};

}  // namespace detail

/// A struct of near cells for each rank, reachable by the ranks of the same node.
template <typename S, typename W>
concept near_segment_of = std::constructible_from<S, W&> && requires(S& segment, int rank) {
  { segment.at(rank) } -> std::same_as<detail::near_probe<W>&>;
};

/// A struct of far words for each rank, reachable by every rank through one-sided operations.
template <typename S, typename W>
concept far_segment_of = std::constructible_from<S, W&> &&
                         requires(S& segment, int rank, const std::uint64_t& origin, std::uint64_t& result,
                                  far<std::uint64_t> detail::far_probe::*field) {
                           segment.put(rank, field, origin);
                           segment.get(rank, field, result);
                           segment.fetch(rank, field, result);
                           segment.swap(rank, field, origin, result);
                           segment.fetch_add(rank, field, origin, result);
                           segment.compare_and_swap(rank, field, origin, origin, result);
                           segment.accumulate(rank, field, origin, far_op::replace);
                           segment.flush(rank);
                           { segment.read_direct(rank, field) } -> std::same_as<std::uint64_t>;
                           segment.write_direct(rank, field, std::uint64_t{});
                         };

/// A named stream of zero-byte messages, one for each lock, so that two locks' wake-ups are never confused.
template <typename C, typename W>
concept signal_channel_of = std::constructible_from<C, W&> && requires(C& channel, int rank) {
  channel.signal(rank);
  channel.await_signal(rank);
};

/// What every world offers. See the file's comment for the rules that go with it.
template <typename W>
concept world = requires(W& w, const W& constant, typename W::template near<std::uint64_t>& cell,
                         typename W::template far_segment<detail::far_probe>& far_words, int rank,
                         far<std::uint64_t> detail::far_probe::*field, const std::uint64_t& origin,
                         detail::any_value predicate, backoff pause, std::chrono::nanoseconds span) {
  // Place.
  { constant.rank() } -> std::same_as<int>;
  { constant.size() } -> std::same_as<int>;
  { constant.locality() } -> std::same_as<const locality&>;
  // Memory and messages.
  requires near_cell_of<typename W::template near<std::uint64_t>, std::uint64_t>;
  requires near_segment_of<typename W::template near_segment<detail::near_probe<W>>, W>;
  requires far_segment_of<typename W::template far_segment<detail::far_probe>, W>;
  requires signal_channel_of<typename W::signal_channel, W>;
  // Waiting: the value that satisfied the predicate, ordered after the store that wrote it.
  { w.await(cell, predicate) } -> std::same_as<std::uint64_t>;
  { w.await_direct(far_words, rank, field, predicate) } -> std::same_as<std::uint64_t>;
  { w.await_get(far_words, rank, field, predicate) } -> std::same_as<std::uint64_t>;
  { w.await_fetch(far_words, rank, field, predicate) } -> std::same_as<std::uint64_t>;
  { w.await_swap(far_words, rank, field, origin, predicate, pause) } -> std::same_as<std::uint64_t>;
  // Orders near cells as `std::atomic_thread_fence` does.
  w.fence(std::memory_order_seq_cst);
  w.delay(span);
  // One turn of a loop of the caller's own, which waits for another rank in a way that the world cannot see.
  w.rest();
  // Held while a lock is released, which destructors do: waits in it are not given up half-way, whatever has
  // become of other ranks. A release waits only for ranks that are in the queue and are about to say so.
  requires std::constructible_from<typename W::release_scope, W&>;
  // Among all ranks.
  w.barrier();
  { w.all_alike(std::int64_t{}) } -> std::same_as<bool>;
  { w.gather_to_all(std::int64_t{}) } -> std::same_as<std::vector<std::int64_t>>;
  // The same for rank 0 alone; the others get nothing. What many ranks keep of each other does not scale.
  { w.gather_to_first(std::int64_t{}) } -> std::same_as<std::vector<std::int64_t>>;
  { constant.now() } -> std::same_as<std::chrono::nanoseconds>;
};

/// The release scope of worlds that give up no wait.
struct plain_release_scope {
  template <typename W>
  explicit constexpr plain_release_scope(const W& /*w*/) noexcept {}
};

/// `rank`, if the world has it; otherwise throws `unreachable_rank`.
template <typename W>
[[nodiscard]] int checked_rank(const W& w, int rank) {
  if (rank < 0 || rank >= w.size()) detail::throw_no_such_rank(rank, w.size());
  return rank;
}

/// A world whose transport has exclusive locks of its own, which `mpi_win_lock` turns into a lock.
template <typename W>
concept has_exclusive_epochs = world<W> && requires(typename W::exclusive_epoch& epoch, W& w, int home) {
  requires std::constructible_from<typename W::exclusive_epoch, W&, int>;
  epoch.begin();
  epoch.end();
};

}  // namespace nearfar
