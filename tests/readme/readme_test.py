"""The README is true: its console examples print what it shows, and its C++ program is the compiled one.

All ```console blocks are one shell session on a terminal, in an empty folder that has the repository's tests/
and configs/. Lines that begin with "$ " are typed; the others are what must appear.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tools"))
from program import TESSERA, TIMEOUT_SECONDS, ProgramTest

ROOT = os.path.join(HERE, "..", "..")
LIBRARY_EXAMPLE = os.environ["TESSERA_LIBRARY_EXAMPLE"]
LIBRARY_MPI_EXAMPLE = os.environ.get("TESSERA_LIBRARY_MPI_EXAMPLE", "")
MPIRUN = os.environ.get("MPIRUN", "")


def readme():
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        return file.read()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", readme(), re.DOTALL | re.MULTILINE)


def examples():
    """Pairs (command, expected output) in the order of the README."""
    found = []
    for line in "".join(blocks("console")).splitlines():
        if line.startswith("$ "):
            found.append([line[2:], []])
        else:
            found[-1][1].append(line)
    return [(command, lines) for command, lines in found if not command.startswith("PATH=")]


def as_displayed(text):
    """What stays visible: overwritten progress lines, colours and the line about the run are gone."""
    lines = []
    for line in text.replace("\r\n", "\n").split("\n"):
        line = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", line.split("\r")[-1])
        if not line.startswith("tessera: info: "):
            lines.append(line.rstrip())
    while lines and not lines[-1]:
        lines.pop()
    return lines


class ReadmeTest(ProgramTest):
    maxDiff = None

    def typed(self, command):
        """What a terminal shows after a command."""
        env = {"PATH": os.path.dirname(TESSERA) + ":" + os.environ["PATH"]}
        if command.startswith("mpirun"):  # Open MPI keeps memory until the end, which the leak detector reports
            env["ASAN_OPTIONS"] = "detect_leaks=0"
        return as_displayed(self.run_on_terminal(launcher=("bash", "-c", command + "\ntrue"), env=env))

    def test_examples_print_what_the_readme_shows(self):
        for name in ("tests", "configs"):
            os.symlink(os.path.abspath(os.path.join(ROOT, name)), os.path.join(self.folder, name))
        self.assertGreater(len(examples()), 10)
        for command, expected in examples():
            with self.subTest(command=command):
                if not MPIRUN and command.startswith("mpirun"):
                    command = re.sub(r"^mpirun -n \d+ ", "", command)  # a build without MPI
                self.assertEqual(self.typed(command), as_displayed("\n".join(expected)))

    def test_the_library_example_is_the_compiled_file_and_ranks(self):
        with open(os.path.join(HERE, "library_example.cpp"), encoding="utf-8") as file:
            self.assertEqual(blocks("cpp"), [file.read()])
        links = self.write("links.txt", "a b\nb c\nc a\nd a\n")
        done = subprocess.run([LIBRARY_EXAMPLE, links], capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line.split("\t") for line in done.stdout.splitlines()]
        self.assertEqual([line[0] for line in lines], ["node", "a", "b", "c"])
        self.assertEqual([line[1][:6] for line in lines[1:]], ["0.3330", "0.3247", "0.3172"])

    @unittest.skipUnless(MPIRUN, "a build without MPI")
    def test_the_mpi_example_gives_the_same_for_any_number_of_processes(self):
        links = self.write("links.txt", "a b\nc b\nc d\ne d\nc f\n")
        for processes in (1, 2, 3):
            done = subprocess.run([MPIRUN, "-n", str(processes), LIBRARY_MPI_EXAMPLE, links], capture_output=True,
                                  text=True, timeout=TIMEOUT_SECONDS, env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
            self.assertEqual(done.returncode, 0, done.stderr)
            lines = [line.split("\t") for line in done.stdout.splitlines()]
            self.assertEqual([line[0] for line in lines], ["node", "b", "d", "f"])
            self.assertEqual(lines[0], ["node", "authority", "hub"])

    def test_a_project_can_hold_this_one(self):
        """The lines that the README gives; what is built is the same as here, so only the program's own file is."""
        recipe = next(block for block in blocks("cmake") if "add_subdirectory(tessera" in block)
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(os.path.realpath(ROOT), os.path.join(folder, "tessera"))
            shutil.copy(os.path.join(HERE, "library_example.cpp"), os.path.join(folder, "main.cpp"))
            with open(os.path.join(folder, "CMakeLists.txt"), "w", encoding="utf-8") as file:
                file.write("cmake_minimum_required(VERSION 3.25)\nproject(mine LANGUAGES CXX)\n"
                           "add_executable(my_program main.cpp)\n" + recipe)
            result = subprocess.run(["cmake", "-G", "Ninja", "-S", folder, "-B", os.path.join(folder, "build"),
                                     "-DCMAKE_BUILD_TYPE=Release", "-DTESSERA_CUDA=OFF", "-DTESSERA_MPI=OFF"],
                                    capture_output=True, text=True, timeout=120)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            result = subprocess.run(["ninja", "-C", os.path.join(folder, "build"),
                                     "CMakeFiles/my_program.dir/main.cpp.o"],
                                    capture_output=True, text=True, timeout=120)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_links_lead_to_files(self):
        targets = re.findall(r"\[[\w./-]+\]\(([\w./-]+)\)", readme())
        self.assertGreater(len(targets), 5)
        for target in targets:
            self.assertTrue(os.path.exists(os.path.join(ROOT, target)), target)


if __name__ == "__main__":
    unittest.main()
