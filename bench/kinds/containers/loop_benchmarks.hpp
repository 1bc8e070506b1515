/// \file
/// The benchmarks of loops over containers. Their objects, the containers, divide work among a team of
/// threads.
///
/// Source: H. Stengel, diploma thesis, Georg-Simon-Ohm-Fachhochschule Nürnberg, 2007.
#pragma once

#include "bench/axis.hpp"
#include "bench/benchmark.hpp"
#include "bench/kinds/containers/loop_case.hpp"
#include "bench/object.hpp"

namespace nearfar::bench {

/// The vector triad a = b + c * d.
[[nodiscard]] benchmark triad();
/// The loops of STREAM.
[[nodiscard]] benchmark stream();
/// Sweeps over a grid.
[[nodiscard]] benchmark relax();

/// A case as a point of its benchmark.
struct loop_point {
  const benchmark* of;
  const object* container;
  point axes;        ///< of the benchmark
  point parameters;  ///< of the container
  int threads;
};

/// `min_time` is the shortest duration of a repetition in seconds.
[[nodiscard]] loop_point point_of(const loop_case& of, double min_time);

}  // namespace nearfar::bench
