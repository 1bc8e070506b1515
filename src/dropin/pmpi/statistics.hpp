/// \file
/// The counts of windows, printed when MPI ends.
#pragma once

#include "companion.hpp"

namespace nearfar::pmpi {

/// Whether NEARFAR_PMPI_STATS asks for statistics: 1 for a table on stderr, else the name of a file for JSON
/// Lines.
[[nodiscard]] bool wants_statistics();

/// Keeps the sums of a freed window; called at its rank 0.
void keep(const summary& one);

/// Collective over MPI_COMM_WORLD. Rank 0 prints what all ranks have kept.
void print_kept();

}  // namespace nearfar::pmpi
