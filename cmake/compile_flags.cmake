# Flags of every target. -ffp-contract=off: a fused multiply-add rounds once where two operations round
# twice, so results would depend on the processor.
add_library(tessera_flags INTERFACE)
target_compile_features(tessera_flags INTERFACE cxx_std_20)
target_compile_options(tessera_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>")
# Of this project's own code; who holds the project has warnings of their own.
if(PROJECT_IS_TOP_LEVEL)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wno-unknown-pragmas>")
  set(CMAKE_CXX_FLAGS_RELEASE "-O3" CACHE STRING "" FORCE)
endif()

set(TESSERA_SANITIZE "" CACHE STRING "Sanitizers of all targets, e.g. address,undefined")
if(TESSERA_SANITIZE)
  target_compile_options(tessera_flags INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${TESSERA_SANITIZE};-fno-sanitize-recover=all;-fno-omit-frame-pointer;-g1>"
    "$<$<COMPILE_LANGUAGE:CXX>:-D_GLIBCXX_ASSERTIONS>")
  target_link_options(tessera_flags INTERFACE -fsanitize=${TESSERA_SANITIZE})
endif()
