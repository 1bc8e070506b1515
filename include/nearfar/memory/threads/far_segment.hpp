/// \file
/// Far words in a process's own memory: the interface of the MPI world's far segments, with atomic
/// operations.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "nearfar/core/layout.hpp"
#include "nearfar/core/maybe_torn.hpp"
#include "nearfar/memory/far_elements.hpp"

namespace nearfar::threads {

/// Elements of far words, bytes and objects for each rank of a team. Operations are complete at once and
/// `flush` does nothing. Algorithms call it all the same, since in other worlds no operation is complete
/// without it.
///
/// Orders. In other worlds a flush returns when the operation has taken effect for all ranks, and what the
/// rank starts after the flush takes effect later. So of two ranks that each write a word and then read the
/// other's, at least one sees what the other wrote. Release and acquire do not promise that: the store may
/// still be under way when the load after it is done. Hence all operations on words, in place or not, are
/// sequentially consistent:
///  - (1) they have one order S, in which the operations of one rank follow its program and each read finds
///    the last write before it ([atomics.order]/4; words are zeroed before a barrier, and touched by nothing
///    else). The model checker has the same memory for far words: of two writes with a read after each, at
///    least one read finds the other's write.
///  - (2) writes release and reads acquire: a rank that sees a write also sees what the writer did before it,
///    in near memory, too.
///
/// Fences in `flush` and `write_direct` would not be enough: reads in place, without a fence between them,
/// could disagree on which of two words was written first. They would also be a second full barrier after
/// every swap, one that a get does not need, and unknown to ThreadSanitizer. On x86 sequential consistency
/// costs an exchange for each store, and nothing for loads and atomics.
///
/// Objects are too large for that. Each of their words releases and acquires as in (2), and one fence after a
/// whole put and before a whole get has a place in S (memory/far_elements.hpp).
template <typename World, far_element T>
class far_array : public far_elements<World, T> {
  using elements = far_elements<World, T>;

 public:
  using elements::elements;

  template <typename V>
  void put(element where, far<V> T::*field, const V& origin) {
    word(where, field).store(origin, order);
  }
  template <typename V>
  void put(element where, far<V> T::*field, V&& origin) = delete;

  template <typename V>
  void get(element where, far<V> T::*field, V& result) {
    result = word(where, field).load(order);
  }

  template <typename V>
  void put_range(element first, far<V> T::*field, std::span<const V> origins) {
    this->check_range(first, field, origins);
    for (const V& origin : origins) {
      put(first, field, origin);
      ++first.index;
    }
  }

  template <typename V>
  void get_range(element first, far<V> T::*field, std::span<V> results) {
    this->check_range(first, field, std::span<const V>(results));
    for (V& result : results) {
      get(first, field, result);
      ++first.index;
    }
  }

  template <typename V>
  void fetch(element where, far<V> T::*field, V& result) {
    get(where, field, result);
  }

  template <typename V>
  void swap(element where, far<V> T::*field, const V& origin, V& result) {
    result = word(where, field).exchange(origin, order);
  }
  template <typename V>
  void swap(element where, far<V> T::*field, V&& origin, V& result) = delete;

  template <typename V>
  void fetch_add(element where, far<V> T::*field, const V& origin, V& result) {
    result = word(where, field).fetch_add(origin, order);
  }
  template <typename V>
  void fetch_add(element where, far<V> T::*field, V&& origin, V& result) = delete;

  template <typename V>
  void compare_and_swap(element where, far<V> T::*field, const V& expected, const V& desired, V& result) {
    V old = expected;
    word(where, field).compare_exchange_strong(old, desired, order);
    result = old;
  }
  template <typename V>
  void compare_and_swap(element where, far<V> T::*field, V&& expected, const V& desired, V& result) = delete;
  template <typename V>
  void compare_and_swap(element where, far<V> T::*field, const V& expected, V&& desired, V& result) = delete;

  template <typename V>
  void accumulate(element where, far<V> T::*field, const V& origin, far_op operation) {
    if (operation == far_op::replace)
      word(where, field).store(origin, order);
    else
      word(where, field).fetch_add(origin, order);
  }
  template <typename V>
  void accumulate(element where, far<V> T::*field, V&& origin, far_op operation) = delete;

  void put(element where, far_byte T::*field, const std::uint8_t& origin) {
    std::atomic_ref(reached(where, field).byte).store(origin, order);
  }
  void put(element where, far_byte T::*field, std::uint8_t&& origin) = delete;

  template <typename V>
  void put(element where, far_object<V> T::*field, const V& origin) {
    store_words(reached(where, field), origin);
  }
  template <typename V>
  void put(element where, far_object<V> T::*field, V&& origin) = delete;

  template <typename V>
  void get(element where, far_object<V> T::*field, V& result) {
    load_words(reached(where, field), result);
  }
  template <typename V>
  void get(element where, far_object<V> T::*field, maybe_torn<V>& result) {
    get(where, field, result.buffer());
  }

  /// Nothing is left to complete: each operation had its place in S (1) when it returned.
  void flush([[maybe_unused]] int target) const noexcept(!checked_build) {
    if constexpr (checked_build) (void)checked_rank(this->world(), target);
  }

 private:
  static constexpr std::memory_order order = std::memory_order_seq_cst;  // (1) and (2)

  template <typename Field>
  [[nodiscard]] Field& reached(element where, Field T::*field) const {
    return this->in(this->world().far_memory(where.rank), where, field);
  }
  template <typename V>
  [[nodiscard]] std::atomic_ref<V> word(element where, far<V> T::*field) const {
    return std::atomic_ref<V>(reached(where, field).word);
  }
};

/// A far array with one element for each rank.
template <typename World, far_layout T>
class far_segment : public far_array<World, T> {
 public:
  explicit far_segment(World& world) : far_array<World, T>(world, 1) {}
};

}  // namespace nearfar::threads
