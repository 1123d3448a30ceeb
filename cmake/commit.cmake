# cmake -DSOURCE_DIR=... -DGIT_PROGRAM=... -DHEADER=... -P commit.cmake: leaves the commit of the checkout in a header, which
# is written only where that has changed. Run by every build, so that the program names what it was built from.
set(commit "unknown")
if(GIT_PROGRAM)
  execute_process(COMMAND ${GIT_PROGRAM} describe --always --dirty WORKING_DIRECTORY ${SOURCE_DIR}
                  OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed EQUAL 0)
    set(commit ${described})
  endif()
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define TESSERA_COMMIT \"@commit@\"\n" @ONLY)
