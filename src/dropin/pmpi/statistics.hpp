/// \file
/// What windows have counted, printed when MPI ends.
#pragma once

#include "companion.hpp"

namespace nearfar::pmpi {

/// Whether NEARFAR_PMPI_STATS asks for any: 1 for a table on stderr, else the name of a file for JSON Lines.
[[nodiscard]] bool wants_statistics();

/// Of a window that is no more, at its rank 0.
void keep(const summary& one);

/// Collective over MPI_COMM_WORLD, whose rank 0 prints what all have kept.
void print_kept();

}  // namespace nearfar::pmpi
