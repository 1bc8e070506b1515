# Writes bench/families/KIND.hpp: for each file bench/kinds/KIND/NAME.cpp it declares `void add_NAME(CATALOGUE& to)`, which that
# file defines, and puts the function into the array families_of_KIND. So a family is registered by its file alone. The files
# *_kind.cpp and *_catalogue.cpp of the folder register no family. HEADER, a file of the folder, declares the catalogue.
function(nearfar_list_families kind catalogue header)
  file(GLOB files CONFIGURE_DEPENDS ${nearfar_SOURCE_DIR}/bench/kinds/${kind}/*.cpp)
  list(FILTER files EXCLUDE REGEX "_(kind|catalogue)[.]cpp$")
  foreach(file IN LISTS files)
    cmake_path(GET file STEM name)
    string(APPEND declarations "void add_${name}(${catalogue}& to);  // bench/kinds/${kind}/${name}.cpp\n")
    list(APPEND names add_${name})
  endforeach()
  list(JOIN names ", " names)
  set(code "// Made of the names of the files in bench/kinds/${kind}/ by cmake/families.cmake.
#pragma once

#include \"bench/kinds/${kind}/${header}\"

namespace nearfar::bench {

${declarations}
inline constexpr void (*families_of_${kind}[])(${catalogue}&) = {${names}};

}  // namespace nearfar::bench
")
  file(CONFIGURE OUTPUT ${nearfar_BINARY_DIR}/generated/bench/families/${kind}.hpp CONTENT "${code}" @ONLY)
endfunction()
