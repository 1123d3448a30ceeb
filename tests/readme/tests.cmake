# What the README shows is what happens: its examples, its program, its links.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_executable(library_example ${CMAKE_CURRENT_LIST_DIR}/library_example.cpp)
target_link_libraries(library_example PRIVATE tessera_algorithms)
if(TESSERA_MPI)
  add_executable(library_mpi_example ${CMAKE_CURRENT_LIST_DIR}/library_mpi_example.cpp)
  target_link_libraries(library_mpi_example PRIVATE tessera_algorithms tessera_mpi)
endif()
add_test(NAME readme COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/readme_test.py)
set(readme_environment "TESSERA=$<TARGET_FILE:tessera>" "TESSERA_LIBRARY_EXAMPLE=$<TARGET_FILE:library_example>")
if(TESSERA_MPI)
  list(APPEND readme_environment "TESSERA_LIBRARY_MPI_EXAMPLE=$<TARGET_FILE:library_mpi_example>" "MPIRUN=${MPIEXEC_EXECUTABLE}" OMPI_ALLOW_RUN_AS_ROOT=1
       OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
       OMPI_MCA_rmaps_base_oversubscribe=1)
endif()
set_tests_properties(readme PROPERTIES LABELS readme TIMEOUT 300 PROCESSORS 2 ENVIRONMENT "${readme_environment}")
