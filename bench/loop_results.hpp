/// \file
/// Samples of the benchmarks of loops over containers, and how their figures are computed.
///
/// Source: H. Stengel, diploma thesis, Georg-Simon-Ohm-Fachhochschule Nürnberg, 2007, section 1.6.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace nearfar::bench {

/// Version of the format. A reader refuses any other.
inline constexpr const char* loops_schema = "nearfar.loops/1";

/// The work of one pass of a loop per element, or of a sweep per point of the grid.
struct loop_work {
  double flops = 0;
  double bytes = 0;           ///< read and written by the program
  double bytes_with_rfo = 0;  ///< plus what the cache reads before the program overwrites it
};

/// One repetition of one case. A field that does not apply to its benchmark has no value.
struct loop_sample {
  std::string benchmark;
  std::string container;
  std::string initialisation;
  std::string placement;
  int threads = 1;
  std::string pinning;
  std::optional<std::size_t> chunk;
  std::optional<std::size_t> segments;
  std::optional<std::size_t> padding;  ///< bytes between segments
  std::optional<std::string> stores;
  std::optional<std::size_t> length;  ///< elements of a vector
  std::optional<std::size_t> rows;
  std::optional<std::size_t> columns;
  std::optional<std::string> decomposition;
  int repetition = 0;
  std::int64_t iterations = 0;  ///< passes over the vectors, or sweeps
  std::chrono::nanoseconds duration{};
  std::optional<loop_work> work;     ///< of all elements in one iteration
  std::optional<double> megapoints;  ///< points that a sweep updates, in millions
  bool verified = false;             ///< the loop computed what it should

  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(duration).count(); }
  [[nodiscard]] double ns_per_iteration() const {
    return static_cast<double>(duration.count()) / static_cast<double>(iterations);
  }
  /// Rates in 10^6 or 10^9 a second.
  [[nodiscard]] std::optional<double> mflops() const { return rate(&loop_work::flops, 1e6); }
  [[nodiscard]] std::optional<double> gbytes_per_s() const { return rate(&loop_work::bytes, 1e9); }
  [[nodiscard]] std::optional<double> gbytes_per_s_with_rfo() const {
    return rate(&loop_work::bytes_with_rfo, 1e9);
  }
  [[nodiscard]] std::optional<double> mlups() const;

 private:
  // Returns nothing for an amount that the work lacks: a copy computes nothing.
  [[nodiscard]] std::optional<double> rate(double loop_work::*amount, double unit) const;
};

void to_json(nlohmann::ordered_json& to, const loop_sample& from);

}  // namespace nearfar::bench
