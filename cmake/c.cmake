# nearfar::c, the C interface as a shared library for one MPI library, whose name is in the file's:
# libnearfar_c_openmpi.so. The library's sources are compiled into it once more, position-independent and with checks of
# misuse in every build. So it exports nearfar_* alone and needs no other library of nearfar.
get_target_property(nearfar_c_core_sources nearfar SOURCES)
list(FILTER nearfar_c_core_sources EXCLUDE REGEX "^src/container/")
get_target_property(nearfar_c_mpi_sources nearfar_mpi SOURCES)
add_library(nearfar_c_core OBJECT EXCLUDE_FROM_ALL ${nearfar_c_core_sources} ${nearfar_c_mpi_sources})
add_library(
  nearfar_c SHARED
  src/c/call.cpp
  src/c/channel.cpp
  src/c/fortran.cpp
  src/c/lock.cpp
  src/c/map.cpp
  src/c/queue.cpp
  src/c/world.cpp)
add_library(nearfar::c ALIAS nearfar_c)
set_target_properties(nearfar_c_core PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
nearfar_export_only(nearfar_c src/c/nearfar_c.map)
foreach(target nearfar_c_core nearfar_c)
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_compile_definitions(${target} PRIVATE NEARFAR_CHECKED=1 OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/include ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE Threads::Threads nearfar::hwloc MPI::MPI_CXX)
endforeach()
set_source_files_properties(src/c/call.cpp PROPERTIES COMPILE_DEFINITIONS
                                                      "NEARFAR_VERSION=\"${PROJECT_VERSION}\";NEARFAR_MPI_NAME=\"${nearfar_mpi_name}\"")
set_target_properties(
  nearfar_c
  PROPERTIES OUTPUT_NAME nearfar_c_${nearfar_mpi_name}
             EXPORT_NAME c_${nearfar_mpi_name}
             VERSION ${PROJECT_VERSION}
             SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_link_libraries(nearfar_c PRIVATE nearfar_c_core)
# A program that includes nearfar.h needs mpi.h, in any language.
target_include_directories(nearfar_c INTERFACE $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
                                               $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
