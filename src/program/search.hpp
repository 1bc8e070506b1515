// The searches over the orders of steps.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "execution.hpp"

namespace nearfar::program {

struct choice {
  process by;
  int outcome = 0;
};

using schedule = std::vector<choice>;

struct limits {
  std::uint64_t executions = 0;  ///< 0: no limit
  double seconds = 0;            ///< 0: no limit
};

struct result {
  std::uint64_t executions = 0;  ///< to their end
  std::uint64_t pruned = 0;      ///< given up, as others have the same outcome
  std::uint64_t steps = 0;
  double seconds = 0;
  bool is_complete = false;
  std::optional<fault> found;
  std::uint64_t found_in = 0;  ///< the execution, counted from 1
  schedule how;                ///< leads to what was found
  freedom under;
};

/// One execution, in which a rank goes on as long as it can.
[[nodiscard]] result run_once(execution& what, freedom under);
/// Every order of steps, up to orders of steps that do not depend on each other: source sets and sleep sets,
/// as in the checker of locks (src/checker/exhaustive.cpp).
[[nodiscard]] result search_exhaustively(execution& what, freedom under, const limits& within);
/// Executions whose steps are chosen at random.
[[nodiscard]] result search_at_random(execution& what, freedom under, const limits& within,
                                      std::uint64_t seed);
/// The execution of a schedule, which goes on as `run_once` where it ends. Throws `std::runtime_error` if it
/// does not fit the program.
[[nodiscard]] result replay(execution& what, freedom under, const schedule& how);
/// A schedule that leads to the same kind of fault with fewer changes from one process to another.
[[nodiscard]] schedule shorten(execution& what, const result& found);

}  // namespace nearfar::program
