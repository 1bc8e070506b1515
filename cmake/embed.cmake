# Writes a source file that holds the files of a folder. Arguments: folder, output.
file(GLOB_RECURSE files RELATIVE ${folder} ${folder}/*.json ${folder}/*.csv)
list(SORT files)
list(LENGTH files count)
set(entries "")
foreach(name IN LISTS files)
  file(READ "${folder}/${name}" text)
  string(APPEND entries "    {\"${name}\", R\"embedded(${text})embedded\"},\n")
endforeach()
file(
  WRITE ${output}.new
  "// Generated from machines/.
#include \"apps/nearfar/shared/shipped.hpp\"

#include <array>

namespace nearfar::command {

std::span<const shipped_file> shipped_files() {
  static constexpr std::array<shipped_file, ${count}> files{{
${entries}  }};
  return files;
}

}  // namespace nearfar::command
")
file(COPY_FILE ${output}.new ${output} ONLY_IF_DIFFERENT)
