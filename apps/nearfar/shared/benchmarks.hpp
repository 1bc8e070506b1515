/// \file
/// The names of the benchmarks of loops over containers.
#pragma once

#include <array>

namespace nearfar::command {

struct benchmark_info {
  const char* name;
  const char* summary;
};

inline constexpr std::array<benchmark_info, 3> loop_benchmarks{{
    {"triad", "vector triad a = b + c * d over arrays and containers, from cache to memory"},
    {"stream", "copy, scale, add and triad (a = b + s * c) as STREAM names and counts them"},
    {"relax", "relaxation: sweeps of the four-point mean over a grid of rows"},
}};

}  // namespace nearfar::command
