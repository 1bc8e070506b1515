/// \file
/// Turns MPI's return codes into exceptions.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "nearfar/core/error.hpp"

namespace nearfar::mpi {

/// An MPI call failed. Carries MPI's code and class besides its text.
struct mpi_error : error {
  mpi_error(const char* function, int returned);

  int code;
  int error_class;
};

/// Throws `mpi_error`.
[[noreturn]] void fail(int code, const char* function);

/// Throws `mpi_error` unless `code` is success; `function` is the name of the call that returned it.
inline void check(int code, const char* function) {
  if (code != MPI_SUCCESS) [[unlikely]]
    fail(code, function);
}

/// Whether MPI handles may still be freed: destructors that run after MPI_Finalize must not call MPI.
[[nodiscard]] bool is_active();

/// Calls `callback` first of all in MPI_Finalize, where MPI still works and all ranks have come: MPI_Finalize
/// deletes the attributes of MPI_COMM_SELF first, the last one that was set before the others.
void call_at_end_of_mpi(MPI_Comm_delete_attr_function* callback);

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
