include(CMakePackageConfigHelpers)

set(nearfar_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/nearfar)
set(nearfar_targets nearfar)
if(NEARFAR_ENGINE)
  list(APPEND nearfar_targets nearfar_engine)
endif()

install(TARGETS ${nearfar_targets} EXPORT nearfar)
install(DIRECTORY include/nearfar TYPE INCLUDE)
install(
  EXPORT nearfar
  NAMESPACE nearfar::
  DESTINATION ${nearfar_package_dir})

configure_package_config_file(cmake/nearfar-config.cmake.in nearfar-config.cmake
                              INSTALL_DESTINATION ${nearfar_package_dir} PATH_VARS CMAKE_INSTALL_DATADIR)
if(NEARFAR_MPI)
  install(DIRECTORY src/memory/mpi/ DESTINATION ${CMAKE_INSTALL_DATADIR}/nearfar/mpi)
  # Not called nearfar-*, all of which CMake's own file includes before that time.
  install(FILES cmake/mpi.cmake DESTINATION ${nearfar_package_dir})
endif()
write_basic_package_version_file(nearfar-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/nearfar-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/nearfar-config-version.cmake DESTINATION ${nearfar_package_dir})

if(NEARFAR_DEVELOPER)
  install(TARGETS nearfar_command RUNTIME)
  install(
    DIRECTORY report/nearfar_report
    DESTINATION ${CMAKE_INSTALL_DATADIR}/nearfar/report
    PATTERN __pycache__ EXCLUDE)
  install(DIRECTORY machines DESTINATION ${CMAKE_INSTALL_DATADIR}/nearfar)
endif()
