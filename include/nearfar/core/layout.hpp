/// \file
/// Sizes that decide where words live, and the words that live in far memory.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "nearfar/core/language.hpp"

namespace nearfar {

/// Distance in bytes that keeps two ranks' words apart. One constant of the project, because
/// `std::hardware_destructive_interference_size` changes with compiler flags and would change the layout of
/// shared memory between two binaries of one job.
inline constexpr std::size_t cache_line = 64;

/// Granularity in bytes of every slab. A multiple of 16, because MPICH 4.0.2 over UCX writes to wrong
/// addresses in windows whose size is not; a cache line, so that no two locks share one.
inline constexpr std::size_t slot_bytes = cache_line;

/// What a far word may hold: 64 bits, since one-byte atomics fail on some transports and since MPI promises
/// atomicity only among accumulates of one type.
template <typename T>
concept far_value = std::integral<T> && sizeof(T) == 8;

/// One word of far memory. It has no operations of its own: only a world's far segment can reach it, by rank
/// and by pointer to member, so that a word can never be touched by host atomics and by RMA atomics at once.
template <far_value T>
struct far {
  using value_type = T;
  T word{};
};

/// What a far object may hold: anything that can be copied byte by byte.
template <typename T>
concept far_object_value = std::is_trivially_copyable_v<T> && std::default_initializable<T> &&
                           std::same_as<T, std::remove_cv_t<T>> && alignof(T) <= sizeof(std::uint64_t);

/// A value of any size in far memory, put and got as a whole and never by atomic operations. Nothing makes
/// that one step: its words arrive in any order.
template <far_object_value T>
struct far_object {
  using value_type = T;
  std::array<std::uint64_t, (sizeof(T) + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t)> words{};
};

/// A struct of far words and far objects that an array can hold.
template <typename T>
concept far_element =
    std::is_standard_layout_v<T> && std::is_trivially_copyable_v<T> && std::default_initializable<T> &&
    alignof(T) >= sizeof(std::uint64_t) && alignof(T) <= slot_bytes;

/// One that a segment can hold: one for each rank, at the same displacement in every window.
template <typename T>
concept far_layout = far_element<T> && sizeof(T) % slot_bytes == 0 && alignof(T) >= slot_bytes;

/// What a plain cell may hold: near memory outlives its cells without destroying them.
template <typename T>
concept plain_value = std::is_trivially_copyable_v<T> && std::default_initializable<T> &&
                      std::same_as<T, std::remove_cv_t<T>> && alignof(T) <= cache_line;

/// A struct of near cells that an array can hold. Its author decides whether elements share cache lines. What
/// makes one must not throw, as the other ranks wait for all of them.
template <typename T>
concept near_element = std::is_nothrow_default_constructible_v<T> && std::is_trivially_destructible_v<T> &&
                       alignof(T) <= cache_line;

/// One that a segment can hold: one for each rank, on cache lines of its own.
template <typename T>
concept near_layout = near_element<T> && sizeof(T) % cache_line == 0 && alignof(T) >= cache_line;

/// Where an element of an array is: in whose memory, and which of those there. A rank alone means the first,
/// and segments have no other.
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

/// How algorithms write "rank r" or "nobody" into a word: 0 is nobody, so that zeroed memory is a valid
/// initial state and a poller waits for a change from zero, the one thing MPI lets it poll a concurrently
/// written word for.
using rank_word = std::uint64_t;

inline constexpr rank_word nobody = 0;

[[nodiscard]] constexpr rank_word to_word(int rank) noexcept { return static_cast<rank_word>(rank) + 1; }

[[nodiscard]] constexpr int to_rank(rank_word word) noexcept { return static_cast<int>(word - 1); }

/// Source of a signal that may come from any rank.
inline constexpr int any_rank = -1;

/// Operations that `accumulate` can apply to a far word.
enum class far_op : std::uint8_t { replace, sum };

}  // namespace nearfar
