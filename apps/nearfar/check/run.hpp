/// \file
/// One search of the model checker after the other, and what comes out of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/nearfar/check/case.hpp"
#include "apps/nearfar/check/checkable.hpp"
#include "apps/nearfar/check/schedule.hpp"
#include "bench/output_file.hpp"
#include "nearfar/checker/checker.hpp"

namespace nearfar::command {

/// Version of the records' format.
inline constexpr const char* check_schema = "nearfar.check/1";

/// What a search may use up.
struct check_limits {
  std::uint64_t executions = 0;  ///< 0: no limit
  std::chrono::nanoseconds time = std::chrono::nanoseconds::max();
  int jobs = 1;
};

/// Files that are written only when asked for; empty: not.
struct check_files {
  std::string output;  ///< records of all results
  std::string trace;   ///< the first violation's schedule
  std::string svg;     ///< the same as a picture
};

/// One search and its result.
struct checked {
  check_case of;
  const checkable* object = nullptr;
  check_limits within;
  checker::report result;
  /// A schedule was cut off at the limit of steps, and the search ended with it.
  bool is_undecided = false;
};

/// Searches, with a count on stderr while that is a terminal. A violation comes back as short as possible.
[[nodiscard]] checked run_check(const check_case& of, const checkable& object, const check_limits& within);

/// Collects results: records, violations, their files.
class check_results {
 public:
  /// Throws `nearfar::error` for a file that cannot be written.
  check_results(const check_files& files, bool prints_json);

  void add(const checked& one);
  /// What there is when nothing comes any more, and what the user has to know of it.
  [[nodiscard]] std::string keep();
  /// Prints the violations, puts the files in their places and returns the command's status.
  [[nodiscard]] int finish();

 private:
  void record(const nlohmann::ordered_json& what);
  void print(std::size_t number, const checker::replayed& shown) const;

  check_files files_;
  bool prints_json_;
  std::optional<bench::output_file> output_;
  std::optional<bench::output_file> trace_;
  std::optional<bench::output_file> svg_;
  std::vector<checked> violations_;
  bool is_undecided_ = false;
};

/// Opens a file for a picture, unless `path` is empty.
void open_svg(std::optional<bench::output_file>& file, const std::string& path);

}  // namespace nearfar::command
