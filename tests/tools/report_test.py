"""--report, --dry-run and the memory check."""
import json
import os
import resource
import unittest

from program import LINKS, TESSERA, ProgramTest


def is_sanitized():
    with open(TESSERA, "rb") as file:
        return b"__asan_init" in file.read()


class ReportTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("g", LINKS + "a b\nb b\n")

    def report_of(self, *arguments):
        self.expect(0, *arguments, "--report", "r.json", "--quiet")
        return json.loads(self.read("r.json"))

    def test_a_ranking_reports_all_parts(self):
        report = self.report_of("pagerank", "g", "--verbose", "--no-progress")
        self.assertEqual(report["report_version"], 1)
        self.assertEqual(report["command"], "pagerank")
        self.assertEqual(report["graph"], {"nodes": 4, "edges": 6, "weighted": False})
        self.assertEqual(report["input"]["edges_read"], 7)
        self.assertEqual(report["input"]["duplicate_edges"], 1)
        self.assertEqual(report["input"]["self_loops"], 1)
        self.assertEqual(report["input"]["file_bytes"], os.path.getsize(self.path("g")))
        self.assertIn(report["plan"]["kernel"], ("csr", "tile-composite", "tile-messages"))
        self.assertEqual(report["operators"]["in_edges"]["nonzeros"], 6)
        iteration = report["iteration"]
        self.assertIs(iteration["converged"], True)
        self.assertEqual(len(iteration["residual_history"]), iteration["iterations"])
        self.assertLess(iteration["residual"], 1e-6)
        self.assertEqual(report["step"]["steps"], iteration["iterations"])
        self.assertGreater(report["step"]["gflop_per_second"], 0)
        self.assertEqual(report["exchange"], {"kind": "none", "bytes_per_step": 0, "seconds": 0})
        for phase in ("read", "build", "pack", "iterate", "write", "total"):
            self.assertGreaterEqual(report["seconds"][phase], 0)
        self.check_parts(report)
        self.assertGreater(report["peak_memory_bytes"], 1 << 20)
        self.assertEqual((report["ranks"], report["backend"]["precision"]), (1, "f64"))

    def check_parts(self, report):
        """Each part of a product has the time predicted for it and the time it took."""
        parts = report["operators"]["in_edges"]["parts"]
        names = ["tiles", "bins"] if report["plan"]["kernel"] == "tile-messages" else ["product"]
        self.assertEqual([part["name"] for part in parts], names)
        for part in parts:
            self.assertGreater(part["predicted_seconds"], 0)
            self.assertGreater(part["measured_seconds"], 0)

    def test_the_error_bound_holds(self):
        loose = self.report_of("pagerank", "g", "--tolerance", "1e-3", "-o", "loose.tsv")
        self.report_of("pagerank", "g", "--tolerance", "1e-13", "--max-iterations", "9999", "-o", "exact.tsv")
        scores = []
        for name in ("loose.tsv", "exact.tsv"):
            lines = self.read(name).splitlines()[1:]
            scores.append({line.split("\t")[0]: float(line.split("\t")[1]) for line in lines})
        distance = sum(abs(scores[0][v] - scores[1][v]) for v in scores[0])
        self.assertLessEqual(distance, loose["iteration"]["error_bound"])
        self.assertGreater(distance, 0)

    def test_rwr_reports_each_query_and_the_symmetrised_graph(self):
        report = self.report_of("rwr", "g", "--query", "d", "--query", "a")
        self.assertEqual([query["query"] for query in report["queries"]], ["d", "a"])
        self.assertIs(report["input"]["undirected"], True)
        self.assertEqual(report["iteration"]["iterations"], max(q["iterations"] for q in report["queries"]))

    def test_hits_reports_both_operators(self):
        self.assertEqual(sorted(self.report_of("hits", "g")["operators"]), ["in_edges", "out_edges"])
        self.assertEqual(sorted(self.report_of("hits", "g", "--update", "block")["operators"]), ["block"])

    def test_stats(self):
        report = self.report_of("stats", "g")
        self.assertEqual(report["stats"]["nodes"], 4)
        self.assertEqual(report["stats"]["sources_only"], 1)
        self.assertIn("padding_ratio", report["operators"]["in_edges"])
        self.check_parts(report)
        alone = self.expect(0, "stats", "g", "--report", "-", "--quiet").out
        self.assertEqual(json.loads(alone)["stats"], report["stats"])

    def test_labels_with_invalid_utf8_give_valid_json(self):
        self.write("bytes", b"a \xff\xfe\n\xff\xfe a\n")
        self.expect(0, "rwr", "bytes", b"--query=\xff\xfe", "--report", "r.json")
        with open(self.path("r.json"), encoding="utf-8") as file:
            self.assertIn("\ufffd", json.load(file)["queries"][0]["query"])

    def test_dry_run_prints_the_plan_and_writes_nothing(self):
        result = self.expect(0, "pagerank", "g", "--dry-run", "-o", "s.tsv", "--report", "r.json")
        facts = dict(line.split("\t") for line in result.out.splitlines())
        self.assertEqual((facts["nodes"], facts["edges"], facts["ranks"]), ("4", "6", "1"))
        self.assertGreater(int(facts["matrix bytes a rank"]), 0)
        self.assertGreater(int(facts["available bytes"]), 0)
        self.assert_no_leftovers("g")

    @unittest.skipIf(is_sanitized(), "sanitizers take memory of their own")
    def test_the_memory_plan_is_above_what_a_run_takes(self):
        self.expect(0, "generate", "rmat", "--scale", "16", "--edge-factor", "16", "--undirected", "-o", "big.tsr")
        self.expect(0, "stats", "g", "--report", "small.json", "--quiet")
        program = json.loads(self.read("small.json"))["peak_memory_bytes"]
        for command in (["pagerank"], ["hits"], ["hits", "--update", "block"],
                        ["rwr", "--precision", "f32", *(f"--query={v}" for v in range(64))]):
            self.run_program(*command, "big.tsr", "--iterations", "3", "--top", "5", "-o", "s.tsv", "--report",
                             "r.json", "--threads", "2")
            report = json.loads(self.read("r.json"))
            planned, taken = sum(report["memory_plan"].values()), report["peak_memory_bytes"] - program
            self.assertGreater(planned, taken, command)
            self.assertLess(planned, 3 * taken, command)

    @unittest.skipIf(is_sanitized(), "sanitizers reserve more address space than any limit allows")
    def test_too_little_memory_is_said_with_numbers(self):
        self.expect(0, "generate", "uniform", "--scale", "18", "--edge-factor", "4", "-o", "big.tsr")
        limit = 600 << 20

        def set_limit():
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

        queries = [f"--query={v}" for v in range(1024)]
        self.refuse(5, "rwr", "big.tsr", *queries, "--batch", "1024", "--threads", "1", preexec_fn=set_limit,
                    err=r"needs \d+ bytes more on each process, but \d+ are available; use more machines, "
                        "--precision f32, a smaller --batch, fewer queries or a smaller graph\n")
        # Without the check the run goes on until the memory ends, or does not.
        result = self.run_program("rwr", "big.tsr", *queries, "--batch", "1024", "--threads", "1", "--iterations", "1",
                                  "--no-memory-check", preexec_fn=set_limit)
        self.assertNotIn("are available", result.err)

    @unittest.skipIf(is_sanitized(), "sanitizers reserve more address space than any limit allows")
    def test_a_size_line_alone_can_be_too_much(self):
        self.write("m.mtx", "%%MatrixMarket matrix coordinate pattern general\n4294967294 4294967294 1\n1 2\n")
        limit = 600 << 20

        def set_limit():
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

        self.refuse(5, "stats", "m.mtx", "--threads", "1", preexec_fn=set_limit,
                    err=r"reading a matrix of 4294967294 declared rows needs 34359738352 bytes more on each process, "
                        r"but \d+ are available; use the true size in the size line")
        result = self.run_program("stats", "m.mtx", "--threads", "1", "--no-memory-check", preexec_fn=set_limit)
        self.assertEqual(result.code, 5, result.err)
        self.assertNotIn("are available", result.err)


if __name__ == "__main__":
    unittest.main()
