/// \file
/// Sizes that decide where words are placed, and the words that far memory holds.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "nearfar/language.hpp"

namespace nearfar {

/// Distance in bytes that keeps two ranks' words in different cache lines. A constant of the project:
/// `std::hardware_destructive_interference_size` changes with compiler flags, and would change the layout of
/// shared memory between two binaries of one job.
inline constexpr std::size_t cache_line = 64;

/// Granularity in bytes of every slab. It is a multiple of 16, because MPICH 4.0.2 over UCX writes to wrong
/// addresses in windows with another size. It is a cache line, so that no two locks share one.
inline constexpr std::size_t slot_bytes = cache_line;

/// The types a far word may hold: 64-bit integers. One-byte atomics fail on some transports, and MPI promises
/// atomicity only among accumulates of one type.
template <typename T>
concept far_value = std::integral<T> && sizeof(T) == 8;

/// One word of far memory. It has no operations of its own. Only a world's far segment can access it, by rank
/// and by pointer to member, so host atomics and RMA atomics can never access one word at the same time.
template <far_value T>
struct far {
  using value_type = T;
  T word{};
};

/// One byte of far memory, alone in its word. Other ranks put to it, and ranks of its owner's node access it
/// in place. Where a rank reads in place while another rank writes, MPI promises atomicity for one byte only
/// (MPI 3.1, 11.7). A byte has no atomic operations, since those fail on some transports.
struct alignas(std::uint64_t) far_byte {
  using value_type = std::uint8_t;
  std::uint8_t byte{};
};

/// The types a far object may hold: anything that can be copied byte by byte.
template <typename T>
concept far_object_value = std::is_trivially_copyable_v<T> && std::default_initializable<T> &&
                           std::same_as<T, std::remove_cv_t<T>> && alignof(T) <= sizeof(std::uint64_t);

/// A value of any size in far memory, put and got as a whole and never accessed by atomic operations. Such an
/// access is not one step: the words arrive in any order.
template <far_object_value T>
struct far_object {
  using value_type = T;
  std::array<std::uint64_t, (sizeof(T) + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t)> words{};
};

/// A struct of far words, bytes and objects that an array can hold.
template <typename T>
concept far_element =
    std::is_standard_layout_v<T> && std::is_trivially_copyable_v<T> && std::default_initializable<T> &&
    alignof(T) >= sizeof(std::uint64_t) && alignof(T) <= slot_bytes;

/// An element that a segment can hold: one for each rank, at the same displacement in every window.
template <typename T>
concept far_layout = far_element<T> && sizeof(T) % slot_bytes == 0 && alignof(T) >= slot_bytes;

/// The types a plain cell may hold: near memory outlives its cells and does not run their destructors.
template <typename T>
concept plain_value = std::is_trivially_copyable_v<T> && std::default_initializable<T> &&
                      std::same_as<T, std::remove_cv_t<T>> && alignof(T) <= cache_line;

/// A struct of near cells that an array can hold. Its author decides whether elements share cache lines. Its
/// constructor must not throw, because the other ranks wait until all elements are made.
template <typename T>
concept near_element = std::is_nothrow_default_constructible_v<T> && std::is_trivially_destructible_v<T> &&
                       alignof(T) <= cache_line;

/// An element that a segment can hold: one for each rank, on cache lines of its own.
template <typename T>
concept near_layout = near_element<T> && sizeof(T) % cache_line == 0 && alignof(T) >= cache_line;

/// The place of an array's element: the rank that has it in its memory, and its index there. A rank alone
/// means index 0, the only one in a segment.
struct element {
  // NOLINTNEXTLINE(google-explicit-constructor): a rank is a place in a segment
  constexpr element(int in_memory_of, std::size_t number = 0) noexcept : rank(in_memory_of), index(number) {}

  int rank;
  std::size_t index;

  [[nodiscard]] friend bool operator==(const element&, const element&) = default;
};

/// Offset in bytes of the member that `field` points to.
template <typename T, typename Field>
[[nodiscard]] inline std::ptrdiff_t offset_of(const T& object, Field T::*field) noexcept {
  return reinterpret_cast<const std::byte*>(&(object.*field)) - reinterpret_cast<const std::byte*>(&object);
}

/// The encoding of "rank r" or "nobody" in a word. 0 is nobody, so zeroed memory is a valid initial state. It
/// also lets a poller wait for a change from zero, the only change of a concurrently written word that MPI
/// allows polling for.
using rank_word = std::uint64_t;

inline constexpr rank_word nobody = 0;

[[nodiscard]] constexpr rank_word to_word(int rank) noexcept { return static_cast<rank_word>(rank) + 1; }

[[nodiscard]] constexpr int to_rank(rank_word word) noexcept { return static_cast<int>(word - 1); }

/// The source of a signal that may come from any rank.
inline constexpr int any_rank = -1;

/// The operations that `accumulate` can apply to a far word.
enum class far_op : std::uint8_t { replace, sum };

}  // namespace nearfar
