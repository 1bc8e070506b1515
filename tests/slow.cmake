# The tests of `make test FULL=1` that `make test` leaves out: searches of minutes, mutants, oracles, and programs that take
# minutes to compile.

# ---- containers --------------------------------------------------------------------------------------------

if(NEARFAR_TEST_WITHOUT_MPI)
  nearfar_add_container_tests(container_algorithms numa_vector*:segmented_sort* algorithm fuzz numa_vector_arithmetic segmented_algorithm
                              segmented_array)
  # Without the optimiser these tests run for longer than they compile.
  target_compile_options(nearfar_container_algorithms_tests PRIVATE $<$<CONFIG:Debug>:-O1>)
endif()

# ---- locks -------------------------------------------------------------------------------------------------

if(NEARFAR_TEST_WITHOUT_MPI)
  nearfar_add_test(adversarial adversarial/adversarial_test.cpp)
  target_link_libraries(nearfar_adversarial_tests PRIVATE nearfar_bench)
  set_tests_properties(adversarial PROPERTIES PROCESSORS 2)
  # A build with a sanitizer has no other shapes.
  if(NOT NEARFAR_SANITIZE)
    add_test(NAME lock_threads.other_shapes COMMAND nearfar_lock_threads_tests --gtest_brief=1 --gtest_color=no
                                                    --gtest_filter=${other_shapes})
    set_tests_properties(lock_threads.other_shapes PROPERTIES PROCESSORS 2 TIMEOUT 1200)
    set_target_properties(nearfar_lock_threads_tests PROPERTIES EXCLUDE_FROM_ALL FALSE)
  endif()
endif()

# ---- documents ---------------------------------------------------------------------------------------------

# Every fragment in the documents, compiled with nothing but what is shown; and what README.md says, from build to check.
if(NEARFAR_TEST_WITHOUT_MPI AND NOT NEARFAR_SANITIZE)
  set(includes ${MPI_CXX_INCLUDE_DIRS})
  list(JOIN includes "," includes)
  set(fortran)
  if(TARGET nearfar_fortran)
    set(fortran ${MPI_Fortran_COMPILER})
  endif()
  add_test(NAME docs.compile COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/docs/compile_test.py)
  set_tests_properties(
    docs.compile
    PROPERTIES
      ENVIRONMENT
      "NEARFAR_SOURCE_DIR=${PROJECT_SOURCE_DIR};NEARFAR_COMPILER=${CMAKE_CXX_COMPILER};NEARFAR_MPI_INCLUDES=${includes};NEARFAR_FORTRAN=${fortran}"
      PROCESSORS 2
      TIMEOUT 300)
  add_test(NAME readme COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/readme_test.py)
  set_tests_properties(
    readme
    PROPERTIES
      ENVIRONMENT
      "NEARFAR_SOURCE_DIR=${PROJECT_SOURCE_DIR};NEARFAR_BUILD_DIR=${PROJECT_BINARY_DIR};NEARFAR_COMPILER=${CMAKE_CXX_COMPILER};NEARFAR_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER};NEARFAR_MPI_NAME=${NEARFAR_MPI_NAME};NEARFAR_MPI_COMPILER=${MPI_CXX_COMPILER}"
      FAIL_REGULAR_EXPRESSION "Ran 0 tests"
      FIXTURES_REQUIRED python
      PROCESSORS 2
      RUN_SERIAL TRUE
      TIMEOUT 600)
endif()

# ---- the checker -------------------------------------------------------------------------------------------

# Searches and mutants take minutes.
set(NEARFAR_TEST_OPTIMISATION)

