/// \file
/// The results of a study: samples, results file, table.
#pragma once

#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "apps/nearfar/shared/progress_bar.hpp"
#include "apps/nearfar/shared/provenance.hpp"
#include "apps/nearfar/study/plan.hpp"
#include "apps/nearfar/study/sinks.hpp"
#include "apps/nearfar/study/table.hpp"
#include "bench/results/results.hpp"

namespace nearfar::command {

/// The results of a study. Only the conductor keeps them. Any thread may stop it while another records.
class study_output {
 public:
  explicit study_output(const plan& what) : plan_(&what) {}

  /// Starts the results file. This member and the others throw `nearfar::error` for a fault, once: later
  /// members then do without the file.
  void open(const measurement& of, table_layout layout, std::size_t repetitions);
  /// Samples of an earlier run, by the index of their configuration.
  [[nodiscard]] const std::vector<bench::sample>& found() const noexcept { return found_; }
  /// Takes a sample that was found for one of the configuration.
  void adopt(std::size_t index, bench::sample sample);
  /// `count` samples that were found belong to no repetition of this run.
  void expect_beside(std::size_t count);
  /// Removes the last samples that were found.
  void drop_last(std::size_t count);
  /// Prints each line of the tables as soon as its samples are there. `all` has a sample for each line,
  /// without figures, in any order.
  void print_as_measured(const std::vector<result>& all, std::size_t repetitions);
  void step(const std::string& text);
  /// Of one repetition.
  void record(std::size_t index, std::vector<bench::sample> samples);
  /// The next `count` steps are not to be taken.
  void skip(std::size_t count);
  void close();

  /// Keeps what was measured, in place of what is to come: the file with a record of what ended the run, and
  /// the table. Nothing if it was never opened, or is closed. Returns what a user has to know of the file, or
  /// nothing.
  [[nodiscard]] std::string stop(nlohmann::ordered_json why);

  [[nodiscard]] const std::vector<result>& results() const noexcept { return results_; }
  void print();
  /// Whether every sample is of work that happened.
  [[nodiscard]] bool all_verified() const;

 private:
  template <typename Action>
  void with_sink(Action action);
  [[nodiscard]] std::FILE* table_stream() const { return plan_->prints_records() ? stderr : stdout; }
  void print_ready_lines();
  void print_rest();

  std::mutex busy_;
  const plan* plan_;
  table_layout layout_;
  bool open_ = false;
  std::optional<progress_bar> bar_;
  std::unique_ptr<record_sink> sink_;
  std::vector<bench::sample> found_;
  std::vector<result> results_;
  std::optional<growing_tables> tables_;
  std::exception_ptr lost_;  // the failure of the stream that takes the tables
};

}  // namespace nearfar::command
