// Names of what steps touch: words of memory, and other things that ranks share. A name is a kind and a
// number.
#pragma once

#include <cstdint>

namespace nearfar::checker {

/// The kinds of things that have names. "By rank": the number is that of a rank, perhaps beside another one
/// (`name_at_rank`).
enum class name_kind : std::uint64_t {
  cell,             // a word of memory, by its place in the memory of all ranks
  mailbox,          // the messages of a channel to a rank; by rank and channel
  exclusive_epoch,  // whether a rank holds an epoch exclusively; by rank, its home, and epoch
  guard,            // of the critical section; there is one
  library,          // 1: a rank waits outside the library; 0: it may carry out operations of others; by rank
  fences,           // touched by the fences of a rank; by rank
  lifetime,         // whether a pool has lent a word of memory; as `cell`
  object,           // of a history, by the number that the program gives it
  life,             // whether a rank has crashed, which its steps read; by rank
  shared_epoch,     // the ranks that share an epoch; by rank, its home, and epoch
  choices,          // by rank
  heavy_fences,     // orders heavy fences among themselves and with each light fence; there is one
};

inline constexpr unsigned name_kind_at = 60;  // the lowest bit of the kind
inline constexpr unsigned name_id_at = 20;    // of the number beside a rank
inline constexpr std::uint64_t name_numbers = std::uint64_t{1} << name_kind_at;
inline constexpr std::uint64_t name_ranks = std::uint64_t{1} << name_id_at;

[[nodiscard]] constexpr std::uint64_t named(name_kind kind, std::uint64_t number) noexcept {
  return (static_cast<std::uint64_t>(kind) << name_kind_at) + number;
}
[[nodiscard]] constexpr std::uint64_t name_at_rank(name_kind kind, int rank, int id = 0) noexcept {
  return named(kind, (static_cast<std::uint64_t>(id) << name_id_at) + static_cast<std::uint64_t>(rank));
}
[[nodiscard]] constexpr name_kind kind_of(std::uint64_t name) noexcept {
  return static_cast<name_kind>(name >> name_kind_at);
}

inline constexpr std::uint64_t guard_name = named(name_kind::guard, 0);
/// The message of the word holds what ranks knew before their heavy fences.
inline constexpr std::uint64_t heavy_fences_name = named(name_kind::heavy_fences, 0);

/// The name of a word after two ranks have changed names. Each rank has `words` words of memory.
[[nodiscard]] std::uint64_t renamed(std::uint64_t name, int a, int b, std::uint64_t words);

}  // namespace nearfar::checker
