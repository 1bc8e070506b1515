#include "functions.hpp"

#include "mpi_state.hpp"

namespace nearfar::program {

namespace {

struct named {
  const char* name;
  bool is_there;
};

constexpr named all[] = {
#define NEARFAR_HAS(name) {#name, true},
#define NEARFAR_LACKS(name) {#name, false},
#include "functions.inc"
#undef NEARFAR_HAS
#undef NEARFAR_LACKS
};

[[noreturn]] void refuse(const char* name, const void* caller) {
  const mpi_call in_this_call(name, caller, mpi_call::when::any);
  fail("missing",
       std::string(name) + " is not supported by the checker; 'nearfar run --list-mpi' lists what is");
}

}  // namespace

std::string list_functions() {
  std::string text;
  for (const named& one : all) text += std::string(one.name) + (one.is_there ? "  yes\n" : "  no\n");
  return text;
}

}  // namespace nearfar::program

// mpi.h declares them with their arguments, which do not matter here; the linker knows names alone.
#pragma GCC visibility push(default)
extern "C" {
#define NEARFAR_HAS(name)
#define NEARFAR_LACKS(name)                  \
  int nearfar_lacks_##name() __asm__(#name); \
  int nearfar_lacks_##name() { nearfar::program::refuse(#name, __builtin_return_address(0)); }
#include "functions.inc"
#undef NEARFAR_HAS
#undef NEARFAR_LACKS
}
#pragma GCC visibility pop
