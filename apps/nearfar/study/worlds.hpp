/// \file
/// The worlds in which a plan is carried out.
#pragma once

#include <string>
#include <vector>

#include "apps/nearfar/study/plan.hpp"
#include "bench/benchmark.hpp"
#include "nearfar/topology/locality.hpp"

namespace nearfar::command {

/// Where the ranks of a shape are.
struct placement {
  locality where;
  std::vector<std::string> binding{};  ///< of each rank
  std::string topology{};              ///< in words; empty: as the locality says
  bool oversubscribed = false;
};

/// Plays points of a study, one repetition at a time. A conductor decides on their order.
class stage {
 public:
  stage() = default;
  stage(const stage&) = delete;
  stage& operator=(const stage&) = delete;
  virtual ~stage() = default;

  [[nodiscard]] virtual bench::world_kind kind() const = 0;
  /// "coolmuc2", or the host's name.
  [[nodiscard]] virtual std::string machine() const = 0;
  /// The whole description of a simulated machine; else null.
  [[nodiscard]] virtual nlohmann::ordered_json description() const { return nullptr; }
  [[nodiscard]] virtual placement place(const shape& of) = 0;
  /// Why the configuration cannot be played here; empty if it can.
  [[nodiscard]] virtual std::string obstacle(const configuration& /*to*/) const { return {}; }
  /// One repetition of the configuration of that index. An exception ends the study.
  [[nodiscard]] virtual std::vector<bench::sample> play(std::size_t index, int repetition) = 0;
};

// One for each world. Return the command's status.
[[nodiscard]] int run_in_mpi(const plan& what);
[[nodiscard]] int run_in_threads(const plan& what);
[[nodiscard]] int run_simulated(const plan& what);
[[nodiscard]] int run_in_team(const plan& what);

}  // namespace nearfar::command
