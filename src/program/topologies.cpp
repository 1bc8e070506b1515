#include "topologies.hpp"

#include <algorithm>
#include <functional>
#include <string>

#include "collectives.hpp"

namespace nearfar::program {

namespace {

using ints = run_vector<int>;

[[nodiscard]] int product(const ints& all) noexcept {
  int result = 1;
  for (const int one : all) result *= one;
  return result;
}

/// The place of a rank in the grid. The last dimension varies fastest.
[[nodiscard]] ints coordinates_of(const topology& grid, int rank) {
  ints result(grid.sizes.size());
  for (std::size_t d = grid.sizes.size(); d-- > 0;) {
    result[d] = rank % grid.sizes[d];
    rank /= grid.sizes[d];
  }
  return result;
}

/// MPI_PROC_NULL for a place outside of the grid.
[[nodiscard]] int rank_at(const topology& grid, const ints& coordinates) {
  int rank = 0;
  for (std::size_t d = 0; d < grid.sizes.size(); ++d) {
    const int size = grid.sizes[d];
    int one = coordinates[d];
    if (grid.periods[d] != 0) one = (one % size + size) % size;
    if (one < 0 || one >= size) return MPI_PROC_NULL;
    rank = rank * size + one;
  }
  return rank;
}

[[nodiscard]] int shifted(const topology& grid, int rank, std::size_t dimension, int by) {
  ints at = coordinates_of(grid, rank);
  at[dimension] += by;
  return rank_at(grid, at);
}

[[nodiscard]] ints graph_neighbours(const topology& graph, int rank) {
  const int begin = rank == 0 ? 0 : graph.ends[static_cast<std::size_t>(rank - 1)];
  return {graph.edges.begin() + begin, graph.edges.begin() + graph.ends[static_cast<std::size_t>(rank)]};
}

[[nodiscard]] ints neighbours_of(communicator& in, int rank, ints topology::adjacent::*which) {
  const topology& shape = shape_of(in);
  if (shape.kind == MPI_GRAPH) return graph_neighbours(shape, rank);
  if (shape.kind == MPI_DIST_GRAPH) return shape.of_rank[static_cast<std::size_t>(rank)].*which;
  ints result;
  for (std::size_t d = 0; d < shape.sizes.size(); ++d)
    for (const int by : {-1, 1}) result.push_back(shifted(shape, rank, d, by));
  return result;
}

/// Ranks have to ask for the same topology.
[[nodiscard]] std::intptr_t digest(const ints& all) noexcept {
  std::uint64_t result = 1469598103934665603U;
  for (const int one : all) result = (result ^ static_cast<std::uint32_t>(one)) * 0x100000001b3U;
  return static_cast<std::intptr_t>(result);
}

/// All ranks bring numbers. The first that goes on makes the communicator of the first `size` ranks, with
/// what `build` makes of the numbers.
template <typename Build>
[[nodiscard]] int make_shaped(const char* name, MPI_Comm comm, int size, const ints& brought, bool is_same,
                              MPI_Comm* made, Build build) {
  communicator& in = communicator_of(comm);
  if (in.is_inter) return error_of(&in, MPI_ERR_COMM, "a topology needs an intracommunicator");
  if (size < 0 || static_cast<std::size_t>(size) > in.members.size())
    return error_of(&in, MPI_ERR_DIMS,
                    "the topology has " + std::to_string(size) + " ranks, and the communicator " +
                        std::to_string(in.members.size()));
  collective& one = arrive(in, name, -1, is_same ? digest(brought) : 0, "topology",
                           [&](contribution& mine) { mine.counts = brought; });
  await(one, in.everybody());
  if (one.result == nullptr) {
    communicator* const shaped = make_communicator({in.members.begin(), in.members.begin() + size});
    auto* const shape = make_for_run<topology>();
    build(one, *shape);
    shaped->shape = shape;
    one.result = shaped;
  }
  auto* const shaped = static_cast<communicator*>(one.result);
  *made = MPI_COMM_NULL;
  if (in.rank_of(self().number) >= size) return MPI_SUCCESS;
  shaped->mine().handler = in.mine().handler;
  *made = add_communicator(shaped);
  return MPI_SUCCESS;
}

[[nodiscard]] const topology& of_kind(MPI_Comm comm, int kind) {
  const topology& shape = shape_of(communicator_of(comm));
  if (shape.kind != kind) fail("argument", "the communicator has another topology (MPI_ERR_TOPOLOGY)");
  return shape;
}

void copy_some(const ints& from, int at_most, int* to) {
  for (std::size_t i = 0; i < from.size() && static_cast<int>(i) < at_most; ++i) to[i] = from[i];
}

[[nodiscard]] bool is_rank(communicator& in, int rank) noexcept {
  return rank >= 0 && static_cast<std::size_t>(rank) < in.members.size();
}

void check_ranks(communicator& in, const int* all, int n) {
  for (int i = 0; i < n; ++i)
    if (!is_rank(in, all[i]))
      fail("argument", "the communicator has no rank " + std::to_string(all[i]) + " (MPI_ERR_RANK)");
}

/// Numbers that follow each other in what a rank has brought.
class reader {
 public:
  explicit reader(const ints& all) noexcept : at_(all.data()) {}
  int next() noexcept { return *at_++; }
  ints next(int n) {
    ints result(at_, at_ + n);
    at_ += n;
    return result;
  }

