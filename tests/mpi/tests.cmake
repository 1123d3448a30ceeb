# The tests under mpirun, one ctest entry for each number of ranks.
# Open MPI keeps memory until the process ends, which the leak detector would report.
if(TESSERA_MPI)
  add_executable(mpi_test ${CMAKE_CURRENT_LIST_DIR}/mpi_test.cpp ${CMAKE_CURRENT_LIST_DIR}/../support/thread_ranks.cpp)
  target_link_libraries(mpi_test PRIVATE tessera_engine tessera_mpi GTest::gtest)
  tessera_compile_as_test(mpi_test)
  foreach(ranks 1 2 3 4 7)
    add_test(NAME mpi.${ranks}_ranks
             COMMAND ${MPIEXEC_EXECUTABLE} --oversubscribe -n ${ranks} $<TARGET_FILE:mpi_test>)
    set_tests_properties(mpi.${ranks}_ranks PROPERTIES LABELS mpi TIMEOUT 60 PROCESSORS ${ranks} ENVIRONMENT
      "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_btl_vader_single_copy_mechanism=none;OMP_NUM_THREADS=1;ASAN_OPTIONS=detect_leaks=0")
  endforeach()
endif()
