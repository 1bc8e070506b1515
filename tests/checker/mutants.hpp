// Mutants of locks, named by the text of the changed line, and the search for their faults.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nearfar/checker/checker.hpp"
#include "tests/checker/delivery_modes.hpp"

namespace nearfar::test {

/// The line of nearfar's own text at a site.
[[nodiscard]] std::string line_at(const checker::site& where);

/// Every mutant of the locks' own code that some program reaches.
[[nodiscard]] inline std::set<checker::mutation> mutants_in(const std::vector<checker::program>& programs) {
  std::set<checker::mutation> result;
  for (const checker::program& program : programs) {
    const std::vector<checker::mutation> found = checker::mutations_of(program, {}, "nearfar/lock/");
    result.insert(found.begin(), found.end());
  }
  return result;
}

/// Whether some operation of that name is changed so.
[[nodiscard]] inline bool changes(const std::set<checker::mutation>& all, checker::change how,
                                  std::string_view operation) {
  return std::any_of(all.begin(), all.end(), [&](const checker::mutation& one) {
    return one.how == how && one.operation.find(operation) != std::string::npos;
  });
}

/// A change after which a lock is as right as before, and why.
struct harmless {
  const char* file;
  const char* text;  // part of the changed line
  checker::change how;
  const char* why;
  std::string_view lock = "*";       // only in this one; "cohort_rw*": in all whose names begin so
  std::string_view operation = "*";  // only this one of those that the line asks for

  [[nodiscard]] bool is(const std::string& name, const checker::mutation& mutant) const {
    const bool is_of_lock =
        lock.ends_with('*') ? name.starts_with(lock.substr(0, lock.size() - 1)) : name == lock;
    const bool is_operation = operation == "*" || operation == mutant.operation;
    return is_of_lock && is_operation && how == mutant.how && mutant.where.file.ends_with(file) &&
           line_at(mutant.where).find(text) != std::string::npos;
  }
};

/// Harmless mutants in code that all locks share.
inline constexpr std::array harmless_in_any_lock{
    harmless{"lock/far_queue.hpp", "&words::claim", checker::change::dropped,
             "brings a cache line over, and nothing else"},
    harmless{"lock/far_queue.hpp", "&words::claim", checker::change::postponed,
             "brings a cache line over, and nothing else"},
    harmless{"lock/mcs_lock.hpp", "successor = world_->await(mine_->next", checker::change::unaware,
             "ends by a near store of a rank that needs nothing of this one before"},
};

/// Whether the mutant is one of those, or of `own`.
template <typename Own>
[[nodiscard]] bool is_known_harmless(const Own& own, const std::string& lock,
                                     const checker::mutation& mutant) {
  const auto is_it = [&](const harmless& known) { return known.is(lock, mutant); };
  return std::any_of(harmless_in_any_lock.begin(), harmless_in_any_lock.end(), is_it) ||
         std::any_of(std::begin(own), std::end(own), is_it);
}

/// The first violation, program by program, in each of the modes.
[[nodiscard]] inline std::optional<checker::violation> violation_in(
    const std::vector<checker::program>& programs, checker::options how,
    std::span<const checker::delivery_mode> modes = checker::testing::all_modes) {
  how.most_steps = 2000;
  for (const checker::program& program : programs) {
    for (const checker::delivery_mode mode : modes) {
      how.mode = mode;
      const checker::report result = checker::check(program, how);
      if (result.found) return result.found;
    }
  }
  return std::nullopt;
}

}  // namespace nearfar::test
