# nearfar_export_only(target, map): makes a shared library export exactly the names of that version script, and link to
# all that it needs.
function(nearfar_export_only target map)
  cmake_path(ABSOLUTE_PATH map BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON LINK_DEPENDS ${map})
  target_link_options(${target} PRIVATE LINKER:--version-script=${map} LINKER:--no-undefined)
endfunction()
