# cmake -DSOURCE_DIR=... -DGIT_PROGRAM=... -DHEADER=... -P commit.cmake: leaves the commit of the checkout in a header, which
# is written only where that has changed. Run by every build, so that the program names what it was built from.
cmake_minimum_required(VERSION 3.25)
set(commit "unknown")
set(ENV{GIT_OPTIONAL_LOCKS} 0)  # another git may be at work
if(GIT_PROGRAM)
  execute_process(COMMAND ${GIT_PROGRAM} rev-parse --show-toplevel WORKING_DIRECTORY ${SOURCE_DIR}
                  OUTPUT_VARIABLE checkout OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND ${GIT_PROGRAM} describe --always --dirty WORKING_DIRECTORY ${SOURCE_DIR}
                  OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  file(REAL_PATH "${SOURCE_DIR}" source)
  if(failed EQUAL 0 AND checkout STREQUAL source)  # not that of a project around an unpacked archive
    set(commit ${described})
  endif()
endif()
file(CONFIGURE OUTPUT "${HEADER}" CONTENT "#define TESSERA_COMMIT \"@commit@\"\n" @ONLY)
