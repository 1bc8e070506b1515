/// \file
/// One place where MPI's return codes become exceptions.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

#include "nearfar/core/error.hpp"

namespace nearfar::mpi {

/// An MPI call failed. Carries MPI's code and class besides its text.
struct mpi_error : error {
  mpi_error(const char* function, int returned)
      : error(std::string(function) + " failed: " + text_of(returned)),
        code(returned),
        error_class(class_of(returned)) {}

  int code;
  int error_class;

 private:
  static std::string text_of(int code) {
    std::string text(MPI_MAX_ERROR_STRING, '\0');
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    text.resize(static_cast<std::size_t>(length));
    return text;
  }
  static int class_of(int code) {
    int result = code;
    MPI_Error_class(code, &result);
    return result;
  }
};

/// Throws `mpi_error` unless `code` is success; `function` is the name of the call that returned it.
inline void check(int code, const char* function) {
  if (code != MPI_SUCCESS) [[unlikely]]
    throw mpi_error(function, code);
}

/// Whether handles may still be freed: destructors that run after MPI_Finalize must not call MPI.
[[nodiscard]] inline bool is_active() {
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized != 0 && finalized == 0;
}

template <typename T>
struct datatype_of;
template <>
struct datatype_of<std::uint64_t> {
  static MPI_Datatype get() { return MPI_UINT64_T; }
};
template <>
struct datatype_of<std::int64_t> {
  static MPI_Datatype get() { return MPI_INT64_T; }
};

/// MPI's predefined datatype for a far word.
template <typename T>
[[nodiscard]] MPI_Datatype datatype() {
  return datatype_of<T>::get();
}

}  // namespace nearfar::mpi
