// Info objects, and attributes of communicators, windows and datatypes.
#pragma once

#include "communicators.hpp"

namespace nearfar::program {

[[nodiscard]] MPI_Info new_info();
void set_info(MPI_Info info, const char* key, const char* value);
/// Whether the info has the key with this value. MPI_INFO_NULL has none.
[[nodiscard]] bool info_is(MPI_Info info, const char* key, const char* value);

/// An info without a handle, which MPI keeps itself.
[[nodiscard]] info_object* new_kept_info();
void set_info(info_object& of, const char* key, const char* value);
/// A new handle of a copy.
[[nodiscard]] MPI_Info copy_info(const info_object& of);

/// The value of a key, or null.
[[nodiscard]] const char* info_value(MPI_Info info, const char* key);

/// Calls the delete functions of the attributes of an object that ends.
template <typename Handle>
void delete_attributes(run_vector<attribute>& all, Handle of);
/// Gives a duplicate what the copy functions of the attributes say.
[[nodiscard]] int copy_attributes(communicator& from, MPI_Comm old_handle, communicator& to);

}  // namespace nearfar::program
