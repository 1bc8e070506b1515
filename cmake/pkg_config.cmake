# Files for pkg-config, for programs that are built without CMake:
#   nearfar              the library; --static adds what a shared one needs itself, which a static one names at once
#   nearfar-engine       simulated cluster and model checker
#   nearfar-mpi-LIBRARY  the MPI part, compiled for the MPI library LIBRARY. Each has its own, side by side: configure and
#                        install once with each, with the same prefix.
#   nearfar-c-LIBRARY    the C interface for the MPI library LIBRARY, likewise
# They find the library where they lie, so that the prefix may be chosen at installation, or moved.
function(nearfar_install_pc name)
  configure_file(cmake/${name}.pc.in ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc.generate @ONLY)
  set(installed ${name})
  if(ARGC GREATER 1)
    set(installed ${ARGV1})
  endif()
  file(
    GENERATE
    OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/pkgconfig/$<CONFIG>/${installed}.pc
    INPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc.generate)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pkgconfig/$<CONFIG>/${installed}.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

file(RELATIVE_PATH nearfar_up ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" nearfar_up "${nearfar_up}")
foreach(place LIBDIR INCLUDEDIR DATADIR)
  cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_${place} BASE_DIRECTORY "\${prefix}" OUTPUT_VARIABLE nearfar_pc_${place})
endforeach()

set(nearfar_pc_cflags "-I\${includedir} -pthread")
if(NOT NEARFAR_CHECKED STREQUAL "")
  string(APPEND nearfar_pc_cflags " -DNEARFAR_CHECKED=${NEARFAR_CHECKED}")
endif()
# Clang's OpenMP library lies where linkers do not look.
set(nearfar_pc_openmp)
foreach(name IN LISTS OpenMP_CXX_LIB_NAMES)
  cmake_path(GET OpenMP_${name}_LIBRARY PARENT_PATH folder)
  if(name STREQUAL "pthread")
    continue()
  elseif(folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
    list(APPEND nearfar_pc_openmp -l${name})
  else()
    list(APPEND nearfar_pc_openmp ${OpenMP_${name}_LIBRARY})
  endif()
endforeach()
list(JOIN nearfar_pc_openmp " " nearfar_pc_openmp)
if(nearfar_is_static)
  set(nearfar_pc_requires "Requires: hwloc")
  set(nearfar_pc_libs " ${nearfar_pc_openmp}")
  set(nearfar_pc_private "")
else()
  set(nearfar_pc_requires "Requires.private: hwloc")
  set(nearfar_pc_libs "")
  set(nearfar_pc_private "Libs.private: ${nearfar_pc_openmp}")
endif()
nearfar_install_pc(nearfar)

if(NEARFAR_ENGINE)
  set(includes ${Boost_INCLUDE_DIRS})
  list(REMOVE_ITEM includes ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
  list(TRANSFORM includes PREPEND -I)
  list(JOIN includes " " nearfar_pc_boost_cflags)
  nearfar_install_pc(nearfar-engine)
endif()

# The archive exists only if nearfar itself is installed by the user: other projects compile it with their MPI library.
if(NEARFAR_MPI AND PROJECT_IS_TOP_LEVEL)
  set_target_properties(nearfar_mpi PROPERTIES EXCLUDE_FROM_ALL FALSE OUTPUT_NAME nearfar_mpi_${nearfar_mpi_name})
  install(TARGETS nearfar_mpi ARCHIVE)
  set(includes ${MPI_CXX_INCLUDE_DIRS})
  list(TRANSFORM includes PREPEND -I)
  list(JOIN includes " " nearfar_pc_mpi_cflags)
  list(JOIN MPI_CXX_COMPILE_OPTIONS " " options)
  string(STRIP "${nearfar_pc_mpi_cflags} ${options}" nearfar_pc_mpi_cflags)
  list(JOIN MPI_CXX_LIBRARIES " " nearfar_pc_mpi_libs)
  string(STRIP "${MPI_CXX_LINK_FLAGS} ${nearfar_pc_mpi_libs}" nearfar_pc_mpi_libs)
  nearfar_install_pc(nearfar-mpi nearfar-mpi-${nearfar_mpi_name})
endif()

if(TARGET nearfar_c)
  nearfar_install_pc(nearfar-c nearfar-c-${nearfar_mpi_name})
endif()
