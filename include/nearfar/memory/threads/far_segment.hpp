/// \file
/// Far words in a process' own memory: the interface of MPI's window, each operation an atomic one.
#pragma once

#include <atomic>
#include <cstddef>

#include "nearfar/core/layout.hpp"

namespace nearfar::threads {

/// A `T` of far words for each rank of a team. Operations are complete at once and `flush` does nothing;
/// algorithms call it all the same, since in other worlds nothing is complete without.
///
/// Orders. Elsewhere a flush returns when the operation has taken effect for everybody, and what the rank
/// starts after it takes effect later. So of two ranks that write a word each and then read the other's, at
/// least one sees what the other wrote. Release and acquire do not promise that: the store may still be on
/// its way when the load after it is done. Hence all operations, in place or not, are sequentially
/// consistent:
///  - (1) they have one order S, in which those of one rank follow its program and each read finds the last
///    write before it ([atomics.order]/4; words are zeroed before a barrier, and touched by nothing else).
///    This is the memory that the model checker has for far words, where no two writes are missed by both
///    reads.
///  - (2) writes release and reads acquire: who sees a write also sees what its rank did before it, in near
///    memory, too.
///
/// Fences in `flush` and `write_direct` would not do: reads in place, with none between, could disagree on
/// which of two words was written first. They would also be a second full barrier after every swap, one that
/// a get does not need, and unknown to ThreadSanitizer. On x86 this costs an exchange for each store, and
/// nothing for loads and atomics.
template <typename World, far_layout T>
class far_segment {
 public:
  explicit far_segment(World& world) : world_(&world), offset_(world.allocate_far(sizeof(T))) {}
  far_segment(const far_segment&) = delete;
  far_segment& operator=(const far_segment&) = delete;
  ~far_segment() { world_->release_far(offset_, sizeof(T)); }

  template <typename V>
  void put(int target, far<V> T::*field, const V& origin) {
    word(target, field).store(origin, order);
  }
  template <typename V>
  void put(int target, far<V> T::*field, V&& origin) = delete;

  template <typename V>
  void get(int target, far<V> T::*field, V& result) {
    result = word(target, field).load(order);
  }

  template <typename V>
  void fetch(int target, far<V> T::*field, V& result) {
    get(target, field, result);
  }

  template <typename V>
  void swap(int target, far<V> T::*field, const V& origin, V& result) {
    result = word(target, field).exchange(origin, order);
  }
  template <typename V>
  void swap(int target, far<V> T::*field, V&& origin, V& result) = delete;

  template <typename V>
  void fetch_add(int target, far<V> T::*field, const V& origin, V& result) {
    result = word(target, field).fetch_add(origin, order);
  }
  template <typename V>
  void fetch_add(int target, far<V> T::*field, V&& origin, V& result) = delete;

  template <typename V>
  void compare_and_swap(int target, far<V> T::*field, const V& expected, const V& desired, V& result) {
    V old = expected;
    word(target, field).compare_exchange_strong(old, desired, order);
    result = old;
  }
  template <typename V>
  void compare_and_swap(int target, far<V> T::*field, V&& expected, const V& desired, V& result) = delete;
  template <typename V>
  void compare_and_swap(int target, far<V> T::*field, const V& expected, V&& desired, V& result) = delete;

  template <typename V>
  void accumulate(int target, far<V> T::*field, const V& origin, far_op operation) {
    if (operation == far_op::replace)
      word(target, field).store(origin, order);
    else
      word(target, field).fetch_add(origin, order);
  }
  template <typename V>
  void accumulate(int target, far<V> T::*field, V&& origin, far_op operation) = delete;

  /// Nothing is left to complete: each operation had its place in S (1) when it returned.
  void flush(int /*target*/) const noexcept {}

  /// The word of a rank of this node, read from memory.
  template <typename V>
  [[nodiscard]] V read_direct(int rank, far<V> T::*field) const {
    return direct_word(rank, field).load(order);
  }

  /// The word of a rank of this node, written to memory; only while no other rank writes it.
  template <typename V>
  void write_direct(int rank, far<V> T::*field, V value) {
    direct_word(rank, field).store(value, order);
  }

 private:
  static constexpr std::memory_order order = std::memory_order_seq_cst;  // (1) and (2)

  template <typename V>
  [[nodiscard]] std::atomic_ref<V> word(int rank, far<V> T::*field) const {
    return std::atomic_ref<V>((reinterpret_cast<T*>(world_->far_memory(rank) + offset_)->*field).word);
  }
  template <typename V>
  [[nodiscard]] std::atomic_ref<V> direct_word(int rank, far<V> T::*field) const {
    return std::atomic_ref<V>((reinterpret_cast<T*>(world_->near_memory(rank) + offset_)->*field).word);
  }

  World* world_;
  std::size_t offset_;
};

}  // namespace nearfar::threads
