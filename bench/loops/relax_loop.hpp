/// \file
/// Sweeps over a grid in memory, ready to run.
#pragma once

#include <cstdint>
#include <memory>

#include "bench/loops/loop_case.hpp"

namespace nearfar::bench {

/// Type-erased; what is timed is virtual as a whole.
class relax_loop {
 public:
  relax_loop() = default;
  relax_loop(const relax_loop&) = delete;
  relax_loop& operator=(const relax_loop&) = delete;
  virtual ~relax_loop() = default;

  virtual void run(std::int64_t sweeps) = 0;
  /// Runs a few sweeps more, and tells whether the grid is then what a serial program makes of the one
  /// before, bit by bit, and whether the boundary is what it was in the beginning.
  [[nodiscard]] virtual bool verify() = 0;
};

/// Null for a container that has no grid.
[[nodiscard]] std::unique_ptr<relax_loop> make_relax_loop(const relax_case& of);

}  // namespace nearfar::bench
