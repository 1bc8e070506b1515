/// \file
/// The benchmarks of loops over containers, for the subcommands that run them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/nearfar/shared/provenance.hpp"
#include "bench/loops/loop_case.hpp"

namespace nearfar::command {

/// Cases, and the samples of each in the order of its repetitions.
struct loop_results {
  std::vector<bench::loop_case> cases;
  std::vector<std::vector<bench::loop_sample>> samples;

  /// The place of the case that another is held to: a loop over `array` that is otherwise the same, as far as
  /// arrays go. Its own place for an array; -1 if there is none.
  [[nodiscard]] int reference_of(std::size_t index) const;
  /// Time of each repetition over that of the reference in the same repetition; empty without a reference.
  [[nodiscard]] std::vector<double> times_of_reference(std::size_t index) const;
  [[nodiscard]] bool all_verified() const;
};

/// The heading that is printed about a run as a whole.
struct loop_heading {
  std::string benchmark;
  std::string pinning;
  double min_time = 0;  ///< seconds
};

/// A line for each case, to stdout.
void print_loop_table(const loop_results& results, const loop_heading& heading);

/// The provenance of cases on this machine, for the first record of a results file.
[[nodiscard]] nlohmann::ordered_json loop_provenance(const std::string& benchmark, const loop_results& of,
                                                     const bench::loop_turns& how,
                                                     const std::string& start_time);

/// Takes out cases that need more memory than there is, and says so on stderr.
void leave_out_what_does_not_fit(std::vector<bench::loop_case>& cases);

/// "triad array 1 thread, length 1000" and the like.
[[nodiscard]] std::string text_of(const bench::loop_case& of);

}  // namespace nearfar::command
