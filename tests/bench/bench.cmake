# Benchmarks that need a GPU: built with the tests, run by tools/device-check.sh.
if(TESSERA_WITH_CUDA AND TARGET CUDA::cusparse)
  foreach(bench spmv_bench ranking_bench)
    add_executable(${bench} ${CMAKE_CURRENT_LIST_DIR}/${bench}.cpp)
    target_link_libraries(${bench} PRIVATE tessera_algorithms CUDA::cudart_static CUDA::cusparse)
  endforeach()
endif()
if(TESSERA_WITH_CUDA)
  add_executable(prepare_bench ${CMAKE_CURRENT_LIST_DIR}/prepare_bench.cpp)
  target_link_libraries(prepare_bench PRIVATE tessera_algorithms CUDA::cudart_static nlohmann_json::nlohmann_json)
endif()
if(TESSERA_WITH_CUDA AND TARGET tessera_mpi)
  add_executable(ranks_bench ${CMAKE_CURRENT_LIST_DIR}/ranks_bench.cpp)
  target_link_libraries(ranks_bench PRIVATE tessera_algorithms tessera_mpi nlohmann_json::nlohmann_json)
endif()

# The comparisons of the papers, on a GPU or, mostly to see that they work, on the CPU.
set(stand_ins ${CMAKE_CURRENT_LIST_DIR}/stand_in_matrices.cpp ${CMAKE_CURRENT_LIST_DIR}/stand_in_tables.cpp)
tessera_test(bench tessera_engine)
target_sources(bench_test PRIVATE ${stand_ins})
# Rows by the million, in every configuration.
set_source_files_properties(${stand_ins} PROPERTIES COMPILE_OPTIONS -O2 SKIP_PRECOMPILE_HEADERS ON)
if(NOT TESSERA_SANITIZE)  # no test runs it
  add_executable(format_bench ${stand_ins} ${CMAKE_CURRENT_LIST_DIR}/stand_in_systems.cpp
    ${CMAKE_CURRENT_LIST_DIR}/format_bench.cpp ${CMAKE_CURRENT_LIST_DIR}/format_lines.cpp
    ${CMAKE_CURRENT_LIST_DIR}/format_products.cpp ${CMAKE_CURRENT_LIST_DIR}/format_batches.cpp
    ${CMAKE_CURRENT_LIST_DIR}/format_cg.cpp)
  target_link_libraries(format_bench PRIVATE tessera_algorithms nlohmann_json::nlohmann_json)
  if(TESSERA_WITH_CUDA)
    target_compile_definitions(format_bench PRIVATE TESSERA_HAVE_CUDA=1)
    target_link_libraries(format_bench PRIVATE CUDA::cudart_static)
  endif()
endif()
