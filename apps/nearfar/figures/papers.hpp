/// \file
/// The publications whose analyses `nearfar figures` simulates or measures.
#pragma once

#include <CLI/CLI.hpp>

#include "apps/nearfar/figures/paper.hpp"

namespace nearfar::command {

/// Exclusive locks.
[[nodiscard]] paper uffmann2022();
/// Reader-writer locks.
[[nodiscard]] paper schmid2016();
/// Distributed queues.
[[nodiscard]] paper paznikov2023();
/// Channels between threads.
[[nodiscard]] paper laubert2021();

/// Containers on the threads of this machine: adds `nearfar figures stengel2007`. Its figures are cases of
/// loops, each measured in a process of its own.
void add_stengel2007(CLI::App& figures, int& status);

}  // namespace nearfar::command
