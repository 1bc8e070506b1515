# Builds and runs the project beside this file as a user of nearfar would, in the way that WAY says: from an installation of
# the build in NEARFAR_BUILD (find_package), or from the sources (add_subdirectory, fetch_content).
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "${command}\nended with ${status}:\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
set(options
    -D CMAKE_BUILD_TYPE=${CONFIG}
    -D CMAKE_CXX_COMPILER=${COMPILER}
    -D CMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}
    -D MPI_CXX_COMPILER=${MPI_COMPILER})
if(WAY STREQUAL "find_package")
  run(${CMAKE_COMMAND} --install ${NEARFAR_BUILD} --prefix ${WORK}/prefix --config ${CONFIG})
  list(APPEND options -D CMAKE_PREFIX_PATH=${WORK}/prefix)
else()
  # The library is compiled here. How fast it is does not matter.
  list(
    APPEND
    options
    -D
    NEARFAR_SOURCE=${NEARFAR_SOURCE}
    -D
    CMAKE_CXX_FLAGS_DEBUG=-O0
    -D
    CMAKE_UNITY_BUILD=ON
    -D
    CMAKE_UNITY_BUILD_BATCH_SIZE=9)
  if(WAY STREQUAL "fetch_content")
    list(APPEND options -D NEARFAR_FETCHED=ON)
  endif()
endif()
run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK}/build ${options})
run(${CMAKE_COMMAND} --build ${WORK}/build --config ${CONFIG} -j 1)
run(${WORK}/build/threads_consumer)
run(${WORK}/build/containers_consumer)
if(WAY STREQUAL "find_package")
  run(${WORK}/build/checked_queue)
endif()
run(${NEARFAR_SOURCE}/scripts/run-mpi --mpi ${MPI_NAME} --ranks 2 -- ${WORK}/build/mpi_consumer)
