# What developers of nearfar build besides the library, and how strictly.
if(NOT NEARFAR_MPI OR NOT NEARFAR_ENGINE)
  message(FATAL_ERROR "the command and the tests need NEARFAR_MPI=ON and NEARFAR_ENGINE=ON, or set NEARFAR_DEVELOPER=OFF")
endif()

option(NEARFAR_WERROR "Warnings are errors" OFF)
set(NEARFAR_UNITY "" CACHE STRING "Targets whose sources are compiled many at a time, and how many: target=10;...")
set(NEARFAR_SANITIZE "" CACHE STRING "Sanitizers, such as 'address,undefined' or 'thread'")
option(NEARFAR_FEW_MESSAGE_SIZES "Compile the benchmark of channels for two sizes of messages only" OFF)
option(NEARFAR_MPI_ONLY "Leave out the command, and all worlds but MPI's of registered objects: to test one more MPI library soon" OFF)
set(NEARFAR_LINKER "" CACHE STRING "Linker that clang uses, such as lld, which takes a sixth of the time of GNU ld")
if(NEARFAR_LINKER)
  add_link_options("$<$<LINK_LANG_AND_ID:C,Clang>:-fuse-ld=${NEARFAR_LINKER}>"
                   "$<$<LINK_LANG_AND_ID:CXX,Clang>:-fuse-ld=${NEARFAR_LINKER}>")
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set_target_properties(nearfar nearfar_engine PROPERTIES EXPORT_COMPILE_COMMANDS ON) # declared before
set(CMAKE_CXX_EXTENSIONS OFF)
if(NEARFAR_C)
  enable_language(C) # for examples and tests
  set(CMAKE_C_EXTENSIONS OFF)
endif()
# The Fortran module is there if a compiler and a module mpi_f08 of this MPI library are. Nothing of it is instrumented.
if(NEARFAR_C AND NOT NEARFAR_SANITIZE)
  include(CheckLanguage)
  check_language(Fortran)
  if(CMAKE_Fortran_COMPILER)
    enable_language(Fortran)
    if(MPI_CXX_COMPILER AND NOT MPI_Fortran_COMPILER)
      string(REGEX REPLACE "mpicxx([^/]*)$" "mpifort\\1" MPI_Fortran_COMPILER "${MPI_CXX_COMPILER}")
    endif()
    find_package(MPI COMPONENTS Fortran)
    if(MPI_Fortran_HAVE_F08_MODULE)
      set(nearfar_fortran_source ${PROJECT_SOURCE_DIR}/src/fortran)
      include(cmake/fortran.cmake)
      if(CMAKE_Fortran_COMPILER_ID STREQUAL "GNU")
        target_compile_options(nearfar_fortran PUBLIC -std=f2018 -Wall -Wextra -Wno-c-binding-type -Wno-compare-reals
                                                      $<$<BOOL:${NEARFAR_WERROR}>:-Werror>)
      endif()
    else()
      message(STATUS "No Fortran module: this MPI library has no mpi_f08 for ${CMAKE_Fortran_COMPILER}")
    endif()
  endif()
endif()

add_library(nearfar_strict INTERFACE)
target_compile_options(
  nearfar_strict
  INTERFACE -Wall
            -Wextra
            -Wpedantic
            # Joined sources see the names of the sources before them. A source must compile alone if it compiles joined, so
            # GCC warns of local names only.
            $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wshadow=local>
            # GCC takes a type that is local to a joined source for one of a header.
            $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wno-subobject-linkage>
            # GCC 12 sees overlaps in std::string that are not there (its bug 105651).
            $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
            -Wconversion
            -Wsign-conversion
            $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
            $<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual>
            $<$<BOOL:${NEARFAR_WERROR}>:-Werror>)
