/// \file
/// Loops as one writes them without this library: OpenMP's pragma above a for loop. Only sources that are
/// compiled with OpenMP include this; elsewhere the pragmas are void and all is serial.
#pragma once

#include <cstddef>

namespace nearfar::bench {

// One thread gets a loop without OpenMP, which is what a serial program has. The pragmas ask for no more than
// the compiler would do by itself: no simd clause, no promise that arrays do not overlap.

/// `body(i)` for 0 to n - 1, by `schedule(static)` or `schedule(static, chunk)`.
template <typename Body>
void raw_for(int threads, std::size_t chunk, std::size_t n, const Body& body) {
  if (threads == 1) {
    for (std::size_t i = 0; i < n; ++i) body(i);
  } else if (chunk == 0) {
#pragma omp parallel for schedule(static) num_threads(threads)
    for (std::size_t i = 0; i < n; ++i) body(i);
  } else {
#pragma omp parallel for schedule(static, chunk) num_threads(threads)
    for (std::size_t i = 0; i < n; ++i) body(i);
  }
}

/// out[i] = kernel(in[i]...) for 0 to n - 1.
template <typename Kernel, typename Out, typename... In>
void raw_pass(int threads, std::size_t chunk, std::size_t n, Out& out, const In&... in) {
  if (threads == 1) {
    for (std::size_t i = 0; i < n; ++i) out[i] = Kernel()(in[i]...);
  } else if (chunk == 0) {
#pragma omp parallel for schedule(static) num_threads(threads)
    for (std::size_t i = 0; i < n; ++i) out[i] = Kernel()(in[i]...);
  } else {
#pragma omp parallel for schedule(static, chunk) num_threads(threads)
    for (std::size_t i = 0; i < n; ++i) out[i] = Kernel()(in[i]...);
  }
}

}  // namespace nearfar::bench
