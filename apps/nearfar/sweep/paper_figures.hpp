/// \file
/// nearfar figures PAPER: the analyses of a publication, each a benchmark with some values of its axes, in
/// the simulated cluster, drawn on a page, and what the paper claims judged by what was found.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/nearfar/study/plan.hpp"

namespace nearfar::command {

/// One analysis: a benchmark with the values of its axes and of the objects' parameters.
struct analysis {
  std::string name;
  std::string title;
  std::string benchmark;
  std::vector<std::string> objects;
  std::map<std::string, std::vector<std::string>> values;
};

/// What was found of one configuration in an analysis: the median over repetitions, if it was simulated.
using finding = std::function<std::optional<double>(const std::string& analysis, const std::string& object,
                                                    int ranks, const std::string& column)>;

/// Something that was claimed, or is aimed at, and what was found.
struct verdict_on_claim {
  std::string claim;
  std::optional<bool> holds;  ///< nothing: what it needs was not simulated
  std::string found;          ///< the figures
};

/// A publication.
struct paper {
  std::string name;                ///< of the subcommand
  std::string title;               ///< a line
  std::vector<analysis> analyses;  ///< in the order of the paper
  std::string machine;
  int ranks_per_node = 1;
  int most_ranks = 1;        ///< unless more is asked for
  int most_ranks_quick = 1;  ///< with --quick
  std::string ranks_text;    ///< "16 ranks, four times as many, and so on"
  /// The shapes of clusters up to so many ranks; throws `usage_error` for nodes that do not go with them.
  std::function<std::vector<shape>(int most_ranks, int ranks_per_node)> shapes;
  std::function<std::vector<verdict_on_claim>(const finding&)> judge;
};

/// Adds `nearfar figures NAME`.
void add_paper(CLI::App& figures, const paper& of, int& status);

}  // namespace nearfar::command
