# The program itself, driven from Python's standard library: exit code, stdout and stderr of each case.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
file(GLOB tool_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*_test.py)
foreach(file ${tool_tests})
  get_filename_component(stem ${file} NAME_WE)
  add_test(NAME tools.${stem} COMMAND ${Python3_EXECUTABLE} -B ${file})
  set_tests_properties(tools.${stem} PROPERTIES LABELS tools TIMEOUT 600
    SKIP_REGULAR_EXPRESSION "mpirun is not there: nothing was tested"
    ENVIRONMENT "TESSERA=$<TARGET_FILE:tessera>;TESSERA_REFERENCE_DATA=${TESSERA_REFERENCE_DATA}")
endforeach()

# Parts of the program that need no whole run.
set(tool_parts value_text nearest_name config_file progress backend_choice bar_chart output_paths memory_plan
    cgroup_memory option_parser threads)
list(TRANSFORM tool_parts PREPEND ${PROJECT_SOURCE_DIR}/tools/ OUTPUT_VARIABLE tool_part_sources)
list(TRANSFORM tool_part_sources APPEND .cpp)
list(TRANSFORM tool_parts REPLACE "(.+)" "${CMAKE_CURRENT_LIST_DIR}/\\1_test.cpp" OUTPUT_VARIABLE tool_part_tests)
add_executable(tools_test ${tool_part_tests} ${tool_part_sources} ${PROJECT_SOURCE_DIR}/tools/log.cpp
               ${PROJECT_SOURCE_DIR}/tools/option_table.cpp ${PROJECT_SOURCE_DIR}/tools/command.cpp
               ${PROJECT_SOURCE_DIR}/tools/stop_signal.cpp ${PROJECT_SOURCE_DIR}/tools/terminal.cpp
               ${CMAKE_CURRENT_LIST_DIR}/../support/thread_ranks.cpp)
target_link_libraries(tools_test PRIVATE tessera_algorithms tessera_spdlog Boost::program_options GTest::gtest_main GTest::gmock rapidcheck)
tessera_compile_as_test(tools_test)
target_include_directories(tools_test PRIVATE ${PROJECT_SOURCE_DIR})
gtest_discover_tests(tools_test DISCOVERY_TIMEOUT 60 PROPERTIES LABELS tools)

# The program on several GPUs; skipped where there are fewer than two. "ctest -L gpu-mpi" runs it alone.
if(TESSERA_WITH_CUDA AND TESSERA_MPI)
  add_test(NAME gpu-mpi.ranks
           COMMAND ${PROJECT_SOURCE_DIR}/tools/device-check-ranks.sh ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/gpu-mpi)
  set_tests_properties(gpu-mpi.ranks PROPERTIES LABELS gpu-mpi TIMEOUT 1800 SKIP_RETURN_CODE 77 RUN_SERIAL ON)
endif()
