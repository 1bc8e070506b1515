/// \file
/// Far words in an MPI window. Each operation is one MPI call.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "nearfar/core/checks.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/core/maybe_torn.hpp"
#include "nearfar/core/world.hpp"
#include "nearfar/memory/far_elements.hpp"
#include "nearfar/memory/mpi/call.hpp"

namespace nearfar::mpi {

/// The count and type that one put or get moves, at both ends.
struct moved {
  int count;
  MPI_Datatype type;
};

/// A whole far object. Moved as words if it consists of whole ones, since ranks read words in place.
template <typename V>
[[nodiscard]] moved all_of() {
  static_assert(std::in_range<int>(sizeof(V)), "MPI counts by int");
  constexpr std::size_t word = sizeof(std::uint64_t);
  if constexpr (sizeof(V) % word == 0) return {static_cast<int>(sizeof(V) / word), MPI_UINT64_T};
  return {static_cast<int>(sizeof(V)), MPI_BYTE};
}

/// Elements of far words, bytes and objects for each rank, at the same displacement of the world's window.
///
/// Every operation is nonblocking and is complete, at the origin and the target, after `flush` of the
/// target's rank. Its origin and result must live until then, which is why rvalues are refused. `put` and
/// `get` are unordered among themselves and not atomic; a word that is the target of `swap`, `fetch_add`,
/// `compare_and_swap`, `fetch` or `accumulate` must never be the target of `put` at the same time. A write
/// that a rank has seen need not be complete: see the contract in core/world.hpp.
template <typename World, far_element T>
class far_array : public far_elements<World, T> {
  using elements = far_elements<World, T>;

 public:
  far_array(World& world, std::size_t count) : elements(world, count), window_(world.far_window()) {}

  template <typename V>
  void put(element where, far<V> T::*field, const V& origin) {
    put_all(&origin, {1, datatype<V>()}, where.rank, displacement(where, field));
  }
  template <typename V>
  void put(element where, far<V> T::*field, V&& origin) = delete;

  template <typename V>
  void get(element where, far<V> T::*field, V& result) {
    get_all(&result, {1, datatype<V>()}, where.rank, displacement(where, field));
  }

  /// Writes the words of as many elements as there are origins, each of one word. One operation, whose words
  /// are written in any order, each as by `put`.
  template <typename V>
  void put_range(element first, far<V> T::*field, std::span<const V> origins) {
    this->check_range(first, field, origins);
    if (origins.empty()) return;
    put_all(origins.data(), {static_cast<int>(origins.size()), datatype<V>()}, first.rank,
            displacement(first, field));
  }

  /// Reads the words of as many elements as there are results, each of one word. One operation, whose words
  /// are read in any order, each as by `get`.
  template <typename V>
  void get_range(element first, far<V> T::*field, std::span<V> results) {
    this->check_range(first, field, std::span<const V>(results));
    if (results.empty()) return;
    get_all(results.data(), {static_cast<int>(results.size()), datatype<V>()}, first.rank,
            displacement(first, field));
  }

  /// Atomic read.
  template <typename V>
  void fetch(element where, far<V> T::*field, V& result) {
    check(MPI_Fetch_and_op(nullptr, &result, datatype<V>(), where.rank, displacement(where, field), MPI_NO_OP,
                           window_),
          "MPI_Fetch_and_op");
  }

  /// Atomic exchange; `result` becomes the word's old value.
  template <typename V>
  void swap(element where, far<V> T::*field, const V& origin, V& result) {
    check(MPI_Fetch_and_op(&origin, &result, datatype<V>(), where.rank, displacement(where, field),
                           MPI_REPLACE, window_),
          "MPI_Fetch_and_op");
  }
  template <typename V>
  void swap(element where, far<V> T::*field, V&& origin, V& result) = delete;

  template <typename V>
  void fetch_add(element where, far<V> T::*field, const V& origin, V& result) {
    check(MPI_Fetch_and_op(&origin, &result, datatype<V>(), where.rank, displacement(where, field), MPI_SUM,
                           window_),
          "MPI_Fetch_and_op");
  }
  template <typename V>
  void fetch_add(element where, far<V> T::*field, V&& origin, V& result) = delete;

