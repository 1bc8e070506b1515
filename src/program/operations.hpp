// Operations of reductions and accumulates.
#pragma once

#include <cstddef>

#include "datatypes.hpp"

namespace nearfar::program {

struct operation {
  const char* name = "";
  MPI_Op handle = MPI_OP_NULL;
  MPI_User_function* function = nullptr;  ///< of the program; null for a predefined operation
  bool is_commutative = true;
  site made = {};  ///< of one of the program
};

/// Null if there is no such operation.
[[nodiscard]] const operation* operation_of(MPI_Op handle);
[[nodiscard]] const char* name_of(const operation* one) noexcept;
[[nodiscard]] bool is_no_op(const operation* one) noexcept;
[[nodiscard]] bool is_replace(const operation* one) noexcept;

/// Whether the operation is defined for the basic type (MPI 4.1, section 6.9.2).
[[nodiscard]] bool is_defined_for(const operation& op, const basic_type& type) noexcept;
/// `inout = in op inout` for one basic element.
void combine_element(const operation& op, int basic, const std::byte* in, std::byte* inout);
/// The same for packed elements of a datatype.
void combine(const operation& op, const datatype& type, std::size_t count, std::byte* in, std::byte* inout);

}  // namespace nearfar::program
