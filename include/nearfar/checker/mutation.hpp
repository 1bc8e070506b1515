/// \file
/// Programs broken on purpose, one operation at a time: whether a check is worth anything shows in the
/// mutants that it catches. A mutant is an option of the checker, not a copy of the algorithm.
#pragma once

#include <compare>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "nearfar/core/error.hpp"

namespace nearfar::checker {

struct program;
struct options;

/// How a mutation changes the operation at a site.
enum class change : std::uint8_t {
  dropped,    ///< left out; a wait reads once and goes on; nobody is woken
  postponed,  ///< done after the rank's next operation that is no plain write in near memory or place
  split,      ///< an atomic read-modify-write becomes a read and a write
  blind,      ///< a compare-and-swap becomes a put that takes its success for granted
  relaxed,    ///< a near operation loses its memory order
  hasty,      ///< a rank falls asleep without a last look at the word that it sleeps on
  fewer,      ///< one rank is woken instead of all
  unaware,    ///< a wait stays outside the library, as one that only calls MPI_Win_sync
};
[[nodiscard]] std::string_view name(change how) noexcept;

/// A place in the text that asks for an operation: a file below include/ or the whole path, line and column.
struct site {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;

  [[nodiscard]] static site of(const std::source_location& where);
  [[nodiscard]] bool is(const std::source_location& where) const {
    return where.line() == line && where.column() == column &&
           std::string_view(where.file_name()).ends_with(file);
  }
  [[nodiscard]] friend auto operator<=>(const site&, const site&) = default;
};

/// One mutant: a change of one operation at a site. A site may ask for several, such as a get and its flush.
struct mutation {
  site where;
  change how = change::dropped;
  std::string operation{};  ///< the changed operation: "flush", "put", ...

  [[nodiscard]] std::string text() const;
  [[nodiscard]] friend auto operator<=>(const mutation&, const mutation&) = default;
};

/// Every change of every operation that the program asks for from files whose names contain `within`, found
/// by running it under `runs` random schedules.
[[nodiscard]] std::vector<mutation> mutations_of(const program& what, const options& how,
                                                 std::string_view within, std::uint64_t runs = 300);

}  // namespace nearfar::checker