  /// Writes `desired` if the word is `expected`; `result` becomes its old value either way.
  template <typename V>
  void compare_and_swap(element where, far<V> T::*field, const V& expected, const V& desired, V& result) {
    check(MPI_Compare_and_swap(&desired, &expected, &result, datatype<V>(), where.rank,
                               displacement(where, field), window_),
          "MPI_Compare_and_swap");
  }
  template <typename V>
  void compare_and_swap(element where, far<V> T::*field, V&& expected, const V& desired, V& result) = delete;
  template <typename V>
  void compare_and_swap(element where, far<V> T::*field, const V& expected, V&& desired, V& result) = delete;

  /// Atomic update without a result.
  template <typename V>
  void accumulate(element where, far<V> T::*field, const V& origin, far_op operation) {
    check(MPI_Accumulate(&origin, 1, datatype<V>(), where.rank, displacement(where, field), 1, datatype<V>(),
                         operation == far_op::replace ? MPI_REPLACE : MPI_SUM, window_),
          "MPI_Accumulate");
  }
  template <typename V>
  void accumulate(element where, far<V> T::*field, V&& origin, far_op operation) = delete;

  void put(element where, far_byte T::*field, const std::uint8_t& origin) {
    put_all(&origin, {1, MPI_BYTE}, where.rank, displacement(where, field));
  }
  void put(element where, far_byte T::*field, std::uint8_t&& origin) = delete;

  /// Puts the whole object, whose words arrive in any order.
  template <typename V>
  void put(element where, far_object<V> T::*field, const V& origin) {
    put_all(&origin, all_of<V>(), where.rank, displacement(where, field));
  }
  template <typename V>
  void put(element where, far_object<V> T::*field, V&& origin) = delete;

  template <typename V>
  void get(element where, far_object<V> T::*field, V& result) {
    get_all(&result, all_of<V>(), where.rank, displacement(where, field));
  }
  /// The same while other ranks may write it: the caller must find out whether its words are of one value.
  template <typename V>
  void get(element where, far_object<V> T::*field, maybe_torn<V>& result) {
    get(where, field, result.buffer());
  }

  /// Completes all operations of this rank on `target`, at both ends.
  void flush(int target) {
    if constexpr (checked_build) target = checked_rank(this->world(), target);
    check(MPI_Win_flush(target, window_), "MPI_Win_flush");
  }

  /// MPI_Win_sync makes the store precede every far operation that this rank starts later. On MPICH 4.0.2 it
  /// is not a fence: two ranks that write in place and then read in place could both miss the other's value.
  /// So the in-place accesses themselves are sequentially consistent.
  template <typename V>
  void write_direct(element where, far<V> T::*field, V value) {
    elements::write_direct(where, field, value);
    sync();
  }
  void write_direct(element where, far_byte T::*field, std::uint8_t value) {
    elements::write_direct(where, field, value);
    sync();
  }
  template <typename V>
  void write_direct(element where, far_object<V> T::*field, const V& value) {
    elements::write_direct(where, field, value);
    sync();
  }

 private:
  template <typename Field>
  [[nodiscard]] MPI_Aint displacement(element where, Field T::*field) const {
    return this->world().far_displacement(where.rank) + static_cast<MPI_Aint>(this->offset_in_memory(where)) +
           offset_of(layout_, field);
  }
  void put_all(const void* origin, moved what, int target, MPI_Aint to) {
    check(MPI_Put(origin, what.count, what.type, target, to, what.count, what.type, window_), "MPI_Put");
  }
  void get_all(void* result, moved what, int target, MPI_Aint from) {
    check(MPI_Get(result, what.count, what.type, target, from, what.count, what.type, window_), "MPI_Get");
  }
  void sync() { check(MPI_Win_sync(window_), "MPI_Win_sync"); }

  static constexpr T layout_{};

  MPI_Win window_;
};

/// A far array with one element for each rank.
template <typename World, far_layout T>
class far_segment : public far_array<World, T> {
 public:
  explicit far_segment(World& world) : far_array<World, T>(world, 1) {}
};

}  // namespace nearfar::mpi
