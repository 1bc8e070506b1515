/// \file
/// Sizes that decide where words live, and the words that live in far memory.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

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

/// A struct of far words that a segment can hold: one for each rank, at the same displacement in every
/// window.
template <typename T>
concept far_layout = std::is_standard_layout_v<T> && std::is_trivially_copyable_v<T> &&
                     std::default_initializable<T> && sizeof(T) % slot_bytes == 0 && alignof(T) >= slot_bytes;

/// A struct of near cells that a segment can hold: one for each rank, on cache lines of its own.
template <typename T>
concept near_layout = std::default_initializable<T> && std::is_trivially_destructible_v<T> &&
                      sizeof(T) % cache_line == 0 && alignof(T) >= cache_line;

/// Offset in bytes of the member that `field` points to.
template <typename T, typename V>
[[nodiscard]] inline std::ptrdiff_t offset_of(const T& object, far<V> T::*field) noexcept {
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
