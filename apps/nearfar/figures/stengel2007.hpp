/// \file
/// The figures of a publication as cases of the benchmarks of loops, to be measured anew on any machine.
///
/// Source: H. Stengel, diploma thesis, Georg-Simon-Ohm-Fachhochschule Nürnberg, 2007; the figures' numbers
/// and what they show are the thesis', the machines are not.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "bench/kinds/containers/loop_case.hpp"

namespace nearfar::command {

/// The quantity on the horizontal axis of a figure.
enum class figure_axis { length, chunk, segments, threads, pinning };

/// As results files call it.
[[nodiscard]] const char* name_of(figure_axis axis) noexcept;

/// The machine, and the settings for figures.
struct figure_machine {
  std::vector<int> threads{1};  ///< numbers of threads to run with, ascending
  std::vector<int> cpus{0};     ///< the operating system's numbers of the CPUs that threads may use
  int domains = 1;              ///< NUMA domains, emulated ones too
  int domain = 0;               ///< the one that the first thread runs on
  bool quick = false;           ///< only so much that every part of the code runs
  bool full = false;            ///< grids and sweeps as published
};

/// A point of a curve.
struct figure_case {
  std::string series;  ///< the curve's name
  bench::loop_case what;
};

struct figure_definition {
  const char* number;
  const char* title;
  figure_axis axis;
  /// Whether the figure shows an effect that needs several NUMA domains.
  bool needs_domains;
  /// The part that a machine with one NUMA domain cannot show; empty if it shows everything.
  const char* with_one_domain;
  /// Everything that has to be measured for it; never empty.
  std::vector<figure_case> (*cases)(const figure_machine& on);
};

/// Figures 1.7 to 4.3, as far as they show measurements.
[[nodiscard]] std::span<const figure_definition> stengel2007();

}  // namespace nearfar::command
