/// \file
/// Far words in an MPI window: one MPI call per function.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>

#include "nearfar/core/checks.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/memory/mpi/call.hpp"

namespace nearfar::mpi {

/// A `T` of far words for each rank, at the same displacement of the world's window. Constructing it is
/// collective and synchronises; destroying it is collective in the sense that every rank must do so before
/// the next construction, but waits for nobody.
///
/// Every operation is nonblocking and complete, at the origin and the target, after `flush(target)`; its
/// origin and result must live until then, which is why rvalues are refused. `put` and `get` are unordered
/// among themselves and not atomic; a word that is the target of `swap`, `fetch_add`, `compare_and_swap`,
/// `fetch` or `accumulate` must never be the target of `put` at the same time. What a rank has seen is not
/// complete for that: see the contract in core/world.hpp.
template <typename World, far_layout T>
class far_segment {
 public:
  explicit far_segment(World& world)
      : world_(&world), window_(world.far_window()), offset_(world.allocate_far(sizeof(T))) {}
  far_segment(const far_segment&) = delete;
  far_segment& operator=(const far_segment&) = delete;
  ~far_segment() { world_->release_far(offset_, sizeof(T)); }

  template <typename V>
  void put(int target, far<V> T::*field, const V& origin) {
    check(MPI_Put(&origin, 1, datatype<V>(), target, displacement(target, field), 1, datatype<V>(), window_),
          "MPI_Put");
  }
  template <typename V>
  void put(int target, far<V> T::*field, V&& origin) = delete;

  template <typename V>
  void get(int target, far<V> T::*field, V& result) {
    check(MPI_Get(&result, 1, datatype<V>(), target, displacement(target, field), 1, datatype<V>(), window_),
          "MPI_Get");
  }

  /// Atomic read.
  template <typename V>
  void fetch(int target, far<V> T::*field, V& result) {
    check(MPI_Fetch_and_op(nullptr, &result, datatype<V>(), target, displacement(target, field), MPI_NO_OP,
                           window_),
          "MPI_Fetch_and_op");
  }

  /// Atomic exchange; `result` becomes the word's old value.
  template <typename V>
  void swap(int target, far<V> T::*field, const V& origin, V& result) {
    check(MPI_Fetch_and_op(&origin, &result, datatype<V>(), target, displacement(target, field), MPI_REPLACE,
                           window_),
          "MPI_Fetch_and_op");
  }
  template <typename V>
  void swap(int target, far<V> T::*field, V&& origin, V& result) = delete;

  template <typename V>
  void fetch_add(int target, far<V> T::*field, const V& origin, V& result) {
    check(MPI_Fetch_and_op(&origin, &result, datatype<V>(), target, displacement(target, field), MPI_SUM,
                           window_),
          "MPI_Fetch_and_op");
  }
  template <typename V>
  void fetch_add(int target, far<V> T::*field, V&& origin, V& result) = delete;

  /// Writes `desired` if the word is `expected`; `result` becomes its old value either way.
  template <typename V>
  void compare_and_swap(int target, far<V> T::*field, const V& expected, const V& desired, V& result) {
    check(MPI_Compare_and_swap(&desired, &expected, &result, datatype<V>(), target,
                               displacement(target, field), window_),
          "MPI_Compare_and_swap");
  }
  template <typename V>
  void compare_and_swap(int target, far<V> T::*field, V&& expected, const V& desired, V& result) = delete;
  template <typename V>
  void compare_and_swap(int target, far<V> T::*field, const V& expected, V&& desired, V& result) = delete;

  /// Atomic update without a result.
  template <typename V>
  void accumulate(int target, far<V> T::*field, const V& origin, far_op operation) {
    check(MPI_Accumulate(&origin, 1, datatype<V>(), target, displacement(target, field), 1, datatype<V>(),
                         operation == far_op::replace ? MPI_REPLACE : MPI_SUM, window_),
          "MPI_Accumulate");
  }
  template <typename V>
  void accumulate(int target, far<V> T::*field, V&& origin, far_op operation) = delete;

  /// Completes all operations of this rank on `target`, at both ends.
  void flush(int target) {
    if constexpr (checked_build) target = checked_rank(*world_, target);
    check(MPI_Win_flush(target, window_), "MPI_Win_flush");
  }

  /// Reads the word of a rank of this node (this rank included) from memory, while others may put to it.
  /// Ordered before everything after it, so that what the writer completed before its put can be read.
  template <typename V>
  [[nodiscard]] V read_direct(int rank, far<V> T::*field) const {
    return std::atomic_ref<V>(word(rank, field)).load(std::memory_order_seq_cst);
  }

  /// Writes the word of a rank of this node to memory. Only when every far write to it is known to be
  /// complete (core/world.hpp): one that was merely seen may be written again. MPI_Win_sync makes the store
  /// precede every far operation that this rank starts later. It is no fence on MPICH 4.0.2, where two ranks
  /// that write in place and then read in place could both miss the other's value; so both are sequentially
  /// consistent.
  template <typename V>
  void write_direct(int rank, far<V> T::*field, V value) {
    std::atomic_ref<V>(word(rank, field)).store(value, std::memory_order_seq_cst);
    check(MPI_Win_sync(window_), "MPI_Win_sync");
  }

 private:
  template <typename V>
  [[nodiscard]] MPI_Aint displacement(int target, far<V> T::*field) const {
    return world_->far_displacement(target) + static_cast<MPI_Aint>(offset_) + offset_of(layout_, field);
  }
  template <typename V>
  [[nodiscard]] V& word(int rank, far<V> T::*field) const {
    return (reinterpret_cast<T*>(world_->far_memory(rank) + offset_)->*field).word;
  }

  static constexpr T layout_{};

  World* world_;
  MPI_Win window_;
  std::size_t offset_;
};

}  // namespace nearfar::mpi
