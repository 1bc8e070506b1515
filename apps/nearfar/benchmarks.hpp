/// \file
/// The names of the benchmarks.
#pragma once

#include <array>

namespace nearfar::command {

struct benchmark_info {
  const char* name;
  const char* summary;
};

inline constexpr std::array<benchmark_info, 2> benchmarks{{
    {"ecsb", "empty critical section: every rank acquires and releases one lock without pause"},
    {"upb", "uncontested performance: free locks, by distance from home and from the last holder"},
}};

}  // namespace nearfar::command
