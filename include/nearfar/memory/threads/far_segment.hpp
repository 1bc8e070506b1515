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
/// Orders: a far operation followed by its flush is complete before whatever its rank does next, and a rank
/// that sees its effect sees what preceded it. So writes release (1) and reads acquire (2).
template <typename World, far_layout T>
class far_segment {
 public:
  explicit far_segment(World& world) : world_(&world), offset_(world.allocate_far(sizeof(T))) {}
  far_segment(const far_segment&) = delete;
  far_segment& operator=(const far_segment&) = delete;
  ~far_segment() { world_->release_far(offset_, sizeof(T)); }

  template <typename V>
  void put(int target, far<V> T::*field, const V& origin) {
    word(target, field).store(origin, std::memory_order_release);  // (1)
  }
  template <typename V>
  void put(int target, far<V> T::*field, V&& origin) = delete;

  template <typename V>
  void get(int target, far<V> T::*field, V& result) {
    result = word(target, field).load(std::memory_order_acquire);  // (2)
  }

  template <typename V>
  void fetch(int target, far<V> T::*field, V& result) {
    get(target, field, result);
  }

  template <typename V>
  void swap(int target, far<V> T::*field, const V& origin, V& result) {
    result = word(target, field).exchange(origin, std::memory_order_acq_rel);  // (1) and (2)
  }
  template <typename V>
  void swap(int target, far<V> T::*field, V&& origin, V& result) = delete;

  template <typename V>
  void fetch_add(int target, far<V> T::*field, const V& origin, V& result) {
    result = word(target, field).fetch_add(origin, std::memory_order_acq_rel);  // (1) and (2)
  }
  template <typename V>
  void fetch_add(int target, far<V> T::*field, V&& origin, V& result) = delete;

  template <typename V>
  void compare_and_swap(int target, far<V> T::*field, const V& expected, const V& desired, V& result) {
    V old = expected;
    word(target, field)
        .compare_exchange_strong(old, desired, std::memory_order_acq_rel, std::memory_order_acquire);
    result = old;
  }
  template <typename V>
  void compare_and_swap(int target, far<V> T::*field, V&& expected, const V& desired, V& result) = delete;
  template <typename V>
  void compare_and_swap(int target, far<V> T::*field, const V& expected, V&& desired, V& result) = delete;

  template <typename V>
  void accumulate(int target, far<V> T::*field, const V& origin, far_op operation) {
    if (operation == far_op::replace)
      word(target, field).store(origin, std::memory_order_release);  // (1)
    else
      word(target, field).fetch_add(origin, std::memory_order_acq_rel);
  }
  template <typename V>
  void accumulate(int target, far<V> T::*field, V&& origin, far_op operation) = delete;

  void flush(int /*target*/) const noexcept {}

  /// The word of a rank of this node, read from memory.
  template <typename V>
  [[nodiscard]] V read_direct(int rank, far<V> T::*field) const {
    return direct_word(rank, field).load(std::memory_order_acquire);  // (2)
  }

  /// The word of a rank of this node, written to memory; only while no other rank writes it.
  template <typename V>
  void write_direct(int rank, far<V> T::*field, V value) {
    direct_word(rank, field).store(value, std::memory_order_release);  // (1)
  }

 private:
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
