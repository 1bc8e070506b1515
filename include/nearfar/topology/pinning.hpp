/// \file
/// Rules that assign CPUs to each thread of a team.
///
/// Source: H. Stengel, diploma thesis, Georg-Simon-Ohm-Fachhochschule Nürnberg, 2007, section 2.2. Its
/// affinity library is no longer maintained; hwloc stands in for it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nearfar/topology/hardware.hpp"

namespace nearfar {

/// A rule that says which CPUs each of a row of threads may use. A value; any thread may read it.
///
/// | text      | thread i may use |
/// |-----------|------------------|
/// | `none`    | what the system lets it |
/// | `compact` | CPU i, counted through the hardware threads of a core, then through the next core |
/// | `scatter` | the CPU that shares as little as possible with those of threads 0 to i - 1 |
/// | `cache`   | all CPUs of the ith last-level cache |
/// | `numa`    | all CPUs of the ith NUMA domain |
/// | `0,2,4-7` | the ith of these CPUs, by the operating system's numbers |
///
/// All count round: with four CPUs thread 4 goes where thread 0 is. Only CPUs of the process's affinity mask
/// (at the time `hardware` was made) count. `scatter` goes round the packages, within these round the NUMA
/// domains, the caches, the cores; second hardware threads of cores come after the first ones of all.
class pinning {
 public:
  /// The rule `none`.
  pinning() = default;

  /// Reads one of the texts above; throws `topology_error` if it is none of them.
  [[nodiscard]] static pinning parse(std::string_view text);

  /// The text of the rule; `parse` makes an equal rule from it.
  [[nodiscard]] std::string to_string() const;

  /// Whether the rule leaves threads unbound.
  [[nodiscard]] bool is_none() const noexcept { return rule_ == rule::none; }

  /// The sets of CPUs that threads 0, 1, ... take in turn, each ascending, by the operating system's numbers.
  /// Thread i has set i modulo their count, which is at least 1. For `none` one empty set. Works for
  /// described machines too. Throws `topology_error` for a CPU of a list that `machine` does not have or the
  /// process may not use.
  [[nodiscard]] std::vector<std::vector<int>> cycle(const hardware& machine) const;

  /// The same, written out for threads 0 to `threads` - 1.
  [[nodiscard]] std::vector<std::vector<int>> cpus(const hardware& machine, int threads) const;

  [[nodiscard]] friend bool operator==(const pinning&, const pinning&) = default;

 private:
  enum class rule { none, compact, scatter, cache, numa, list };
  rule rule_ = rule::none;
  std::vector<int> list_;
};

}  // namespace nearfar
