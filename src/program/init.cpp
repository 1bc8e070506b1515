// How MPI begins and ends, and what it says of its environment.
#include <cstring>
#include <string>

#include "collectives.hpp"
#include "exits.hpp"
#include "infos.hpp"
#include "operations.hpp"
#include "requests.hpp"
#include "windows.hpp"

namespace nearfar::program {

namespace {

int begin(int* provided, int required) {
  rank_state& state = own();
  if (state.at != rank_state::stage::before)
    fail("argument", "the rank initialises MPI twice", nullptr, "MPI 4.1, section 11.2.1");
  state.at = rank_state::stage::running;
  // Several threads of a rank could not be told apart.
  state.thread_level = required < MPI_THREAD_SERIALIZED ? required : MPI_THREAD_SERIALIZED;
  if (provided != nullptr) *provided = state.thread_level;
  return MPI_SUCCESS;
}

void report_leak(const std::string& what, const site& made, const char* how) {
  fault found{.kind = "leak", .text = what + " at MPI_Finalize: " + how, .places = {}, .rule = {}};
  found.places.push_back({.rank = self().number, .what = "finalizes", .where = self().here()});
  found.places.push_back({.rank = self().number, .what = "made it here", .where = made});
  run().report_leak(std::move(found));
}

void find_leaks() {
  rank_state& state = own();
  for (request* const one : state.requests.all())
    if (one != nullptr && (one->is_active || one->is_persistent))
      report_leak(std::string("the request of ") + one->call + " is not complete", one->made,
                  one->is_persistent ? "call MPI_Request_free" : "call MPI_Wait or MPI_Test");
  for (window* const one : state.windows.all())
    if (one != nullptr)
      report_leak("window " + std::to_string(one->number) + " is not freed", one->mine().made,
                  "call MPI_Win_free");
  for (datatype* const one : state.types.all())
    if (one != nullptr && !one->is_predefined && one->is_committed)
      report_leak("a datatype is not freed", one->made, "call MPI_Type_free");
  for (operation* const one : state.operations.all())
    if (one != nullptr) report_leak("an operation is not freed", one->made, "call MPI_Op_free");
  for (communicator* const one : state.communicators.all())
    if (one != nullptr) report_leak("a communicator is not freed", one->mine().made, "call MPI_Comm_free");
}

}  // namespace

}  // namespace nearfar::program

using namespace nearfar::program;  // NOLINT(google-build-using-namespace)

extern "C" {

int MPI_Init(int*, char***) {
  NEARFAR_MPI_CALL_AT_ANY_TIME(MPI_Init);
  return begin(nullptr, MPI_THREAD_SINGLE);
}

int MPI_Init_thread(int*, char***, int required, int* provided) {
  NEARFAR_MPI_CALL_AT_ANY_TIME(MPI_Init_thread);
  return begin(provided, required);
}

int MPI_Initialized(int* flag) {
  NEARFAR_MPI_CALL_AT_ANY_TIME(MPI_Initialized);
  *flag = own().at == rank_state::stage::before ? 0 : 1;
  return MPI_SUCCESS;
}

int MPI_Finalized(int* flag) {
  NEARFAR_MPI_CALL_AT_ANY_TIME(MPI_Finalized);
  *flag = own().at == rank_state::stage::finalized ? 1 : 0;
  return MPI_SUCCESS;
}

int MPI_Finalize() {
  NEARFAR_MPI_CALL(MPI_Finalize);
  communicator& only = *mpi().selves[static_cast<std::size_t>(self().number)];
  delete_attributes(only.mine().attributes, MPI_COMM_SELF);
  find_leaks();
  synchronise(*mpi().ending, "MPI_Finalize");
  own().at = rank_state::stage::finalized;
  return MPI_SUCCESS;
}

int MPI_Abort(MPI_Comm, int errorcode) {
  NEARFAR_MPI_CALL(MPI_Abort);
  fail("abort", "the program calls MPI_Abort with code " + std::to_string(errorcode));
}

int MPI_Query_thread(int* provided) {
  NEARFAR_MPI_CALL(MPI_Query_thread);
  *provided = own().thread_level;
  return MPI_SUCCESS;
}

int MPI_Is_thread_main(int* flag) {
  NEARFAR_MPI_CALL(MPI_Is_thread_main);
  *flag = 1;
  return MPI_SUCCESS;
}

double MPI_Wtime() {
  NEARFAR_MPI_CALL_AT_ANY_TIME(MPI_Wtime);
  return static_cast<double>(self().virtual_nanoseconds) * 1e-9;
}

double MPI_Wtick() {
  NEARFAR_MPI_CALL_AT_ANY_TIME(MPI_Wtick);
  return 1e-9;
}

int MPI_Get_processor_name(char* name, int* resultlen) {
  NEARFAR_MPI_CALL(MPI_Get_processor_name);
  const std::string text = "node" + std::to_string(node_of(self().number));
  std::strcpy(name, text.c_str());
  *resultlen = static_cast<int>(text.size());
  return MPI_SUCCESS;
}

int MPI_Get_version(int* version, int* subversion) {
  NEARFAR_MPI_CALL_AT_ANY_TIME(MPI_Get_version);
  *version = MPI_VERSION;
  *subversion = MPI_SUBVERSION;
  return MPI_SUCCESS;
}

int MPI_Get_library_version(char* version, int* resultlen) {
  NEARFAR_MPI_CALL_AT_ANY_TIME(MPI_Get_library_version);
  std::strcpy(version, "nearfar's model checker");
  *resultlen = static_cast<int>(std::strlen(version));
  return MPI_SUCCESS;
}

int MPI_Pcontrol(const int, ...) { return MPI_SUCCESS; }

int MPI_Get_address(const void* location, MPI_Aint* address) {
  *address = reinterpret_cast<MPI_Aint>(location);
  return MPI_SUCCESS;
}

int MPI_Address(void* location, MPI_Aint* address) { return MPI_Get_address(location, address); }

MPI_Aint MPI_Aint_add(MPI_Aint base, MPI_Aint disp) { return base + disp; }
MPI_Aint MPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2) { return addr1 - addr2; }
}
