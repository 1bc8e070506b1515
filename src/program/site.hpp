// Places in the program under test.
#pragma once

#include <array>
#include <cstddef>

namespace nearfar::program {

/// The address of an access or a call, and the calls that led to it, the innermost first.
struct site {
  std::array<const void*, 8> pcs{};
  const char* call = nullptr;  ///< the function of MPI, or null for an access by the program itself

  [[nodiscard]] const void* pc() const noexcept { return pcs[0]; }
};

}  // namespace nearfar::program
