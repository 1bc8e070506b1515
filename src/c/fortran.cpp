#include <cstddef>
#include <cstdint>
#include <string>

#include "nearfar.h"
#include "src/c/call.hpp"

namespace {

/// The beginning of a variable's descriptor, the same in every compiler (Fortran 2018, 18.5.3). Each compiler
/// orders the rest as it likes.
struct descriptor {
  void* base_addr;
  std::size_t elem_len;
  int version;
};

}  // namespace

nearfar_status nearfar_fortran_has_bytes(const void* item, size_t elements, int64_t bytes) {
  const std::size_t size = static_cast<const descriptor*>(item)->elem_len * elements;
  if (bytes <= static_cast<std::int64_t>(size)) return NEARFAR_SUCCESS;
  return nearfar::c::guarded("nearfar", [&] {
    return nearfar::c::fail(NEARFAR_ERROR_ARGUMENT, "nearfar",
                            "an item, key, value or buffer has " + std::to_string(size) + " bytes, where " +
                                std::to_string(bytes) + " are needed");
  });
}
