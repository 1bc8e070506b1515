# Compiles SOURCE twice: as it is, which must work, and with WRONG defined, which must fail with a diagnostic that
# matches the regular expression in the first line of the file, "// error: REGEX".
#
# cmake -D COMPILER=... -D SOURCE=... -D INCLUDES=dir,dir,... -P expect_error.cmake
file(STRINGS ${SOURCE} first_line LIMIT_COUNT 1)
if(NOT first_line MATCHES "^// error: (.+)$")
  message(FATAL_ERROR "${SOURCE} does not begin with '// error: REGEX'")
endif()
set(expected "${CMAKE_MATCH_1}")
string(REPLACE "," ";-I" includes "-I${INCLUDES}")
set(command ${CMAKE_COMMAND} -E env LC_ALL=C ${COMPILER} -std=c++20 -fsyntax-only -fdiagnostics-color=never ${includes})

execute_process(COMMAND ${command} ${SOURCE} RESULT_VARIABLE status ERROR_VARIABLE diagnostics)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the right use does not compile, so the wrong one proves nothing:\n${diagnostics}")
endif()

execute_process(COMMAND ${command} -DWRONG ${SOURCE} RESULT_VARIABLE status ERROR_VARIABLE diagnostics)
if(status EQUAL 0)
  message(FATAL_ERROR "the wrong use compiles")
endif()
string(REGEX REPLACE "[\r\n]+" " " diagnostics_line "${diagnostics}")
if(NOT diagnostics_line MATCHES "${expected}")
  message(FATAL_ERROR "the wrong use is refused, but not for the expected reason.\nExpected: ${expected}\n"
                      "The compiler says:\n${diagnostics}")
endif()
