/// \file
/// Published measurements that a simulation is fitted to and judged by.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apps/nearfar/study/simulated_cluster.hpp"

namespace nearfar::command {

/// A median that someone measured.
struct measured_point {
  std::string lock;       ///< the registered lock of the same algorithm
  std::string published;  ///< the lock's name there
  cluster_shape shape;
  std::string benchmark;  ///< its name in the command
  std::string scenario;   ///< of the UPB; empty for the ECSB
  double ns = 0;  ///< from one acquisition to the next; the median, where several suites of a session have it
  std::string session;  ///< the suite that it was measured in, or the session that the suite belongs to
  std::string place;    ///< file and line, of the first of several suites

  /// The run of the published program that measured the point over the network, whose speed differs from run
  /// to run: the session, the benchmark and, as each is a job of its own, the shape. Empty within a node.
  [[nodiscard]] std::string job() const;
};

/// A number of a machine that the fit may change: all fields of these names, by one common factor.
struct free_parameter {
  std::string meaning;
  std::vector<std::string> fields;
  double low = 0;  ///< physically plausible values of the first field
  double high = 0;
};

/// Which published locks are which registered ones, and what the fit may change.
struct fit_plan {
  std::map<std::string, std::string> same_algorithm;  ///< registered lock by published name
  std::map<std::string, std::string> not_compared;    ///< reason by published name
  std::map<std::string, std::string> same_session;    ///< session by suite, for suites that share rows
  std::map<std::string, std::string> kinds;           ///< kind by registered lock
  std::vector<free_parameter> free;

  /// The kind that the lock shares with others; without an entry, its name up to the first dot.
  [[nodiscard]] std::string kind_of(const std::string& lock) const;
};

/// Reads a plan, schema "nearfar.fit/1". Throws `usage_error` that names the file and what is wrong with it.
[[nodiscard]] fit_plan parse_plan(std::string_view text, const std::string& file);

/// A text and the name that messages give it.
struct source {
  std::string file;
  std::string text;
};
/// The file, or, for an empty name, the shipped one. Throws `usage_error` if it cannot be read.
[[nodiscard]] source read_source(const std::string& file, std::string_view shipped);

/// The published measurements.
struct published_data {
  std::vector<measured_point> ecsb;
  std::vector<measured_point> upb;
  std::map<std::string, std::string> left_out;  ///< reason by published name
};

/// Reads both CSV files, whose columns are those of machines/coolmuc2; the column `suite` may be absent.
/// Throws `usage_error` that names file and line.
[[nodiscard]] published_data read_published(const source& upb, const source& ecsb, const fit_plan& plan);

/// The medians over all sessions.
[[nodiscard]] std::vector<measured_point> over_sessions(const std::vector<measured_point>& points);

}  // namespace nearfar::command
