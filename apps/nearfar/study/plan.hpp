/// \file
/// The points to measure: benchmarks x objects x axes x ranks, as a user asks for them and one by one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/benchmark.hpp"
#include "bench/results/output_file.hpp"
#include "nearfar/memory/waiting.hpp"

namespace nearfar::command {

/// How many ranks; on real hardware `ranks`, on a simulated cluster the two others.
struct shape {
  int ranks = 0;
  int nodes = 0;
  int ranks_per_node = 0;

  bool operator==(const shape&) const = default;
};

/// One benchmark as it is asked for, in words: names of objects or none, and values by the name of their
/// axis.
struct benchmark_request {
  const bench::benchmark* benchmark = nullptr;
  std::vector<std::string> objects;
  std::map<std::string, std::vector<std::string>> values;
  std::vector<shape> shapes;
  bool leaves_out = false;  ///< drops named objects that cannot run; otherwise they are an error
};

/// A point of the study.
struct configuration {
  const bench::benchmark* benchmark;
  const bench::object* object;
  bench::point axes;        ///< of the benchmark
  bench::point parameters;  ///< of the object: those that it takes
  shape where;
  bool is_named;  ///< rather than one of "all"; then it must run

  /// All coordinates together, as runners want them.
  [[nodiscard]] bench::point at() const;
  [[nodiscard]] double seconds() const;
  [[nodiscard]] double pauses() const;
};

/// The real hardware's part of a plan.
struct hardware_options {
  std::string topology;
  bool no_bind = false;
  wait_ratios ratios;
  std::optional<double> stall_limit;  ///< seconds, 0 for none
};

/// How results are kept.
enum class output_mode : std::uint8_t {
  whole,   ///< a file that appears when all is measured
  growing  ///< a file that is appended to, by which a later run goes on where this one was ended
};

/// The form of the printed results.
enum class table_format : std::uint8_t { table, osu };

struct plan {
  std::string world;  ///< mpi, threads, simulated, team
  std::string title;  ///< for the provenance: the benchmark's name, or "sweep"
  std::vector<benchmark_request> requests;
  int repetitions = 8;
  /// A point is done before that if its interval is within this share of its median; 0: never.
  double precision = 0;
  std::uint64_t seed = 1;
  std::string output;         ///< "-": standard output, and the table goes to stderr
  bench::older_output older;  ///< the fate of an older file of that name
  table_format format = table_format::table;
  output_mode mode = output_mode::whole;
  hardware_options hardware;
  std::string machine;   ///< of the simulated world
  bool verbose = false;  ///< says of each object why it is left out

  [[nodiscard]] bool prints_records() const { return output == "-"; }
};

/// Every point that is asked for, in the order of tables, whether it can be played or not; a rank that does
/// not conduct needs no more. Throws `usage_error`.
[[nodiscard]] std::vector<configuration> configurations_of(const plan& what);

/// Each point once, where it comes first: parts of a study may overlap. Throws `usage_error` for one that is
/// asked for with different efforts.
[[nodiscard]] std::vector<configuration> without_repeats(const std::vector<configuration>& all);

/// Throws `usage_error` for what no world can do.
void check(const plan& what);

/// Measures it all; returns the command's status.
[[nodiscard]] int run(const plan& what);

}  // namespace nearfar::command
