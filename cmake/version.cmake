# Writes the version header, touching it only when it changes. Arguments: source, version, flags, output.
cmake_minimum_required(VERSION 3.25)
execute_process(
  COMMAND git -C ${source} describe --always --dirty --abbrev=12 --exclude=*
  OUTPUT_VARIABLE commit
  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
  set(commit "unknown commit")
endif()
file(
  CONFIGURE
  OUTPUT ${output}
  CONTENT
    "// Generated at every build.
#pragma once

namespace nearfar {

inline constexpr const char* version = \"@version@\";
inline constexpr const char* commit = \"@commit@\";
inline constexpr const char* build_flags = \"@flags@\";

}  // namespace nearfar
"
  @ONLY)
