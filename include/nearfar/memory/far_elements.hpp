/// \file
/// The common part of the far arrays of worlds on real hardware: where elements are, and how objects are read
/// and written in place.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "nearfar/core/checks.hpp"
#include "nearfar/core/fence.hpp"
#include "nearfar/core/layout.hpp"
#include "nearfar/core/maybe_torn.hpp"
#include "nearfar/memory/slab.hpp"

namespace nearfar {

// Objects are copied word by word, each word atomically, since an optimistic reader races with the writer by
// design. (1) and (2) pair: a rank that reads one word of a value also sees what its writer did before it
// wrote that value, such as a version that says that a write is under way. (3) and (4) pair: of two ranks
// that each write something and then read what the other writes, at least one sees the other's write, as with
// words.

/// Writes `value` into the words of a far object; bytes beyond its end become 0.
template <far_object_value V>
void store_words(far_object<V>& object, const V& value) noexcept {
  const auto* from = reinterpret_cast<const std::byte*>(&value);
  std::size_t left = sizeof(V);
  for (std::uint64_t& to : object.words) {
    const std::size_t bytes = std::min(left, sizeof to);
    std::uint64_t word = 0;
    std::memcpy(&word, from, bytes);
    std::atomic_ref(to).store(word, std::memory_order_release);  // (1)
    from += bytes;
    left -= bytes;
  }
  fence(std::memory_order_seq_cst);  // (3)
}

/// The reverse. The words may come from several values if other ranks write meanwhile.
template <far_object_value V>
void load_words(far_object<V>& object, V& value) noexcept {
  fence(std::memory_order_seq_cst);  // (4)
  auto* to = reinterpret_cast<std::byte*>(&value);
  std::size_t left = sizeof(V);
  for (std::uint64_t& from : object.words) {
    const std::size_t bytes = std::min(left, sizeof from);
    const std::uint64_t word = std::atomic_ref(from).load(std::memory_order_acquire);  // (2)
    std::memcpy(to, &word, bytes);
    to += bytes;
    left -= bytes;
  }
}

/// Elements of far words, bytes and objects, with the same number for each rank. Constructing it is
/// collective and synchronises. Destroying it is collective in the sense that every rank must do so before
/// the next construction, but does not wait for other ranks.
template <typename World, far_element T>
class far_elements {
 public:
  /// `count` > 0 elements for each rank, the same on every rank (`collective_mismatch` otherwise). Throws
  /// `out_of_memory` if the world does not have enough memory, `misuse` for 0.
  far_elements(World& world, std::size_t count)
      : world_(&world),
        place_(count, sizeof(T), [&](std::size_t bytes) { return world.allocate_far(bytes); }) {}
  far_elements(const far_elements&) = delete;
  far_elements& operator=(const far_elements&) = delete;

  /// The number of elements of each rank.
  [[nodiscard]] std::size_t count() const noexcept { return place_.count(); }

  /// This rank's element, for pools, which lend it.
  [[nodiscard]] std::byte* own_element(std::size_t index) const {
    return world().far_memory(world().rank()) + offset_in_memory({world().rank(), index});
  }
  static constexpr std::size_t element_bytes = sizeof(T);
  /// Whether the world has ended, so that this may only be destroyed.
  [[nodiscard]] bool world_has_ended() const noexcept { return place_.world_has_ended(); }

  /// Reads the word of a rank of this node (this rank included) from memory, while others may put to it. The
  /// read is ordered before everything after it, so what the writer completed before its put can be read.
  template <typename V>
  [[nodiscard]] V read_direct(element where, far<V> T::*field) const {
    return std::atomic_ref<V>(direct(where, field).word).load(std::memory_order_seq_cst);
  }
  /// Writes the word of a rank of this node to memory. Allowed only when every far write to it is known to be
  /// complete (core/world.hpp): a write that was merely seen may be written again.
  template <typename V>
  void write_direct(element where, far<V> T::*field, V value) {
    std::atomic_ref<V>(direct(where, field).word).store(value, std::memory_order_seq_cst);
  }

  /// The same for a byte.
  [[nodiscard]] std::uint8_t read_direct(element where, far_byte T::*field) const {
    return std::atomic_ref(direct(where, field).byte).load(std::memory_order_seq_cst);
  }
  void write_direct(element where, far_byte T::*field, std::uint8_t value) {
    std::atomic_ref(direct(where, field).byte).store(value, std::memory_order_seq_cst);
  }

  /// The same for an object, which no other rank may write meanwhile.
  template <typename V>
  [[nodiscard]] V read_direct(element where, far_object<V> T::*field) const {
    V result{};
    load_words(direct(where, field), result);
    return result;
  }
  /// The same while other ranks may write it: the caller must find out whether its words are of one value.
  template <typename V>
  void read_direct(element where, far_object<V> T::*field, maybe_torn<V>& result) const {
    load_words(direct(where, field), result.buffer());
  }
  template <typename V>
  void write_direct(element where, far_object<V> T::*field, const V& value) {
    store_words(direct(where, field), value);
  }

 protected:
  ~far_elements() = default;

  /// Throws `destroyed_while_in_use` in checked builds if the world has ended.
  [[nodiscard]] World& world() const noexcept(!checked_build) {
    if constexpr (checked_build) place_.expect_world();
    return *world_;
  }

  /// The element's offset from the beginning of a rank's far memory. Throws `misuse` in checked builds if
  /// there is no such element.
  [[nodiscard]] std::size_t offset_in_memory(element where) const {
    if constexpr (checked_build) where = checked_element(where, count());
    return place_.offset() + where.index * sizeof(T);
  }

  /// Throws `misuse` in checked builds if there are fewer elements from `first` on than words.
  template <typename V>
  void check_range(element first, far<V> T::* /*field*/, std::span<const V> words) const {
    static_assert(sizeof(T) == sizeof(V),
                  "a range needs elements of one word each, so that its words are contiguous");
    if constexpr (checked_build)
      if (!words.empty()) (void)checked_element({first.rank, first.index + words.size() - 1}, count());
  }

  /// A field of the element in its rank's far memory, which begins at `memory`.
  template <typename Field>
  [[nodiscard]] Field& in(std::byte* memory, element where, Field T::*field) const {
    return reinterpret_cast<T*>(memory + offset_in_memory(where))->*field;
  }
  /// A field of a rank of this node.
  template <typename Field>
  [[nodiscard]] Field& direct(element where, Field T::*field) const {
    return in(world().direct_memory(where.rank), where, field);
  }

 private:
  World* world_;
  array_place place_;
};

}  // namespace nearfar