 private:
  const int* at_;
};

void append(ints& to, const int* from, int n) { to.insert(to.end(), from, from + n); }
/// MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY are no addresses.
[[nodiscard]] bool has_weights(const int* weights) noexcept {
  return weights != MPI_UNWEIGHTED && weights != MPI_WEIGHTS_EMPTY;
}
void append_weights(ints& to, const int* weights, int n) {
  if (has_weights(weights))
    append(to, weights, n);
  else
    to.insert(to.end(), static_cast<std::size_t>(n), 1);
}

}  // namespace

const topology& shape_of(communicator& in) {
  if (in.shape == nullptr) fail("argument", "the communicator has no topology (MPI_ERR_TOPOLOGY)");
  return *in.shape;
}

run_vector<int> sources_of(communicator& in, int rank) {
  return neighbours_of(in, rank, &topology::adjacent::sources);
}
run_vector<int> destinations_of(communicator& in, int rank) {
  return neighbours_of(in, rank, &topology::adjacent::destinations);
}

}  // namespace nearfar::program

using namespace nearfar::program;  // NOLINT(google-build-using-namespace)

extern "C" {

int MPI_Topo_test(MPI_Comm comm, int* status) {
  NEARFAR_MPI_CALL(MPI_Topo_test);
  const topology* const shape = communicator_of(comm).shape;
  *status = shape == nullptr ? MPI_UNDEFINED : shape->kind;
  return MPI_SUCCESS;
}

int MPI_Dims_create(int nnodes, int ndims, int dims[]) {
  NEARFAR_MPI_CALL(MPI_Dims_create);
  int left = nnodes;
  run_vector<int> chosen;
  for (int d = 0; d < ndims; ++d) {
    if (dims[d] < 0) return error_of(mpi().world, MPI_ERR_DIMS, "a dimension is negative");
    if (dims[d] == 0)
      chosen.push_back(1);
    else if (left % dims[d] == 0)
      left /= dims[d];
    else
      return error_of(mpi().world, MPI_ERR_DIMS,
                      "the dimensions do not divide " + std::to_string(nnodes) + " ranks");
  }
  if (chosen.empty()) return MPI_SUCCESS;
  run_vector<int> factors;
  for (int factor = 2; left > 1; ++factor)
    for (; left % factor == 0; left /= factor) factors.push_back(factor);
  for (std::size_t i = factors.size(); i-- > 0;)
    *std::min_element(chosen.begin(), chosen.end()) *= factors[i];
  std::sort(chosen.begin(), chosen.end(), std::greater<>());
  for (int d = 0, i = 0; d < ndims; ++d)
    if (dims[d] == 0) dims[d] = chosen[static_cast<std::size_t>(i++)];
  return MPI_SUCCESS;
}

int MPI_Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int,
                    MPI_Comm* comm_cart) {
  NEARFAR_MPI_CALL(MPI_Cart_create);
  if (ndims < 0)
    return error_of(&communicator_of(comm_old), MPI_ERR_DIMS, "the number of dimensions is negative");
  const run_vector<int> sizes(dims, dims + ndims);
  if (std::any_of(sizes.begin(), sizes.end(), [](int one) { return one <= 0; }))
    return error_of(&communicator_of(comm_old), MPI_ERR_DIMS, "a dimension is not positive");
  run_vector<int> all = sizes;
  append(all, periods, ndims);
  return make_shaped("MPI_Cart_create", comm_old, product(sizes), all, true, comm_cart,
                     [&](collective&, topology& shape) {
                       shape.kind = MPI_CART;
                       shape.sizes = sizes;
                       shape.periods.assign(periods, periods + ndims);
                     });
}

int MPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm* newcomm) {
  NEARFAR_MPI_CALL(MPI_Cart_sub);
  const topology& grid = of_kind(comm, MPI_CART);
  communicator& in = communicator_of(comm);
  const run_vector<int> remain(remain_dims, remain_dims + grid.sizes.size());
  collective& one =
      arrive(in, "MPI_Cart_sub", -1, digest(remain), "choice of dimensions", [](contribution&) {});
  await(one, in.everybody());
  const run_vector<int> here = coordinates_of(grid, in.rank_of(self().number));
  run_vector<int> members;
  for (std::size_t i = 0; i < in.members.size(); ++i) {
    const run_vector<int> there = coordinates_of(grid, static_cast<int>(i));
    bool is_in = true;
    for (std::size_t d = 0; d < remain.size(); ++d) is_in = is_in && (remain[d] != 0 || here[d] == there[d]);
    if (is_in) members.push_back(in.members[i]);
  }
  // The first member that comes makes it for all.
  contribution& leader = one.of(members[0]);
  if (leader.object == nullptr) {
    auto* const shape = make_for_run<topology>();
    shape->kind = MPI_CART;
    for (std::size_t d = 0; d < remain.size(); ++d)
      if (remain[d] != 0) {
        shape->sizes.push_back(grid.sizes[d]);
        shape->periods.push_back(grid.periods[d]);
      }
    communicator* const made = make_communicator(members);
    made->shape = shape;
    leader.object = made;
  }
  auto* const made = static_cast<communicator*>(const_cast<void*>(leader.object));
  made->mine().handler = in.mine().handler;
  *newcomm = add_communicator(made);
  return MPI_SUCCESS;
}

int MPI_Cartdim_get(MPI_Comm comm, int* ndims) {
  NEARFAR_MPI_CALL(MPI_Cartdim_get);
  *ndims = static_cast<int>(of_kind(comm, MPI_CART).sizes.size());
  return MPI_SUCCESS;
}

int MPI_Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]) {
  NEARFAR_MPI_CALL(MPI_Cart_get);
  const topology& grid = of_kind(comm, MPI_CART);
  copy_some(grid.sizes, maxdims, dims);
  copy_some(grid.periods, maxdims, periods);
  copy_some(coordinates_of(grid, communicator_of(comm).rank_of(self().number)), maxdims, coords);
  return MPI_SUCCESS;
}

int MPI_Cart_rank(MPI_Comm comm, const int coords[], int* rank) {
  NEARFAR_MPI_CALL(MPI_Cart_rank);
  const topology& grid = of_kind(comm, MPI_CART);
  *rank = rank_at(grid, {coords, coords + grid.sizes.size()});
  if (*rank < 0)
    return error_of(&communicator_of(comm), MPI_ERR_ARG, "the coordinates are outside of the grid");
  return MPI_SUCCESS;
}

int MPI_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[]) {
  NEARFAR_MPI_CALL(MPI_Cart_coords);
  const topology& grid = of_kind(comm, MPI_CART);
  communicator& in = communicator_of(comm);
  if (!is_rank(in, rank))
    return error_of(&in, MPI_ERR_RANK, "the communicator has no rank " + std::to_string(rank));
  copy_some(coordinates_of(grid, rank), maxdims, coords);
  return MPI_SUCCESS;
}

