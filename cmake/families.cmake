# Writes bench/families/KIND.hpp: for each file bench/KIND/NAME.cpp it declares `void add_NAME(CATALOGUE& to)`, which that file
# defines, and puts the function into the array families_of_KIND. So a family is registered by its file alone.
function(nearfar_list_families kind catalogue)
  file(GLOB files CONFIGURE_DEPENDS ${nearfar_SOURCE_DIR}/bench/${kind}/*.cpp)
  foreach(file IN LISTS files)
    cmake_path(GET file STEM name)
    string(APPEND declarations "void add_${name}(${catalogue}& to);  // bench/${kind}/${name}.cpp\n")
    list(APPEND names add_${name})
  endforeach()
  list(JOIN names ", " names)
  set(code "// Made of the names of the files in bench/${kind}/ by cmake/families.cmake.
#pragma once

#include \"bench/${catalogue}.hpp\"

namespace nearfar::bench {

${declarations}
inline constexpr void (*families_of_${kind}[])(${catalogue}&) = {${names}};

}  // namespace nearfar::bench
")
  file(CONFIGURE OUTPUT ${nearfar_BINARY_DIR}/generated/bench/families/${kind}.hpp CONTENT "${code}" @ONLY)
endfunction()
