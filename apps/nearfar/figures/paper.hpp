/// \file
/// nearfar figures PAPER: the analyses of a publication, drawn on a page, and the paper's claims judged by
/// the findings. Each analysis is a benchmark with some values of its axes, in the simulated cluster or in
/// the threads of this machine.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "apps/nearfar/figures/claims.hpp"
#include "apps/nearfar/sim/published.hpp"
#include "apps/nearfar/study/plan.hpp"

namespace nearfar::command {

/// One analysis: a benchmark with the values of its axes and of the objects' parameters.
struct analysis {
  std::string name;
  std::string title;
  std::string benchmark;
  std::vector<std::string> objects;
  std::map<std::string, std::vector<std::string>> values;
  /// In place of the paper's shapes, where an analysis has its own.
  std::vector<shape> shapes{};
};

/// A publication.
struct paper {
  std::string name;                ///< of the subcommand
  std::string title;               ///< a line
  std::vector<analysis> analyses;  ///< in the order of the paper
  std::string machine;             ///< that is simulated; empty: the threads of this one
  int ranks_per_node = 1;
  int most_ranks = 1;        ///< unless more is asked for
  int most_ranks_quick = 1;  ///< with --quick
  std::string ranks_text;    ///< which numbers there are up to that: "16, 64, 256 and so on"
  std::string document{};    ///< that says more
  int repetitions = 2;
  std::map<std::string, std::vector<std::string>> values{};        ///< of all analyses
  std::map<std::string, std::vector<std::string>> quick_values{};  ///< in place of those, with --quick
  /// The publication's own effort for each point, such as "8 runs of 1 s". Empty if it does not say, and then
  /// there is no --full.
  std::string procedure{};
  int full_repetitions = 0;                                       ///< with --full
  std::map<std::string, std::vector<std::string>> full_values{};  ///< in place of `values`, with --full
  /// The shapes of clusters of at most `most_ranks` ranks. Throws `usage_error` for nodes that do not go with
  /// them.
  std::function<std::vector<shape>(int most_ranks, int ranks_per_node)> shapes;
  /// The same with --full, if they are others then.
  std::function<std::vector<shape>(int most_ranks, int ranks_per_node)> full_shapes{};
  std::function<std::vector<claim>()> claims{};  ///< called where they are judged or counted
  /// Of the page of what real ranks did; empty: they are not asked.
  std::string title_on_mpi{};
  bool has_fixed_shapes = false;  ///< for any --ranks-per-node
  /// Medians that were published of `machine`, to be drawn beside what is simulated.
  std::function<std::vector<measured_point>()> published{};
};

/// Adds `nearfar figures NAME`.
void add_paper(CLI::App& figures, const paper& of, int& status);

}  // namespace nearfar::command
