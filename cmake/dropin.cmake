# Libraries to be loaded before programs that know nothing of nearfar (docs/dropin.md). They take what they need of the library
# as sources: position-independent, without checks, and with the C++ library inside, which programs in C lack.
add_library(
  nearfar_pthread MODULE
  src/core/agreement.cpp
  src/core/error.cpp
  src/dropin/pthread/algorithms.cpp
  src/dropin/pthread/arena.cpp
  src/dropin/pthread/c_library.cpp
  src/dropin/pthread/choice.cpp
  src/dropin/pthread/condition.cpp
  src/dropin/pthread/mutex.cpp
  src/dropin/pthread/preload.cpp
  src/lock/local_passes.cpp
  src/lock/near_lockable.cpp
  src/memory/slab.cpp
  src/memory/waiting.cpp
  src/topology/locality.cpp)
target_compile_features(nearfar_pthread PRIVATE cxx_std_20)
target_compile_definitions(nearfar_pthread PRIVATE NEARFAR_CHECKED=0)
# Loaded at start, so that what is a thread's own needs no call.
target_compile_options(nearfar_pthread PRIVATE -O2 -ftls-model=initial-exec -fno-threadsafe-statics)
target_include_directories(nearfar_pthread PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/include ${CMAKE_CURRENT_SOURCE_DIR}/src/dropin/pthread)
target_link_libraries(nearfar_pthread PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
target_link_options(nearfar_pthread PRIVATE -static-libstdc++ -Wl,--no-undefined
                    -Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/src/dropin/pthread/exports.map)
set_target_properties(
  nearfar_pthread
  PROPERTIES CXX_VISIBILITY_PRESET hidden
             VISIBILITY_INLINES_HIDDEN ON
             LINK_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/dropin/pthread/exports.map)
