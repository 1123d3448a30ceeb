#!/usr/bin/env python3
"""Checks the rules of docs/design.md that a compiler does not: which folder may include which, where MPI and
CUDA may appear, that nothing below tools prints or exits, that no file is longer than 400 lines, and that
tests which ask for a GPU are run on one by tools/device-check.sh.

    tests/check_layers.py [ROOT]

Prints one line for each fault, as FILE:LINE: what is wrong, and ends with 1 when there is any.
"""
import fnmatch
import os
import re
import sys

MAX_LINES = 400
DEVICE_CHECK = "tools/device-check.sh"
SOURCES = (".cpp", ".hpp", ".cu", ".cuh")
SCRIPTS = (".py", ".sh", ".cmake", "CMakeLists.txt")
FOLDERS = ("kernels", "partition", "engine", "algorithms", "tools", "tests")

# A file under the folder on the left includes only from the folders on the right; the longest match rules.
MAY_INCLUDE = {
    "kernels/base": ("kernels/base",),
    "kernels": ("kernels",),
    "kernels/cpu": ("kernels", "!kernels/cuda"),
    "kernels/cuda": ("kernels", "!kernels/cpu"),
    "partition": ("partition", "kernels/base"),
    "engine": ("engine", "partition", "kernels", "!kernels/cpu", "!kernels/cuda"),
    "algorithms": ("algorithms", "engine", "partition", "kernels", "!kernels/cpu", "!kernels/cuda"),
    "tools": ("tools", "algorithms", "engine", "partition", "kernels", "!kernels/cpu", "!kernels/cuda"),
}
MPI_FILES = ("partition/mpi_communicator.cpp", "tools/version.cpp")
MPI_WRAPPER_USERS = ("partition/mpi_communicator.cpp", "tools/main.cpp", "tests/mpi", "tests/bench/ranks_bench.cpp",
                     "tests/readme/library_mpi_example.cpp")
CUDA_USERS = ("kernels/cuda", "tests/bench")  # the latter measures beside the vendor's library
CUDA_HEADER = re.compile(r"^(cuda|nccl|cublas|cusparse|nvtx|cub/|thrust/|cooperative_groups)")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
PRINTING = re.compile(r"\bstd::c(out|err|log)\b|(?<![\w.>:])(std::)?(v?f?printf|f?puts|f?putc|putchar|perror)\s*\("
                      r"|\bfmt::print\b|\bspdlog\b|(?<![\w.>:])(std::)?"
                      r"(quick_exit|_?exit|_Exit)\s*\(|\bstd::(abort|terminate)\s*\(")
MAY_EXIT = ("kernels/formats/graph_cut.cpp",)  # a child process ends that way
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)


def below(path, folder):
    return path == folder or path.startswith(folder + "/")


def rule_for(path):
    matches = [folder for folder in MAY_INCLUDE if below(path, folder)]
    return MAY_INCLUDE[max(matches, key=len)] if matches else None


def include_fault(path, kind, name):
    """What is wrong with an include, or None."""
    if kind == "<":
        if name == "mpi.h" and path not in MPI_FILES:
            return f"<mpi.h> belongs into {MPI_FILES[0]} only"
        if CUDA_HEADER.match(name) and not any(below(path, user) for user in CUDA_USERS):
            return f"<{name}> belongs under kernels/cuda"
        return None
    if name == "partition/mpi_communicator.hpp" and not any(below(path, user) for user in MPI_WRAPPER_USERS):
        return f"\"{name}\" is for the program's start-up; take a Communicator"
    rule = rule_for(path)
    if rule is None:
        return None
    if "/" not in name:
        return f"\"{name}\" is not a path from the project's root"
    forbidden = [folder[1:] for folder in rule if folder.startswith("!")]
    if not any(below(name, folder) for folder in rule) or any(below(name, folder) for folder in forbidden):
        own = max((folder for folder in MAY_INCLUDE if below(path, folder)), key=len)
        return f"{own} may not include \"{name}\""
    return None


def code_only(text):
    """The text with comments and literals blanked, line breaks kept."""
    return NOT_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def source_faults(path, text):
    for number, line in enumerate(text.splitlines(), 1):
        found = INCLUDE.match(line)
        fault = found and include_fault(path, *found.groups())
        if fault:
            yield number, fault
    if path.endswith((".cu", ".cuh")) and not any(below(path, folder) for folder in ("kernels/cuda", "tests")):
        yield 1, "device code belongs under kernels/cuda"
    if below(path, "tools") or below(path, "tests"):
        return
    for number, line in enumerate(code_only(text).splitlines(), 1):
        found = PRINTING.search(line)
        if found and not INCLUDE.match(line) and not (path in MAY_EXIT and found.group().startswith("_exit")):
            yield number, f"\"{found.group().rstrip('( ')}\": only tools may print or exit; throw an error"


def all_files(root):
    for folder in FOLDERS:
        for parent, _, names in os.walk(os.path.join(root, folder)):
            for name in names:
                if name.endswith(SOURCES + SCRIPTS):
                    yield os.path.relpath(os.path.join(parent, name), root)


def device_filters(script):
    """Patterns of the suites that a script runs, without those it leaves out."""
    lists = re.findall(r"--gtest_filter=['\"]([^'\"]*)", script)
    return [pattern for found in lists for pattern in found.split(":-")[0].split(":") if pattern]


def device_test_faults(path, text, filters):
    """Tests that no filter finds, of a file that asks for a GPU, by the names that gtest gives them."""
    if not any(mark in text for mark in ("num_devices()", "usable_backends()", "device_case.hpp")):
        return
    for number, line in enumerate(text.splitlines(), 1):
        found = re.match(r"(TYPED_)?TEST(_P)?_?F?\((\w+), (\w+)\)", line)
        if not found:
            continue
        typed, parameters, suite, test = found.groups()
        name = f"{suite}/0.{test}" if typed else f"Some/{suite}.{test}/0" if parameters else f"{suite}.{test}"
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern in filters):
            yield number, f"{suite}.{test} is not run by {DEVICE_CHECK}, although its file asks for a GPU"


def faults(root):
    script = os.path.join(root, DEVICE_CHECK)
    filters = []
    if os.path.exists(script):
        with open(script, encoding="utf-8") as file:
            filters = device_filters(file.read())
    for path in sorted(all_files(root)):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        count = len(text.splitlines())
        if count > MAX_LINES:
            yield f"{path}:{count}: {count} lines, at most {MAX_LINES}; split it"
        if path.endswith(SOURCES):
            yield from (f"{path}:{number}: {fault}" for number, fault in source_faults(path, text))
        if below(path, "tests") and not below(path, "tests/bench"):
            yield from (f"{path}:{number}: {fault}" for number, fault in device_test_faults(path, text, filters))


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    if not any(all_files(root)):
        sys.exit(f"check_layers.py: no source files under {root}")
    found = list(faults(root))
    print("\n".join(found) if found else "layers are as docs/design.md says")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
