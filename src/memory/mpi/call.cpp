#include "nearfar/memory/mpi/call.hpp"

#include <mpi.h>

#include <cstddef>
#include <string>

#include "nearfar/core/error.hpp"

namespace nearfar::mpi {

namespace {

std::string text_of(int code) {
  std::string text(MPI_MAX_ERROR_STRING, '\0');
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  text.resize(static_cast<std::size_t>(length));
  return text;
}

int class_of(int code) {
  int result = code;
  MPI_Error_class(code, &result);
  return result;
}

}  // namespace

mpi_error::mpi_error(const char* function, int returned)
    : error(std::string(function) + " failed: " + text_of(returned)),
      code(returned),
      error_class(class_of(returned)) {}

void fail(int code, const char* function) { throw mpi_error(function, code); }

bool is_active() {
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized != 0 && finalized == 0;
}

void call_at_end_of_mpi(MPI_Comm_delete_attr_function* callback) {
  int key = MPI_KEYVAL_INVALID;
  check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, callback, &key, nullptr), "MPI_Comm_create_keyval");
  check(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
  check(MPI_Comm_free_keyval(&key), "MPI_Comm_free_keyval");
}

}  // namespace nearfar::mpi
