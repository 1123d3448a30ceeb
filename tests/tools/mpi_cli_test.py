"""The program under mpirun: the same bytes for any number of processes and threads, errors that end all."""
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

from program import LINKS, TESSERA, TIMEOUT_SECONDS, ProgramTest, environment

MPIRUN = shutil.which("mpirun")
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1",
               "OMPI_MCA_mpi_yield_when_idle": "1",
               # mpirun kills the rest at once when one process leaves with an error: nobody may be late then
               "OMPI_MCA_odls_base_sigkill_timeout": "0"}
STARTS_AT_ONCE = 4  # starting MPI is mostly waiting
if "ASAN_OPTIONS" not in os.environ:
    ENVIRONMENT["ASAN_OPTIONS"] = "detect_leaks=0"  # Open MPI leaves memory behind


class MpiTest(ProgramTest):
    @staticmethod
    def launcher(ranks):
        return [MPIRUN, "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]

    def mpirun(self, ranks, code, *arguments, **options):
        # Several at once may not agree on who makes the folder of the user that they share otherwise.
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as sessions:
            return self.expect(code, *arguments, env=ENVIRONMENT | {"OMPI_MCA_orte_tmpdir_base": sessions},
                               launcher=self.launcher(ranks), **options)

    def write_links(self):
        """A skewed graph with gaps, dangling nodes, loops, repeats and names as labels."""
        lines = [f"n{i * i % 97} n{i * 31 % 61}\n" for i in range(600)] + ["n0 n0\n", "hub x\n"]
        lines += [f"m{i} hub\n" for i in range(200)]
        self.write("g", "".join(lines))

    def test_the_same_bytes_for_any_number_of_processes_and_threads(self):
        self.write_links()
        commands = (["pagerank"], ["hits"], ["hits", "--update", "block"],
                    ["rwr", "--query", "hub", "--query", "n7", "--query", "x"])
        runs = [[command[0], "g", *command[1:], "--precision", precision, "--tolerance", "1e-5", "--max-iterations",
                 "2000", "--quiet"] for command in commands for precision in ("f32", "f64")]
        with ThreadPoolExecutor(STARTS_AT_ONCE) as pool:
            found = {(i, ranks): pool.submit(self.mpirun, ranks, 0, *run, "--threads", "1")
                     for i, run in enumerate(runs) for ranks in (1, 2, 3, 4, 7)}
        for i, run in enumerate(runs):
            expected = self.expect(0, *run, "--threads", "1").out
            self.assertGreater(len(expected), 1000)
            for threads in ("2", "4"):
                self.assertEqual(self.expect(0, *run, "--threads", threads).out, expected, (run, threads))
            for ranks in (1, 2, 3, 4, 7):
                self.assertEqual(found[i, ranks].result().out, expected, (run, ranks))

    def test_the_best_of_walks_are_the_first_of_all_on_any_number_of_processes(self):
        self.write_links()
        for precision in ("f32", "f64"):
            run = ["rwr", "g", "--query", "hub", "--query", "n7", "--tolerance", "1e-5", "--precision", precision,
                   "--quiet", "--threads", "1"]
            rows = self.expect(0, *run).rows()
            best = [row for query in ("hub", "n7") for row in [r for r in rows if r[0] == query][:3]]
            for ranks in (1, 2, 7):
                self.assertEqual(self.mpirun(ranks, 0, *run, "--top", "3").rows(), best, (precision, ranks))

    def test_the_best_of_pagerank_are_the_first_of_all_on_any_number_of_processes(self):
        self.write_links()
        run = ["pagerank", "g", "--precision", "f32", "--quiet", "--threads", "1"]
        rows = self.expect(0, *run).rows()
        for ranks in (1, 2, 7):
            self.assertEqual(self.mpirun(ranks, 0, *run, "--top", "3").rows(), rows[:3], ranks)

    def test_the_best_of_hits_are_the_first_of_all_on_any_number_of_processes(self):
        self.write_links()
        for how in ([], ["--update", "block", "--normalize", "max"]):
            run = ["hits", "g", "--precision", "f32", "--iterations", "7", "--quiet", "--threads", "1", *how]
            rows = self.expect(0, *run).rows()
            for ranks in (1, 2, 7):
                self.assertEqual(self.mpirun(ranks, 0, *run, "--top", "3").rows(), rows[:3], (how, ranks))

    def test_weighted_graphs_agree_too(self):
        self.write("w", "".join(f"{i % 37} {i * 7 % 41} {1 + i % 5 / 8}\n" for i in range(400)))
        for kernel in ("csr", "tile-composite", "tile-messages"):
            run = ["pagerank", "w", "--weighted", "--kernel", kernel, "--quiet", "--threads", "1"]
            expected = self.expect(0, *run).out
            for ranks in (2, 3):
                self.assertEqual(self.mpirun(ranks, 0, *run).out, expected, (kernel, ranks))

    def test_more_processes_than_rows(self):
        self.write("two", "a b\nb c\n")
        expected = self.expect(0, "pagerank", "two", "-q").out
        self.assertEqual(self.mpirun(7, 0, "pagerank", "two", "-q", "--threads", "1").out, expected)

    def test_caches_and_conversions_agree(self):
        self.write_links()
        self.expect(0, "convert", "g", "one.tsr")
        self.mpirun(3, 0, "convert", "g", "three.tsr", "--threads", "1")
        with open(self.path("one.tsr"), "rb") as one, open(self.path("three.tsr"), "rb") as three:
            self.assertEqual(one.read(), three.read())
        expected = self.expect(0, "pagerank", "g", "-q").out
        self.assertEqual(self.mpirun(3, 0, "pagerank", "one.tsr", "-q", "--threads", "1").out, expected)

    def test_every_way_to_rank_a_cache_agrees_on_any_number_of_processes(self):
        self.write("w", "".join(f"{i % 37} {i * 7 % 41} {1 + i % 5 / 8}\n" for i in range(400)))
        self.expect(0, "convert", "w", "w.tsr", "--weighted")
        for run in (["pagerank"], ["pagerank", "--unweighted"], ["pagerank", "--reverse", "--self-loops", "drop"],
                    ["hits"], ["hits", "--undirected", "--unweighted"], ["hits", "--update", "block"],
                    ["rwr", "--query", "3", "--query", "8"], ["rwr", "--query", "3", "--unweighted", "--reverse"]):
            run = [run[0], "w.tsr", *run[1:], "--tolerance", "1e-5", "-q", "--threads", "1"]
            expected = self.expect(0, *run).out
            for ranks in (2, 3):
                self.assertEqual(self.mpirun(ranks, 0, *run).out, expected, (run, ranks))

    def test_standard_input_is_read_by_the_first_process(self):
        self.write("g", LINKS)
        found = self.mpirun(2, 0, "pagerank", "-", "-q", "--threads", "1", stdin=LINKS.encode()).out
        self.assertEqual(found, self.expect(0, "pagerank", "g", "-q").out)

    def test_not_converged_writes_everything_before_it_leaves(self):
        self.write_links()
        self.mpirun(3, 3, "pagerank", "g", "--max-iterations", "2", "--tolerance", "1e-12", "-o", "s.tsv", "--report",
                    "r.json", "--threads", "1", err="not converged")
        self.expect(3, "pagerank", "g", "--max-iterations", "2", "--tolerance", "1e-12", "-o", "one.tsv")
        self.assertEqual(self.read("s.tsv"), self.read("one.tsv"))
        report = json.loads(self.read("r.json"))
        self.assertEqual(report["ranks"], 3)
        self.assertIs(report["iteration"]["converged"], False)

    def test_errors_are_said_once_and_end_all(self):
        lines = [f"n{i} n{i + 1}\n" for i in range(3000)]
        lines[2900] = "alone\n"  # in the last process's part
        self.write("bad", "".join(lines))
        for ranks in (2, 3):
            result = self.mpirun(ranks, 4, "pagerank", "bad", "-o", "s.tsv", "--threads", "1", err=r"bad:2901: ")
            self.assertEqual(result.err.count("bad:2901"), 1, result.err)
        result = self.mpirun(2, 4, "pagerank", "missing", "--threads", "1", err="missing: .*No such file")
        self.assertEqual(result.err.count("No such file"), 1, result.err)
        result = self.mpirun(2, 2, "pagerank", "bad", "--damping", "2", err="--damping")
        self.assertEqual(result.err.count("--damping"), 1, result.err)
        result = self.mpirun(2, 2, "pagerank", "bad", "--backend", "cpu", "--exchange", "nccl", "--threads", "1",
                             err="--exchange nccl: expected a GPU")
        self.assertEqual(result.err.count("expected a GPU"), 1, result.err)
        self.mpirun(2, 5, "pagerank", "bad", "-o", "none/s.tsv", err="none/s.tsv")
        self.assert_no_leftovers("bad")

    def test_an_error_of_one_process_alone_names_it_and_ends_all(self):
        self.write("g", LINKS)
        one_more = [":", "-n", "1", TESSERA, "pagerank", "g", "--damping", "2"]  # rank 1 refuses its options
        result = self.mpirun(1, 2, "pagerank", "g", "-o", "s.tsv", "--threads", "1", *one_more, err="rank 1: --damping")
        self.assertEqual(result.err.count("--damping"), 1, result.err)
        self.assert_no_leftovers("g")

    def start_iterating(self):
        self.write("g", LINKS)
        self.write("s.tsv", "old")
        run = ["pagerank", "g", "-o", "s.tsv", "--iterations", "1e9", "--verbose", "--threads", "1"]
        process = subprocess.Popen([*self.launcher(2), TESSERA, *run], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=environment(self.folder, **ENVIRONMENT))
        self.addCleanup(process.kill)
        for line in process.stderr:
            if b"in_edges: " in line:  # the matrix is packed
                return process
        self.fail("ended before it iterated")

    def test_a_signal_ends_all_without_output(self):
        process = self.start_iterating()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=TIMEOUT_SECONDS)
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual(self.read("s.tsv"), "old")
        self.assert_no_leftovers("g", "s.tsv")

    def test_a_process_that_dies_ends_all(self):
        process = self.start_iterating()
        with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
            ranks = [int(pid) for pid in file.read().split()]
        handles = [os.pidfd_open(pid) for pid in ranks]
        os.kill(ranks[-1], signal.SIGKILL)
        process.communicate(timeout=TIMEOUT_SECONDS)
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual(self.read("s.tsv"), "old")
        for handle in handles:  # readable once its process has ended
            self.assertEqual(select.select([handle], [], [], TIMEOUT_SECONDS)[0], [handle])
            os.close(handle)

    def test_a_terminal_behind_mpirun_gets_a_table(self):
        self.write_links()
        text = self.run_on_terminal("pagerank", "g", "-q", launcher=self.launcher(2), env=ENVIRONMENT)
        self.assertEqual(len(re.findall(r"(?m)^ *\d+ +\w+ +[\d.e-]+\r?$", text)), 10, text)

    def test_help_and_dry_run_are_printed_once(self):
        self.write("g", LINKS)
        self.assertEqual(self.mpirun(2, 0, "--help").out, self.expect(0, "--help").out)
        result = self.mpirun(2, 0, "pagerank", "g", "--dry-run")
        self.assertEqual(result.out.count("nodes\t4"), 1)
        self.assertIn("ranks\t2", result.out)


if __name__ == "__main__":
    if MPIRUN is None:
        print("mpirun is not there: nothing was tested")
        sys.exit(0)
    unittest.main()
