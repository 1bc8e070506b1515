# Libraries to be loaded before programs that know nothing of nearfar (docs/dropin.md). They compile their part of the
# library's sources: position-independent, without checks, and with the C++ library inside, since C programs lack it.
add_library(
  nearfar_pthread MODULE
  src/core/agreement.cpp
  src/core/error.cpp
  src/dropin/pthread/algorithms.cpp
  src/dropin/pthread/arena.cpp
  src/dropin/pthread/c_library.cpp
  src/dropin/pthread/choice.cpp
  src/dropin/pthread/condition.cpp
  src/dropin/pthread/mutex.cpp
  src/dropin/pthread/preload.cpp
  src/lock/local_passes.cpp
  src/lock/near_lockable.cpp
  src/memory/slab.cpp
  src/memory/waiting.cpp
  src/topology/locality.cpp)
target_compile_features(nearfar_pthread PRIVATE cxx_std_20)
target_compile_definitions(nearfar_pthread PRIVATE NEARFAR_CHECKED=0)
# Loaded at start, so that what is a thread's own needs no call.
target_compile_options(nearfar_pthread PRIVATE -O2 -ftls-model=initial-exec)
target_include_directories(nearfar_pthread PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/include ${CMAKE_CURRENT_SOURCE_DIR}/src/dropin/pthread)
target_link_libraries(nearfar_pthread PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
target_link_options(nearfar_pthread PRIVATE -static-libstdc++)
nearfar_export_only(nearfar_pthread src/dropin/pthread/exports.map)

# For the MPI library that nearfar is configured with. A program may also be linked to it, before the MPI library.
if(NEARFAR_MPI)
  get_target_property(nearfar_sources nearfar SOURCES)
  get_target_property(nearfar_pmpi_sources nearfar_mpi SOURCES)
  add_library(
    nearfar_pmpi SHARED
    ${nearfar_sources}
    ${nearfar_pmpi_sources}
    src/dropin/pmpi/companion.cpp
    src/dropin/pmpi/mpi_library.cpp
    src/dropin/pmpi/preload.cpp
    src/dropin/pmpi/statistics.cpp)
  target_compile_features(nearfar_pmpi PRIVATE cxx_std_20)
  target_compile_definitions(nearfar_pmpi PRIVATE NEARFAR_CHECKED=0 OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  # Loaded at start, so that what is a thread's own needs no call.
  target_compile_options(nearfar_pmpi PRIVATE -O2 -ftls-model=initial-exec)
  target_include_directories(nearfar_pmpi PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/include ${CMAKE_CURRENT_SOURCE_DIR}/src/dropin/pmpi)
  target_link_libraries(nearfar_pmpi PRIVATE nearfar::hwloc MPI::MPI_CXX Threads::Threads ${CMAKE_DL_LIBS})
  nearfar_export_only(nearfar_pmpi src/dropin/pmpi/exports.map)
endif()
