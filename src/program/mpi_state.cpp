#include "mpi_state.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "communicators.hpp"
#include "loops.hpp"
#include "races.hpp"

namespace nearfar::program {

namespace {
mpi_state* state = nullptr;
}

void begin_mpi() {
  state = make_for_run<mpi_state>();
  forget_accesses();
  run_vector<int> everybody;
  for (int i = 0; i < run().ranks(); ++i) everybody.push_back(i);
  state->world = make_communicator(everybody);
  state->ending = make_communicator(everybody);
  for (int i = 0; i < run().ranks(); ++i) {
    run_vector<int> only;
    only.push_back(i);
    state->selves.push_back(make_communicator(only));
    state->ranks.push_back(make_for_run<rank_state>());
  }
}

mpi_state& mpi() noexcept { return *state; }
rank_state& state_of(const rank& one) noexcept { return *state->ranks[static_cast<std::size_t>(one.number)]; }

namespace {
struct {
  const char* name = nullptr;
  const void* from = nullptr;
} outer_call;
}  // namespace

/// Whether a library may take the call as an occasion to progress: not MPI_Win_sync, and not functions that
/// look something up, or that make or change objects of the rank alone.
[[nodiscard]] static bool lets_progress(std::string_view name) noexcept {
  static constexpr std::string_view without[] = {"Add_error_",
                                                 "Aint_",
                                                 "Alloc_mem",
                                                 "Attr_",
                                                 "Buffer_",
                                                 "Cart_coords",
                                                 "Cart_get",
                                                 "Cart_rank",
                                                 "Cart_shift",
                                                 "Cartdim_get",
                                                 "Comm_call_errhandler",
                                                 "Comm_compare",
                                                 "Comm_create_errhandler",
                                                 "Comm_create_keyval",
                                                 "Comm_delete_attr",
                                                 "Comm_free_keyval",
                                                 "Comm_get_",
                                                 "Comm_group",
                                                 "Comm_rank",
                                                 "Comm_remote_",
                                                 "Comm_set_",
                                                 "Comm_size",
                                                 "Comm_test_inter",
                                                 "Dims_create",
                                                 "Dist_graph_neighbors",
                                                 "Errhandler_",
                                                 "Error_",
                                                 "Finalized",
                                                 "Free_mem",
                                                 "Get_address",
                                                 "Get_count",
                                                 "Get_elements",
                                                 "Get_library_version",
                                                 "Get_processor_name",
                                                 "Get_version",
                                                 "Graph_get",
                                                 "Graph_neighbors",
                                                 "Graphdims_get",
                                                 "Group_",
                                                 "Info_",
                                                 "Initialized",
                                                 "Is_thread_main",
                                                 "Keyval_",
                                                 "Op_",
                                                 "Pack",
                                                 "Pcontrol",
                                                 "Query_thread",
                                                 "Reduce_local",
                                                 "Status_",
                                                 "Test_cancelled",
                                                 "Topo_test",
                                                 "Type_",
                                                 "Unpack",
                                                 "Win_call_errhandler",
                                                 "Win_create_errhandler",
                                                 "Win_create_keyval",
                                                 "Win_delete_attr",
                                                 "Win_free_keyval",
                                                 "Win_get_",
                                                 "Win_group",
                                                 "Win_set_",
                                                 "Win_shared_query",
                                                 "Win_sync",
                                                 "Wtick",
                                                 "Wtime"};
  const std::string_view rest = name.substr(std::min(name.size(), std::string_view("MPI_").size()));
  return std::none_of(std::begin(without), std::end(without),
                      [&](std::string_view one) { return rest.starts_with(one); });
}

void mpi_call::begin_as(const char* name, const void* from) noexcept { outer_call = {name, from}; }

mpi_call::mpi_call(const char* name, const void* from, when allowed) {
  if (outer_call.name != nullptr) {
    name = outer_call.name;
    from = outer_call.from;
    outer_call = {};
  }
  if (current == nullptr || state == nullptr) {
    std::fprintf(
        stderr, "nearfar: the program calls %s before main, which is not supported: call it in main\n", name);
    std::_Exit(2);
  }
  rank& by = self();
  before_ = by.call;
  before_site_ = by.call_site;
  by.call = name;
  by.call_site = from;
  by.virtual_nanoseconds += 1000;
  if (run().how().needs_help && lets_progress(name)) {
    by.enters_mpi = true;
    by.was_inside = by.idle_turns > 0;
    by.waits_outside = false;
  }
  if (allowed == when::any) return;
  if (own().at == rank_state::stage::running) sleep_if_looping(by);
  if (own().at == rank_state::stage::before)
    fail("argument", std::string(name) + " is called before MPI_Init", nullptr, "MPI 4.1, section 11.4");
  if (own().at == rank_state::stage::finalized)
    fail("argument", std::string(name) + " is called after MPI_Finalize", nullptr, "MPI 4.1, section 11.4");
}

}  // namespace nearfar::program
