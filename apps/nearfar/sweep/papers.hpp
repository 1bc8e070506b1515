/// \file
/// The publications whose analyses `nearfar figures` simulates or measures.
#pragma once

#include "apps/nearfar/sweep/paper_figures.hpp"

namespace nearfar::command {

/// Exclusive locks.
[[nodiscard]] paper uffmann2022();
/// Reader-writer locks.
[[nodiscard]] paper schmid2016();
/// Distributed queues.
[[nodiscard]] paper paznikov2023();
/// Channels between threads.
[[nodiscard]] paper laubert2021();

}  // namespace nearfar::command
