/// \file
/// The names of the benchmarks.
#pragma once

#include <array>

namespace nearfar::command {

struct benchmark_info {
  const char* name;
  const char* summary;
};

/// Of locks, real and simulated.
inline constexpr std::array<benchmark_info, 2> lock_benchmarks{{
    {"ecsb", "empty critical section: every rank acquires and releases one lock without pause"},
    {"upb", "uncontested performance: free locks, by distance from home and from the last holder"},
}};

/// Of loops over containers.
inline constexpr std::array<benchmark_info, 3> loop_benchmarks{{
    {"triad", "vector triad a = b + c * d over arrays and containers, from cache to memory"},
    {"stream", "copy, scale, add and triad (a = b + s * c) as STREAM names and counts them"},
    {"relax", "relaxation: sweeps of the four-point mean over a grid of rows"},
}};

}  // namespace nearfar::command
