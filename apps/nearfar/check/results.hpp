/// \file
/// The results of the model checker's searches, one after the other.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/nearfar/check/run.hpp"
#include "bench/results/output_file.hpp"
#include "nearfar/checker/checker.hpp"

namespace nearfar::command {

/// Files that are written only when asked for; empty: not.
struct check_files {
  std::string output;           ///< records of all results
  std::string trace;            ///< the first violation's schedule
  std::string svg;              ///< the same as a picture
  bench::older_output older{};  ///< the fate of older files of these names

  /// The same of a file to which nothing can be added.
  [[nodiscard]] bench::older_output older_whole() const { return {.is_replaced = older.is_replaced}; }

  /// Whether one is asked for.
  [[nodiscard]] bool any() const { return !output.empty() || !trace.empty() || !svg.empty(); }
};

/// Collects results: records, violations, their files.
class check_results {
 public:
  /// Throws `nearfar::error` for a file that cannot be written.
  check_results(const check_files& files, bool prints_json);

  void add(const checked& one);
  /// Keeps the records so far if no more results come. Returns what the user has to know of it.
  [[nodiscard]] std::string keep();
  /// Prints the violations, puts the files in their places and returns the command's status.
  [[nodiscard]] int finish();
  /// Before `finish`: limits of these searches belong to what the user asks for.
  void take_limits_for_complete() { needs_completeness_ = false; }

 private:
  void record(const nlohmann::ordered_json& what);
  void print(std::size_t number, const checker::replayed& shown) const;
  /// Names the files that were asked for and that nothing was found for.
  void say_what_is_missing() const;

  check_files files_;
  bool prints_json_;
  std::optional<bench::output_file> output_;
  std::optional<bench::output_file> trace_;
  std::optional<bench::output_file> svg_;
  std::vector<checked> violations_;
  bool is_undecided_ = false;
  bool is_cut_off_ = false;
  bool is_unmet_ = false;
  bool needs_completeness_ = true;
  std::size_t searches_ = 0;
  std::size_t incomplete_ = 0;  // of those
  std::string why_undecided_;   ///< of one history; empty: all were decided
};

/// Opens the file for a picture, if one is asked for.
void open_svg(std::optional<bench::output_file>& file, const check_files& files);

}  // namespace nearfar::command
