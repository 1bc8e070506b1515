# The target nearfar::mpi, from its sources in the folder nearfar_mpi_sources: made in the tree of nearfar, and anew
# in each project that finds an installed nearfar, with the MPI library of that project. So one installed nearfar
# serves every MPI library.
add_library(
  nearfar_mpi STATIC EXCLUDE_FROM_ALL
  ${nearfar_mpi_sources}/call.cpp
  ${nearfar_mpi_sources}/handles.cpp
  ${nearfar_mpi_sources}/transport.cpp
  ${nearfar_mpi_sources}/world.cpp)
add_library(nearfar::mpi ALIAS nearfar_mpi)
target_link_libraries(nearfar_mpi PUBLIC nearfar::nearfar MPI::MPI_CXX)
target_compile_definitions(nearfar_mpi PUBLIC OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
