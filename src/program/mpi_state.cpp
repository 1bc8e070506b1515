#include "mpi_state.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
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

/// Whether a library may take the call as an occasion to progress. MPI_Win_sync and functions that only look
/// something up are none.
[[nodiscard]] static bool lets_progress(std::string_view name) noexcept {
  static constexpr std::array without{std::string_view("MPI_Win_sync"),
                                      std::string_view("MPI_Wtime"),
                                      std::string_view("MPI_Wtick"),
                                      std::string_view("MPI_Comm_rank"),
                                      std::string_view("MPI_Comm_size"),
                                      std::string_view("MPI_Initialized"),
                                      std::string_view("MPI_Finalized"),
                                      std::string_view("MPI_Get_address"),
                                      std::string_view("MPI_Aint_add"),
                                      std::string_view("MPI_Aint_diff"),
                                      std::string_view("MPI_Get_version"),
                                      std::string_view("MPI_Get_library_version"),
                                      std::string_view("MPI_Win_shared_query"),
                                      std::string_view("MPI_Win_get_attr")};
  return std::find(without.begin(), without.end(), name) == without.end();
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