int MPI_Cart_shift(MPI_Comm comm, int direction, int disp, int* rank_source, int* rank_dest) {
  NEARFAR_MPI_CALL(MPI_Cart_shift);
  const topology& grid = of_kind(comm, MPI_CART);
  communicator& in = communicator_of(comm);
  if (direction < 0 || static_cast<std::size_t>(direction) >= grid.sizes.size())
    return error_of(&in, MPI_ERR_DIMS, "the grid has no dimension " + std::to_string(direction));
  const int rank = in.rank_of(self().number);
  *rank_source = shifted(grid, rank, static_cast<std::size_t>(direction), -disp);
  *rank_dest = shifted(grid, rank, static_cast<std::size_t>(direction), disp);
  return MPI_SUCCESS;
}

int MPI_Cart_map(MPI_Comm comm, int ndims, const int dims[], const int[], int* newrank) {
  NEARFAR_MPI_CALL(MPI_Cart_map);
  const int rank = communicator_of(comm).rank_of(self().number);
  *newrank = rank < product({dims, dims + ndims}) ? rank : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int MPI_Graph_create(MPI_Comm comm_old, int nnodes, const int indx[], const int edges[], int,
                     MPI_Comm* comm_graph) {
  NEARFAR_MPI_CALL(MPI_Graph_create);
  const int n = nnodes > 0 ? indx[nnodes - 1] : 0;
  check_ranks(communicator_of(comm_old), edges, n);
  run_vector<int> all(indx, indx + std::max(nnodes, 0));
  append(all, edges, n);
  return make_shaped("MPI_Graph_create", comm_old, nnodes, all, true, comm_graph,
                     [&](collective&, topology& shape) {
                       shape.kind = MPI_GRAPH;
                       shape.ends.assign(indx, indx + nnodes);
                       shape.edges.assign(edges, edges + n);
                     });
}

int MPI_Graphdims_get(MPI_Comm comm, int* nnodes, int* nedges) {
  NEARFAR_MPI_CALL(MPI_Graphdims_get);
  const topology& graph = of_kind(comm, MPI_GRAPH);
  *nnodes = static_cast<int>(graph.ends.size());
  *nedges = static_cast<int>(graph.edges.size());
  return MPI_SUCCESS;
}

int MPI_Graph_get(MPI_Comm comm, int maxindex, int maxedges, int indx[], int edges[]) {
  NEARFAR_MPI_CALL(MPI_Graph_get);
  const topology& graph = of_kind(comm, MPI_GRAPH);
  copy_some(graph.ends, maxindex, indx);
  copy_some(graph.edges, maxedges, edges);
  return MPI_SUCCESS;
}

int MPI_Graph_neighbors_count(MPI_Comm comm, int rank, int* nneighbors) {
  NEARFAR_MPI_CALL(MPI_Graph_neighbors_count);
  const topology& graph = of_kind(comm, MPI_GRAPH);
  check_ranks(communicator_of(comm), &rank, 1);
  *nneighbors = static_cast<int>(graph_neighbours(graph, rank).size());
  return MPI_SUCCESS;
}

int MPI_Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[]) {
  NEARFAR_MPI_CALL(MPI_Graph_neighbors);
  const topology& graph = of_kind(comm, MPI_GRAPH);
  check_ranks(communicator_of(comm), &rank, 1);
  copy_some(graph_neighbours(graph, rank), maxneighbors, neighbors);
  return MPI_SUCCESS;
}

