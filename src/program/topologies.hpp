// Topologies: which ranks of a communicator are neighbours.
#pragma once

#include <array>

#include "communicators.hpp"

namespace nearfar::program {

/// A grid, a graph that all ranks know, or one of which each rank knows its edges.
struct topology {
  int kind = MPI_UNDEFINED;  ///< MPI_CART, MPI_GRAPH or MPI_DIST_GRAPH
  run_vector<int> sizes;     ///< of a grid
  run_vector<int> periods;
  run_vector<int> ends;  ///< of a graph: the end of the edges of each rank
  run_vector<int> edges;
  /// Of a distributed graph, for each rank of the communicator.
  struct adjacent {
    run_vector<int> sources;
    run_vector<int> source_weights;
    run_vector<int> destinations;
    run_vector<int> destination_weights;
  };
  std::array<adjacent, most_ranks> of_rank;
  bool is_weighted = false;
};

/// A fault if the communicator has no topology.
[[nodiscard]] const topology& shape_of(communicator& in);
/// The neighbours of a rank, as ranks of the communicator. Those that a grid lacks at its border are
/// MPI_PROC_NULL.
[[nodiscard]] run_vector<int> sources_of(communicator& in, int rank);
[[nodiscard]] run_vector<int> destinations_of(communicator& in, int rank);

}  // namespace nearfar::program