# The checker has one thread and no MPI. One build is enough, and ThreadSanitizer would see nothing in it.
if(NEARFAR_TEST_WITHOUT_MPI AND NOT NEARFAR_SANITIZE MATCHES "thread")
  nearfar_add_test(checker_schedule checker/alike_test.cpp checker/checkable_test.cpp checker/closable_queue_test.cpp checker/judges_test.cpp checker/plan_test.cpp checker/schedule_test.cpp checker/undecided_test.cpp
                   ${PROJECT_SOURCE_DIR}/apps/nearfar/shared/progress_bar.cpp ${PROJECT_SOURCE_DIR}/apps/nearfar/shared/suggestion.cpp)
  target_link_libraries(nearfar_checker_schedule_tests PRIVATE nearfar_schedules)
  # Ranks that sleep and wake; with the source text of the pthread drop-in, but without its library.
  nearfar_add_test(checker_sleep checker/cst_test.cpp checker/event_count_test.cpp checker/parking_test.cpp
                   dropin/checked_dropin_test.cpp)
  target_link_libraries(nearfar_checker_sleep_tests PRIVATE nearfar_engine nearfar_test_mutants)
  nearfar_add_test(
    checker
    checker/attempts_test.cpp
    checker/biased_queue_test.cpp
    checker/clof_test.cpp
    checker/completion_test.cpp
    checker/crash_test.cpp
    checker/deadline_test.cpp
    checker/epoch_test.cpp
    checker/far_litmus_test.cpp
    checker/fence_test.cpp
    checker/fault_test.cpp
    checker/fissile_test.cpp
    checker/hemlock_test.cpp
    checker/history_test.cpp
    checker/jobs_test.cpp
    checker/near_litmus_test.cpp
    checker/operations_test.cpp
    checker/payload_test.cpp
    checker/search_test.cpp
    checker/seq_lock_test.cpp
    checker/sharing_test.cpp
    checker/shfl_test.cpp
    checker/symmetry_test.cpp
    checker/waiting_test.cpp)
  # The checker sees that a function's variables are gone only where the compiler inlines the engine's world. The test is
  # a program of its own, since a linker keeps one copy of a function that several sources define.
  nearfar_add_test(checker_far_faults checker/far_fault_test.cpp)
  target_link_libraries(nearfar_checker_far_faults_tests PRIVATE nearfar_engine)
  if(NEARFAR_SANITIZE)
    target_compile_options(nearfar_checker_far_faults_tests PRIVATE -O1)
  endif()
  nearfar_add_test(checker_faults checker/known_faults_test.cpp)
  nearfar_add_test(checker_queue queue/checked_combining_add_test.cpp queue/checked_queue_test.cpp
                   queue/checked_spsc_queue_test.cpp)
  target_link_libraries(nearfar_checker_queue_tests PRIVATE nearfar_engine)
  if(NEARFAR_SANITIZE)
    # Ranks that cannot be unwound lose what they hold, which LeakSanitizer would report. The other tests take minutes
    # in programs like those beside them.
    set_tests_properties(checker PROPERTIES ENVIRONMENT
                                            "GTEST_FILTER=-crashes.leave_guards_to_destructors_that_cannot_wait:biased_queues.are_not_taken_by_*:biased_queues.are_right_in_*_orders*:hemlocks.of_the_same_words_are_apart:locks.have_the_same_traces_*:crashes.lead_to_the_same_states_*:symmetry.misses_no_outcome:random_programs.of_near_cells_have_the_same_outcomes_in_weak_memory:random_epochs.have_the_same_traces_and_states_*")
    # A search of a sound lock takes most of the time, and runs the same code as a search that finds a fault.
    set_tests_properties(checker_faults PROPERTIES ENVIRONMENT "GTEST_FILTER=-of/sound.*")
  endif()
  # The tests compare with the checker, so they need it.
  nearfar_add_test(litmus litmus/oracle_test.cpp litmus/recorded_test.cpp litmus/simulation_test.cpp
                   litmus/threads_test.cpp)
  target_link_libraries(nearfar_litmus_tests PRIVATE nearfar_engine)
  set_tests_properties(litmus PROPERTIES PROCESSORS 2) # threads, bound to them
  nearfar_add_test(checker_rw_locks checker/rw_lock_test.cpp checker/late_rw_lock_test.cpp)
  set(with_locks checker checker_faults checker_queue checker_rw_locks)
  if(NOT NEARFAR_SANITIZE)
    # Each takes minutes, and runs code that the tests of maps and channels on threads run with a sanitizer, too.
    nearfar_add_test(checker_map map/checked_map_test.cpp)
    target_link_libraries(nearfar_checker_map_tests PRIVATE nearfar_engine)
    # Compiled once for the tests that check channels and the tests that break them.
    add_library(nearfar_channel_programs OBJECT channel/channel_programs.cpp channel/checked_strategies.cpp)
    target_include_directories(nearfar_channel_programs PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(nearfar_channel_programs PRIVATE nearfar_engine nearfar_strict)
    nearfar_add_test(checker_channel channel/checked_channel_test.cpp channel/checked_rendezvous_test.cpp
                     channel/checked_select_test.cpp)
    target_link_libraries(nearfar_checker_channel_tests PRIVATE nearfar_engine nearfar_channel_programs)
    list(APPEND with_locks checker_channel)
    # Thousands of programs like those in the test checker.
    nearfar_add_test(checker_oracle checker/axioms.cpp checker/oracle_test.cpp)
    target_link_libraries(nearfar_checker_oracle_tests PRIVATE nearfar_engine)
    # Mutants use buffers that are gone. AddressSanitizer would stop at them.
    nearfar_add_test(checker_mutants checker/fc_mcs_test.cpp checker/island_test.cpp checker/mutants_test.cpp)
    nearfar_add_test(checker_rw_mutants checker/rw_mutants_test.cpp)
    nearfar_add_test(checker_queue_mutants queue/queue_mutants_test.cpp)
    nearfar_add_test(checker_channel_mutants channel/channel_mutants_test.cpp)
    target_link_libraries(nearfar_checker_channel_mutants_tests PRIVATE nearfar_channel_programs)
    list(APPEND with_locks checker_mutants checker_rw_mutants checker_queue_mutants checker_channel_mutants)
    add_test(NAME check_all COMMAND nearfar_command check --all --quick)
    # These take longest, so they start first, side by side.
    set_tests_properties(check_all PROPERTIES TIMEOUT 1800 COST 400)
    set_tests_properties(checker_mutants checker_channel checker_channel_mutants PROPERTIES COST 200)
    set_tests_properties(checker_oracle checker_faults checker_queue checker_rw_locks checker_rw_mutants PROPERTIES COST 100)
  else()
    # An operation outlives its buffer if a mutant leaves out the flush.
    set_tests_properties(
      checker_rw_locks PROPERTIES ENVIRONMENT
                                  "GTEST_FILTER=-*.exclude_*:*.block_at_worst_*:*.lets_no_waiting_reader_*:rw_locks.*:distributed_counters.*:late_rw_lock.is_right_as_recommended:late_rw_lock.changes_over_*:*_operations_broken")
    set_tests_properties(checker_queue PROPERTIES ENVIRONMENT "GTEST_FILTER=-broken_*:*many_orders:checked_queue/2.*:checked_queue/3.*")
  endif()
  foreach(name IN LISTS with_locks)
    target_link_libraries(nearfar_${name}_tests PRIVATE nearfar_bench nearfar_test_mutants)
  endforeach()
  # A search allocates much: with this allocator it takes an eighth to a quarter less time. No library may precede a
  # sanitizer's.
  find_library(NEARFAR_FAST_MALLOC NAMES libtcmalloc_minimal.so.4)
  if(NEARFAR_FAST_MALLOC AND NOT NEARFAR_SANITIZE)
    set_tests_properties(
      ${with_locks} checker_schedule checker_sleep checker_map checker_oracle check_all
      PROPERTIES ENVIRONMENT "LD_PRELOAD=${NEARFAR_FAST_MALLOC}")
  endif()
endif()

# ---- with MPI ----------------------------------------------------------------------------------------------

if(NOT NEARFAR_SANITIZE MATCHES "thread")
  nearfar_add_test_program(nearfar_mpi_structure_tests map/mpi_map_test.cpp mpi/environment.cpp mpi/main.cpp
                           channel/mpi_channel_test.cpp queue/mpi_combining_add_test.cpp queue/mpi_queue_test.cpp)
  target_link_libraries(nearfar_mpi_structure_tests PRIVATE nearfar_engine nearfar_mpi)

  set(mpi_structures $<TARGET_FILE:nearfar_mpi_structure_tests> --gtest_brief=1 --gtest_color=no)
  nearfar_add_mpi_test(mpi_structures.2_ranks 2 "${one_node}" ${mpi_structures})
  nearfar_add_mpi_test(mpi_structures.4_ranks 4 "${one_node}" ${mpi_structures})
  nearfar_add_mpi_test(mpi_structures.4_ranks_on_2_nodes 4 "${two_nodes}" ${mpi_structures})
  # One node with more ranks than a small machine has processors. The ranks take turns.
  nearfar_add_mpi_test(mpi.4_ranks 4 "${one_node}" ${mpi_tests})
  nearfar_add_mpi_test(mpi_litmus.4_ranks 4 "${one_node}" ${mpi_litmus})
  # More ranks than any machine at hand has processors.
  nearfar_add_mpi_test(mpi.16_ranks 16 "${one_node}" ${mpi_tests}
                       --gtest_filter=mpi_lock.conforms/*:worlds.*:agreement.*:tries_in_a_loop.*)
  # Every sound lock, map and queue with a memcpy that stores twice (scripts/two_stores.c). An algorithm that takes a
  # visible write for a complete one stops there. No library may precede AddressSanitizer's.
  if(NOT NEARFAR_SANITIZE)
    set(NEARFAR_TWO_STORES_OPERATIONS 300 CACHE STRING "On each object, in the tests with a memcpy that stores twice")
    # Between nodes a contended far operation may take 20 ms.
    math(EXPR between_nodes "(${NEARFAR_TWO_STORES_OPERATIONS} + 9) / 10")
    set(soak $<TARGET_FILE:nearfar_soak> --operations)
    nearfar_add_mpi_test(mpi.two_stores.1_node 2 "${one_node}" ${soak} ${NEARFAR_TWO_STORES_OPERATIONS})
    nearfar_add_mpi_test(mpi.two_stores.2_virtual_nodes 4 "${one_node}" ${soak} ${NEARFAR_TWO_STORES_OPERATIONS} --topology
                         "node:2 core:2")
    nearfar_add_mpi_test(mpi.two_stores.2_nodes 4 "${two_nodes}" ${soak} ${between_nodes})
    set(two_stores_tests mpi.two_stores.1_node mpi.two_stores.2_virtual_nodes mpi.two_stores.2_nodes)
    # This test shows that the tests above can fail: it stops long before it has done its operations. MPICH 4.0 is left
    # out, since the target itself carries out a write there, between its own steps.
    if(NOT NEARFAR_MPI_NAME STREQUAL "mpich")
      set(lock_that_stops d_mcs.put)
      nearfar_add_mpi_test(
        mpi.two_stores.unsound 2 "${one_node}" $<TARGET_FILE:nearfar_soak> --objects ${lock_that_stops} --operations
        100000000 --stall-limit 10)
      set_tests_properties(mpi.two_stores.unsound PROPERTIES PASS_REGULAR_EXPRESSION "\"stalled\":true")
      list(APPEND two_stores_tests mpi.two_stores.unsound)
    endif()
    set_tests_properties(${two_stores_tests} PROPERTIES ENVIRONMENT "NEARFAR_TWO_STORES=1")
  endif()
endif()

# ---- the command -------------------------------------------------------------------------------------------

if(NOT NEARFAR_SANITIZE MATCHES "thread" AND NOT NEARFAR_MPI_ONLY)
  foreach(class IN LISTS slow_classes)
    nearfar_add_command_test(command.${class} 1 ${file} ${class})
  endforeach()
  nearfar_add_command_test(run_mpi 1 ${CMAKE_CURRENT_SOURCE_DIR}/launch/run_mpi_test.py)
  if(NEARFAR_TEST_WITHOUT_MPI)
    nearfar_add_command_test(figures 2 ${CMAKE_CURRENT_SOURCE_DIR}/command/figures_test.py)
  endif()
endif()
