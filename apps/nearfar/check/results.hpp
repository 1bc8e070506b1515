/// \file
/// The results of the model checker's searches, one after the other.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/nearfar/check/run.hpp"
#include "bench/output_file.hpp"
#include "nearfar/checker/checker.hpp"

namespace nearfar::command {

/// Files that are written only when asked for; empty: not.
struct check_files {
  std::string output;  ///< records of all results
  std::string trace;   ///< the first violation's schedule
  std::string svg;     ///< the same as a picture
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
  bool is_cut_off_ = false;
  std::string why_undecided_;  ///< of one history; empty: all were decided
};

/// Opens a file for a picture, unless `path` is empty.
void open_svg(std::optional<bench::output_file>& file, const std::string& path);

}  // namespace nearfar::command
