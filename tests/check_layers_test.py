"""check_layers.py finds each kind of fault in a small tree made for it, and nothing in a clean one."""
import os
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check_layers.py")

# A file with one fault, the line it is in, and a part of the message.
FAULTS = (
    ("kernels/base/a.hpp", '#include "engine/graph.hpp"\n', 1, "kernels/base may not include"),
    ("kernels/base/a.hpp", '#include "kernels/backend.hpp"\n', 1, "kernels/base may not include"),
    ("kernels/cpu/a.cpp", '#include "kernels/cuda/warp.cuh"\n', 1, "kernels/cpu may not include"),
    ("kernels/a.cpp", '\n#include "partition/communicator.hpp"\n', 2, "kernels may not include"),
    ("partition/a.cpp", '#include "kernels/backend.hpp"\n', 1, "partition may not include"),
    ("engine/io/a.cpp", '#include "algorithms/hits.hpp"\n', 1, "engine may not include"),
    ("engine/a.cpp", '#include "kernels/cpu/cpu_spmv.hpp"\n', 1, "engine may not include"),
    ("algorithms/a.cpp", '  #  include "tools/log.hpp"\n', 1, "algorithms may not include"),
    ("algorithms/a.cpp", '#include "hits.hpp"\n', 1, "not a path from the project's root"),
    ("algorithms/a.cpp", "#include <mpi.h>\n", 1, "<mpi.h> belongs"),
    ("engine/a.cpp", '#include "partition/mpi_communicator.hpp"\n', 1, "take a Communicator"),
    ("tools/a.cpp", "#include <cuda_runtime.h>\n", 1, "belongs under kernels/cuda"),
    ("partition/a.cpp", "#include <nccl.h>\n", 1, "belongs under kernels/cuda"),
    ("engine/a.cu", "int x;\n", 1, "device code belongs"),
    ("engine/a.cpp", "void f() {\n  std::cout << 1;\n}\n", 2, '"std::cout"'),
    ("engine/a.cpp", 'void f() { printf("x"); }\n', 1, '"printf"'),
    ("engine/a.cpp", 'void f() { std::fprintf(stderr, "x"); }\n', 1, '"std::fprintf"'),
    ("partition/a.cpp", "void f() { std::exit(1); }\n", 1, '"std::exit"'),
    ("partition/a.cpp", "void f() { _exit(1); }\n", 1, '"_exit"'),
    ("kernels/formats/graph_cut.cpp", "void f() { std::_Exit(1); }\n", 1, '"std::_Exit"'),
    ("engine/a.cpp", "void f() { std::abort(); }\n", 1, '"std::abort"'),
    ("tools/a.cpp", "\n" * 401, 401, "401 lines"),
    ("tests/a_test.py", "\n" * 401, 401, "401 lines"),
    ("tests/a_test.cu", "\nTEST(Rows, Turn) { if (num_devices() > 0) f(); }\n", 2, "Rows.Turn is not run by"),
    ("tests/a_test.cpp", "TYPED_TEST(Rows, Turn) { usable_backends(); }\n", 1, "Rows.Turn is not run by"),
    ("tests/a_test.cpp", "TEST_P(Rows, Turn) {}\nbool b = num_devices() > 0;\n", 1, "Rows.Turn is not run by"),
)

CLEAN = {
    "kernels/base/types.hpp": "#include <cstdint>\n",
    "kernels/cpu/cpu_backend.cpp": '#include "kernels/backend.hpp"\n#include "kernels/base/types.hpp"\n',
    "kernels/cuda/cuda_backend.cu": "#include <cuda_runtime.h>\n",
    "partition/mpi_communicator.cpp": "#include <mpi.h>\nvoid f() { abort(1); }\n",  # of a class
    "kernels/formats/graph_cut.cpp": "void f() { _exit(0); }\n",
    "engine/graph.cpp": '// std::cout << printf("x")\n#include "partition/communicator.hpp"\n'
                        'const char* text = "printf(";\nint n = std::snprintf(b, 1, "");\nfile.exit();\n',
    "algorithms/hits.cpp": '#include "engine/graph.hpp"\n#include "kernels/backend.hpp"\n',
    "tools/main.cpp": '#include "partition/mpi_communicator.hpp"\nvoid f() { std::puts("x"); }\n',
    "tools/long.cpp": "\n" * 400,
    "tools/device-check.sh": "x --gtest_filter='DeviceRows*:*/Graphs.*:-*Large*'\n",
    "tests/rows_test.cu": "TEST(DeviceRows, Turn) { num_devices(); }\nTEST_P(Graphs, Turn) {}\nTEST_F(DeviceRows, Go) {}\n",
    "tests/rows_test.cpp": "TEST(Rows, Turn) {}\n",
}


def check(files):
    """Exit code and output for a tree of `files`."""
    with tempfile.TemporaryDirectory(prefix="layers-") as root:
        for path, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        done = subprocess.run([sys.executable, "-B", SCRIPT, root], capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout + done.stderr


class CheckLayersTest(unittest.TestCase):
    def test_a_clean_tree_passes(self):
        code, output = check(CLEAN)
        self.assertEqual(code, 0, output)

    def test_each_fault_is_found_with_its_place(self):
        for path, text, line, message in FAULTS:
            with self.subTest(path=path, text=text[:60]):
                code, output = check({**CLEAN, path: text})
                self.assertEqual(code, 1, output)
                self.assertEqual(len(output.splitlines()), 1, output)
                self.assertTrue(output.startswith(f"{path}:{line}: "), output)
                self.assertIn(message, output)

    def test_an_empty_tree_is_no_success(self):
        code, output = check({})
        self.assertEqual(code, 1)
        self.assertIn("no source files", output)


if __name__ == "__main__":
    unittest.main()
