// MPI's tool interface, without any variable or category.
#include "mpi_api.hpp"
#include "mpi_state.hpp"

namespace {

[[nodiscard]] int none(int* count) noexcept {
  *count = 0;
  return MPI_SUCCESS;
}

}  // namespace

extern "C" {

int MPI_T_init_thread(int required, int* provided) {
  NEARFAR_MPI_CALL_AT_ANY_TIME(MPI_T_init_thread);
  *provided = required < MPI_THREAD_SERIALIZED ? required : MPI_THREAD_SERIALIZED;
  return MPI_SUCCESS;
}
int MPI_T_finalize() { return MPI_SUCCESS; }

int MPI_T_cvar_get_num(int* num_cvar) { return none(num_cvar); }
int MPI_T_pvar_get_num(int* num_pvar) { return none(num_pvar); }
int MPI_T_category_get_num(int* num_cat) { return none(num_cat); }

int MPI_T_cvar_get_index(const char*, int*) { return MPI_T_ERR_INVALID_NAME; }
int MPI_T_pvar_get_index(const char*, int, int*) { return MPI_T_ERR_INVALID_NAME; }
int MPI_T_category_get_index(const char*, int*) { return MPI_T_ERR_INVALID_NAME; }
}
