/// \file
/// The worlds that the registries of this build have objects in.
#pragma once

#include <concepts>

#include "nearfar/memory/mpi/world.hpp"
#include "nearfar/memory/threads/world.hpp"

namespace nearfar::bench {

/// Whether this build has objects in the world `W`. A build that tests a further MPI library leaves out the
/// other worlds, for which the library makes no difference. ThreadSanitizer sees nothing in worlds of one
/// thread, and races in MPI libraries, so its build has threads only.
#if defined(NEARFAR_MPI_ONLY)
template <world W>
inline constexpr bool is_compiled = std::same_as<W, mpi::world>;
#elif defined(NEARFAR_THREADS_ONLY)
template <world W>
inline constexpr bool is_compiled = std::same_as<W, threads::world>;
#else
template <world W>
inline constexpr bool is_compiled = true;
#endif

}  // namespace nearfar::bench
