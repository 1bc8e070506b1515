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

}  // namespace nearfar::mpi