# GCC's own documentation: sanitizers make this warning see what is not there.
if(NEARFAR_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(nearfar_strict INTERFACE -Wno-maybe-uninitialized)
endif()
target_link_libraries(nearfar PRIVATE $<BUILD_INTERFACE:nearfar_strict>)
target_link_libraries(nearfar_engine PRIVATE $<BUILD_INTERFACE:nearfar_strict>)
target_link_libraries(nearfar_mpi PRIVATE nearfar_strict)
if(TARGET nearfar_c)
  target_link_libraries(nearfar_c PRIVATE nearfar_strict)
  set_target_properties(nearfar_c PROPERTIES EXPORT_COMPILE_COMMANDS ON)
endif()
if(NEARFAR_DROPIN)
  target_link_libraries(nearfar_pthread PRIVATE nearfar_strict)
  target_link_libraries(nearfar_pmpi PRIVATE nearfar_strict)
  set_target_properties(nearfar_pthread nearfar_pmpi PROPERTIES EXPORT_COMPILE_COMMANDS ON)
endif()
# It was declared before. The sources of nearfar are listed by nearfar_without_openmp.
set_target_properties(nearfar_mpi PROPERTIES EXPORT_COMPILE_COMMANDS ON)

if(NEARFAR_SANITIZE)
  set(sanitizers -fsanitize=${NEARFAR_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # Clang's default moves locals off the stack: off that of the fibre which they are of, and to where nothing is aligned to
  # more than a page.
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND NEARFAR_SANITIZE MATCHES "address")
    list(APPEND sanitizers -fsanitize-address-use-after-return=never)
  endif()
  add_compile_options(${sanitizers})
  add_link_options(-fsanitize=${NEARFAR_SANITIZE})
  # The library was declared before.
  set(declared_before nearfar nearfar_engine nearfar_mpi)
  if(TARGET nearfar_c)
    list(APPEND declared_before nearfar_c nearfar_c_core)
    target_link_options(nearfar_c PRIVATE -fsanitize=${NEARFAR_SANITIZE})
    # Clang's run-time is in the program alone, which has that of C++ if it is linked as such.
    if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
      target_link_options(nearfar_c PRIVATE LINKER:-z,undefs)
      set(CMAKE_C_LINK_EXECUTABLE "${CMAKE_CXX_LINK_EXECUTABLE}")
    endif()
  endif()
  foreach(target IN LISTS declared_before)
    target_compile_options(${target} PRIVATE ${sanitizers})
  endforeach()
  # The source says why.
  if(NEARFAR_SANITIZE MATCHES "thread")
    set_property(SOURCE ${nearfar_SOURCE_DIR}/src/container/team.cpp APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize=thread
                                                                                    -DNEARFAR_TSAN)
  endif()
endif()

# MPI's headers are not held to our warnings.
get_target_property(mpi_includes MPI::MPI_CXX INTERFACE_INCLUDE_DIRECTORIES)
set_target_properties(MPI::MPI_CXX PROPERTIES INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${mpi_includes}")

find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)

add_subdirectory(bench)
if(NOT NEARFAR_MPI_ONLY)
  add_subdirectory(apps/nearfar)
  # It replaces functions of libc, as sanitizers do.
  if(NOT NEARFAR_SANITIZE)
    add_subdirectory(apps/program)
  endif()
endif()
enable_testing()
add_subdirectory(examples)
add_subdirectory(tests)

# Faster for all sources together, and slower for one. Targets that this build lacks are left alone.
foreach(entry IN LISTS NEARFAR_UNITY)
  string(REPLACE "=" ";" entry "${entry}")
  list(GET entry 0 target)
  list(GET entry 1 batch)
  if(TARGET ${target})
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
  endif()
endforeach()

# Not built unless asked for: what no test runs. ThreadSanitizer would see races in MPI, so that it leaves the command alone.
if(NEARFAR_SANITIZE OR NOT NEARFAR_TEST_FULL)
  set(unused nearfar_engine_speed nearfar_progress_ratio)
  if(TARGET nearfar_c_cost)
    list(APPEND unused nearfar_c_cost)
  endif()
  set_target_properties(${unused} PROPERTIES EXCLUDE_FROM_ALL TRUE)
endif()
# What `make bench` builds is linked here, too.
if(NEARFAR_TEST_FULL AND TARGET nearfar_locks AND NOT NEARFAR_SANITIZE)
  set_target_properties(nearfar_locks PROPERTIES EXCLUDE_FROM_ALL FALSE)
endif()
if(NEARFAR_MPI_ONLY)
  set_target_properties(nearfar_loops PROPERTIES EXCLUDE_FROM_ALL TRUE)
  # The tests of the installed package install everything.
  if(NEARFAR_DROPIN AND NOT NEARFAR_TEST_FULL)
    set_target_properties(nearfar_pthread PROPERTIES EXCLUDE_FROM_ALL TRUE)
  endif()
endif()
if(NEARFAR_SANITIZE)
  set(unused nearfar_soak)
  if(NEARFAR_SANITIZE MATCHES "thread")
    if(TARGET nearfar_c)
      list(APPEND unused nearfar_c)
    endif()
    list(APPEND unused nearfar_command nearfar_schedules)
  endif()
  # Nothing may be loaded before a sanitizer.
  if(NEARFAR_DROPIN)
    list(APPEND unused nearfar_pthread nearfar_pmpi)
  endif()
  set_target_properties(${unused} PROPERTIES EXCLUDE_FROM_ALL TRUE)
endif()

# The tests of the checker are in the engine for minutes: three seconds more of compiling take a seventh off them.
# A build with ThreadSanitizer has none of these tests.
if(CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT NEARFAR_MPI_ONLY AND NOT NEARFAR_SANITIZE MATCHES "thread")
  target_compile_options(nearfar_engine PRIVATE -O2)
endif()
# The optimiser takes twice as long with AddressSanitizer. Its presets optimise the library alone, in which all tests spend
# much time.
if(NEARFAR_SANITIZE MATCHES "address")
  target_compile_options(nearfar PRIVATE -O1)
endif()
