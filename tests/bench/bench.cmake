# Benchmarks that need a GPU: built with the tests, run by tools/device-check.sh.
if(TESSERA_WITH_CUDA AND TARGET CUDA::cusparse)
  add_executable(spmv_bench ${CMAKE_CURRENT_LIST_DIR}/spmv_bench.cpp)
  target_link_libraries(spmv_bench PRIVATE tessera_algorithms CUDA::cudart_static CUDA::cusparse)
endif()
if(TESSERA_WITH_CUDA AND TARGET tessera_mpi)
  add_executable(ranks_bench ${CMAKE_CURRENT_LIST_DIR}/ranks_bench.cpp)
  target_link_libraries(ranks_bench PRIVATE tessera_algorithms tessera_mpi nlohmann_json::nlohmann_json)
endif()
