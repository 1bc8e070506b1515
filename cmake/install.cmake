include(CMakePackageConfigHelpers)

set(nearfar_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/nearfar)
get_target_property(nearfar_type nearfar TYPE)
if(nearfar_type STREQUAL "STATIC_LIBRARY")
  set(nearfar_is_static TRUE)
else()
  set(nearfar_is_static FALSE)
endif()

install(DIRECTORY include/nearfar TYPE INCLUDE)
# Each component has a file of its own, so that a project gets the targets that it asks for. The name is not
# nearfar.cmake, which would include all files nearfar-*.cmake, the package's file among them.
install(TARGETS nearfar EXPORT nearfar)
install(
  EXPORT nearfar
  NAMESPACE nearfar::
  FILE library.cmake
  DESTINATION ${nearfar_package_dir})
if(NEARFAR_ENGINE)
  install(TARGETS nearfar_engine EXPORT nearfar_engine)
  install(
    EXPORT nearfar_engine
    NAMESPACE nearfar::
    FILE engine.cmake
    DESTINATION ${nearfar_package_dir})
endif()
if(NEARFAR_MPI)
  install(DIRECTORY src/memory/mpi/ DESTINATION ${CMAKE_INSTALL_DATADIR}/nearfar/mpi)
  install(FILES cmake/mpi.cmake DESTINATION ${nearfar_package_dir})
endif()
# One component for each MPI library, side by side. If none was built, the package reports that to a project that asks
# for one.
if(TARGET nearfar_c)
  install(FILES include/nearfar.h TYPE INCLUDE)
  install(FILES cmake/c-component.cmake cmake/fortran.cmake cmake/mpi_name.cmake DESTINATION ${nearfar_package_dir})
  install(FILES src/fortran/nearfar.f90 DESTINATION ${CMAKE_INSTALL_DATADIR}/nearfar/fortran)
  install(TARGETS nearfar_c EXPORT nearfar_c_${nearfar_mpi_name})
  install(
    EXPORT nearfar_c_${nearfar_mpi_name}
    NAMESPACE nearfar::
    FILE c_${nearfar_mpi_name}.cmake
    DESTINATION ${nearfar_package_dir})
endif()

set(nearfar_has_c FALSE)
if(TARGET nearfar_c)
  set(nearfar_has_c TRUE)
endif()
configure_package_config_file(cmake/nearfar-config.cmake.in nearfar-config.cmake
                              INSTALL_DESTINATION ${nearfar_package_dir} PATH_VARS CMAKE_INSTALL_DATADIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(nearfar-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/nearfar-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/nearfar-config-version.cmake cmake/hwloc.cmake DESTINATION ${nearfar_package_dir})

include(cmake/pkg_config.cmake)

if(NEARFAR_DROPIN)
  install(TARGETS nearfar_pthread LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  # One for each MPI library, side by side.
  if(TARGET nearfar_pmpi)
    if(nearfar_mpi_name)
      set_target_properties(nearfar_pmpi PROPERTIES OUTPUT_NAME nearfar_pmpi_${nearfar_mpi_name})
    endif()
    install(TARGETS nearfar_pmpi LIBRARY)
  endif()
endif()

# The layout equals the tree's, so that references between the files stay right.
if(PROJECT_IS_TOP_LEVEL)
  install(FILES README.md LICENSE CHANGELOG.md CONTRIBUTING.md CITATION.cff TYPE DOC)
  install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING REGEX "[.](cpp|c|f90|py)$")
endif()

if(NEARFAR_DEVELOPER AND NOT NEARFAR_MPI_ONLY)
  install(TARGETS nearfar_command RUNTIME)
  get_property(man_page TARGET nearfar_command PROPERTY NEARFAR_MAN_PAGE)
  if(man_page)
    install(FILES ${man_page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  endif()
  if(TARGET nearfar_program)
    install(TARGETS nearfar_program RUNTIME)
    install(PROGRAMS scripts/nearfar-cc scripts/nearfar-c++ TYPE BIN)
    install(DIRECTORY include/nearfar-mpi TYPE INCLUDE)
  endif()
  install(
    DIRECTORY report/nearfar_report
    DESTINATION ${CMAKE_INSTALL_DATADIR}/nearfar/report
    PATTERN __pycache__ EXCLUDE)
  install(DIRECTORY machines DESTINATION ${CMAKE_INSTALL_DATADIR}/nearfar)
endif()
