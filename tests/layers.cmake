# Rules about the source itself: include directions, printing, length of files; and that the check can fail.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME layers.project COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/check_layers.py)
add_test(NAME layers.check_layers_test COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/check_layers_test.py)
set_tests_properties(layers.project layers.check_layers_test PROPERTIES LABELS layers TIMEOUT 60)
