/// \file
/// One search of the model checker, and what comes out of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/nearfar/check/case.hpp"
#include "apps/nearfar/check/checkable.hpp"
#include "nearfar/checker/checker.hpp"

namespace nearfar::command {

/// Version of the records' format.
inline constexpr const char* check_schema = "nearfar.check/1";

/// The limits of a search.
struct check_limits {
  std::uint64_t executions = 0;  ///< 0: no limit
  std::chrono::nanoseconds time = std::chrono::nanoseconds::max();
  int jobs = 1;
};

/// One search and its result.
struct checked {
  check_case of;
  const checkable* object = nullptr;
  check_limits within;
  checker::report result;
  /// A schedule was cut off at the limit of steps, and the search ended with it.
  bool is_cut_off = false;
  /// It was, or no violation was found but histories that the judge could not decide.
  bool is_undecided = false;
  /// A limit ended the search before it had found anything or was through.
  bool is_incomplete = false;
  /// None of its random schedules reached what the program demands.
  bool is_unmet = false;
};

/// Searches, with a count on stderr now and then. A violation comes back as short as possible.
[[nodiscard]] checked run_check(const check_case& of, const checkable& object, const check_limits& within);

/// The record of a result.
[[nodiscard]] nlohmann::ordered_json record_of(const checked& one);

/// The result in a few words. The text also says in which parts the case differs from `common`.
[[nodiscard]] std::string result_text(const checked& one, const check_case& common);

}  // namespace nearfar::command