int MPI_Graph_map(MPI_Comm comm, int nnodes, const int[], const int[], int* newrank) {
  NEARFAR_MPI_CALL(MPI_Graph_map);
  const int rank = communicator_of(comm).rank_of(self().number);
  *newrank = rank < nnodes ? rank : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int MPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[],
                                   const int sourceweights[], int outdegree, const int destinations[],
                                   const int destweights[], MPI_Info, int, MPI_Comm* comm_dist_graph) {
  NEARFAR_MPI_CALL(MPI_Dist_graph_create_adjacent);
  communicator& in = communicator_of(comm_old);
  check_ranks(in, sources, indegree);
  check_ranks(in, destinations, outdegree);
  run_vector<int> all;
  all.push_back(has_weights(sourceweights) || has_weights(destweights) ? 1 : 0);
  all.push_back(indegree);
  append(all, sources, indegree);
  append_weights(all, sourceweights, indegree);
  all.push_back(outdegree);
  append(all, destinations, outdegree);
  append_weights(all, destweights, outdegree);
  return make_shaped("MPI_Dist_graph_create_adjacent", comm_old, static_cast<int>(in.members.size()), all,
                     false, comm_dist_graph, [&](collective& one, topology& shape) {
                       shape.kind = MPI_DIST_GRAPH;
                       for (std::size_t i = 0; i < in.members.size(); ++i) {
                         reader from(one.of(in.members[i]).counts);
                         topology::adjacent& of = shape.of_rank[i];
                         shape.is_weighted = from.next() != 0 || shape.is_weighted;
                         const int ins = from.next();
                         of.sources = from.next(ins);
                         of.source_weights = from.next(ins);
                         const int outs = from.next();
                         of.destinations = from.next(outs);
                         of.destination_weights = from.next(outs);
                       }
                     });
}

int MPI_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[],
                          const int destinations[], const int weights[], MPI_Info, int,
                          MPI_Comm* comm_dist_graph) {
  NEARFAR_MPI_CALL(MPI_Dist_graph_create);
  communicator& in = communicator_of(comm_old);
  check_ranks(in, sources, n);
  run_vector<int> edges;  // source, destination, weight
  for (int i = 0, at = 0; i < n; ++i)
    for (int k = 0; k < degrees[i]; ++k, ++at) {
      check_ranks(in, destinations + at, 1);
      const int weight = has_weights(weights) ? weights[at] : 1;
      for (const int number : {sources[i], destinations[at], weight}) edges.push_back(number);
    }
  edges.push_back(has_weights(weights) ? 1 : 0);
  return make_shaped("MPI_Dist_graph_create", comm_old, static_cast<int>(in.members.size()), edges, false,
                     comm_dist_graph, [&](collective& one, topology& shape) {
                       shape.kind = MPI_DIST_GRAPH;
                       for (const int member : in.members) {
                         const run_vector<int>& theirs = one.of(member).counts;
                         shape.is_weighted = theirs.back() != 0 || shape.is_weighted;
                         for (std::size_t i = 0; i + 3 <= theirs.size(); i += 3) {
                           topology::adjacent& source = shape.of_rank[static_cast<std::size_t>(theirs[i])];
                           topology::adjacent& destination =
                               shape.of_rank[static_cast<std::size_t>(theirs[i + 1])];
                           source.destinations.push_back(theirs[i + 1]);
                           source.destination_weights.push_back(theirs[i + 2]);
                           destination.sources.push_back(theirs[i]);
                           destination.source_weights.push_back(theirs[i + 2]);
                         }
                       }
                     });
}

int MPI_Dist_graph_neighbors_count(MPI_Comm comm, int* indegree, int* outdegree, int* weighted) {
  NEARFAR_MPI_CALL(MPI_Dist_graph_neighbors_count);
  const topology& graph = of_kind(comm, MPI_DIST_GRAPH);
  const topology::adjacent& mine =
      graph.of_rank[static_cast<std::size_t>(communicator_of(comm).rank_of(self().number))];
  *indegree = static_cast<int>(mine.sources.size());
  *outdegree = static_cast<int>(mine.destinations.size());
  *weighted = graph.is_weighted ? 1 : 0;
  return MPI_SUCCESS;
}

int MPI_Dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[], int sourceweights[],
                             int maxoutdegree, int destinations[], int destweights[]) {
  NEARFAR_MPI_CALL(MPI_Dist_graph_neighbors);
  const topology& graph = of_kind(comm, MPI_DIST_GRAPH);
  const topology::adjacent& mine =
      graph.of_rank[static_cast<std::size_t>(communicator_of(comm).rank_of(self().number))];
  copy_some(mine.sources, maxindegree, sources);
  copy_some(mine.destinations, maxoutdegree, destinations);
  if (!graph.is_weighted) return MPI_SUCCESS;
  if (has_weights(sourceweights)) copy_some(mine.source_weights, maxindegree, sourceweights);
  if (has_weights(destweights)) copy_some(mine.destination_weights, maxoutdegree, destweights);
  return MPI_SUCCESS;
}
}
