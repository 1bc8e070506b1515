# The target nearfar::fortran, the module nearfar, from its source in the folder nearfar_fortran_source: made in the tree of
# nearfar, and anew in each project that finds an installed nearfar, as compilers do not read each other's modules.
add_library(nearfar_fortran STATIC EXCLUDE_FROM_ALL ${nearfar_fortran_source}/nearfar.f90)
add_library(nearfar::fortran ALIAS nearfar_fortran)
set(nearfar_modules ${CMAKE_CURRENT_BINARY_DIR}/nearfar_modules)
set_target_properties(nearfar_fortran PROPERTIES Fortran_MODULE_DIRECTORY ${nearfar_modules})
target_include_directories(nearfar_fortran PUBLIC ${nearfar_modules})
target_link_libraries(nearfar_fortran PUBLIC nearfar::c MPI::MPI_Fortran)
