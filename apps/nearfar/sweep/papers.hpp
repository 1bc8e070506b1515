/// \file
/// The publications whose analyses `nearfar figures` simulates.
#pragma once

#include "apps/nearfar/sweep/paper_figures.hpp"

namespace nearfar::command {

/// Reader-writer locks.
[[nodiscard]] paper schmid2016();
/// Distributed queues.
[[nodiscard]] paper paznikov2023();

}  // namespace nearfar::command
