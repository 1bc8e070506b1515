# The shared library inside the Python package, when that is built as a wheel (pyproject.toml): compiled for the wheel,
# or an existing one.
set(NEARFAR_PYTHON_LIBRARY "" CACHE FILEPATH "libnearfar_c_LIBRARY.so to put into the wheel instead of one that is built for it")
if(NEARFAR_PYTHON_LIBRARY)
  add_custom_target(nearfar_wheel)
  cmake_path(GET NEARFAR_PYTHON_LIBRARY STEM name)
  file(REAL_PATH "${NEARFAR_PYTHON_LIBRARY}" file) # not a link to it
  install(
    FILES "${file}"
    DESTINATION nearfar/lib
    RENAME ${name}.so
    COMPONENT python)
else()
  if(NOT TARGET nearfar_c)
    message(FATAL_ERROR "the Python package is over the C interface: build it with NEARFAR_MPI=ON and NEARFAR_C=ON")
  endif()
  add_custom_target(nearfar_wheel DEPENDS nearfar_c)
  # One file by its plain name, since wheels have no links.
  install(
    FILES $<TARGET_FILE:nearfar_c>
    DESTINATION nearfar/lib
    RENAME libnearfar_c_${nearfar_mpi_name}.so
    COMPONENT python)
endif()
