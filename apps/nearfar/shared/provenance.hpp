/// \file
/// Where a measurement comes from.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/results/results.hpp"

namespace nearfar::command {

/// The facts that a benchmark adds to those that the process knows of itself.
struct measurement {
  std::string schema = bench::results_schema;
  std::string benchmark;
  std::string world;
  std::string topology;
  std::vector<std::string> binding;  ///< of each rank
  bool oversubscribed = false;
  std::uint64_t seed = 0;
  std::size_t records_expected = 0;
  std::string start_time;                    ///< UTC, ISO 8601
  nlohmann::ordered_json machine = nullptr;  ///< the whole description of a simulated one; else null
  nlohmann::ordered_json more = nlohmann::ordered_json::object();  ///< fields of this kind of measurement
};

/// The first record of a results file.
[[nodiscard]] nlohmann::ordered_json provenance(const measurement& of);

[[nodiscard]] std::string host_name();

/// Now, or so long ago, in UTC, ISO 8601.
[[nodiscard]] std::string utc_time(std::chrono::nanoseconds ago = {});

}  // namespace nearfar::command
