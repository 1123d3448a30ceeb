"""stats, convert and generate through the program."""
import os
import resource
import subprocess
import unittest

from program import LINKS, TESSERA, TIMEOUT_SECONDS, ProgramTest, environment


class ConvertTest(ProgramTest):
    def edges(self, name):
        return sorted(tuple(line.split()) for line in self.read(name).splitlines() if not line.startswith("#"))

    def test_every_format_comes_back(self):
        self.write("g", LINKS)
        expected = self.expect(0, "pagerank", "g").out
        source = "g"
        for name in ("a.tsr", "b.tsv", "c.csv", "d.txt", "e.el", "f.tsr"):
            self.expect(0, "convert", source, name)
            self.assertEqual(self.expect(0, "pagerank", name).out, expected, name)
            source = name
        self.assertEqual(self.edges("b.tsv"), sorted(tuple(line.split()) for line in LINKS.splitlines()))

    def test_matrix_market_keeps_the_structure(self):
        self.write("g", LINKS)
        self.expect(0, "convert", "g", "g.mtx")
        self.assertEqual(self.read("g.mtx.labels.txt").split(), ["a", "b", "c", "d"])
        by_number = {row[0]: row[1] for row in self.expect(0, "pagerank", "g.mtx").rows()}
        by_label = {row[0]: row[1] for row in self.expect(0, "pagerank", "g").rows()}
        self.assertEqual(by_number, {str(" abcd".index(v)): score for v, score in by_label.items()})

    def test_labels_of_an_older_matrix_go_away(self):
        self.write("g", LINKS)
        self.expect(0, "convert", "g", "g.mtx")
        self.write("numbers", "1 2\n2 3\n3 1\n")
        self.expect(0, "convert", "numbers", "g.mtx")
        self.assert_no_leftovers("g", "g.mtx", "numbers")

    def test_a_failed_write_leaves_the_old_matrix_and_its_labels(self):
        self.write("g", LINKS)
        self.expect(0, "convert", "g", "g.mtx")
        matrix = self.read("g.mtx")
        self.write("long", "".join(f"n{i} n{i * 7 % 1000}\n" for i in range(1000)) * 9)
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20000, resource.RLIM_INFINITY))
        self.refuse(5, "convert", "long", "g.mtx", "--duplicates", "keep", err="File too large", preexec_fn=limit)
        self.assertEqual(self.read("g.mtx"), matrix)
        self.assertEqual(self.read("g.mtx.labels.txt").split(), ["a", "b", "c", "d"])
        self.assert_no_leftovers("g", "g.mtx", "g.mtx.labels.txt", "long")

    def test_weights_are_kept(self):
        self.write("w", "1 2 0.5\n2 1 3\n1 3 1e-3\n")
        expected = self.expect(0, "pagerank", "w", "--weighted").out
        self.expect(0, "convert", "w", "w.tsr", "--weighted")
        self.assertEqual(self.expect(0, "pagerank", "w.tsr").out, expected)
        self.expect(0, "convert", "w.tsr", "w.mtx")
        self.assertEqual(self.expect(0, "pagerank", "w.mtx").out, expected)

    def test_edge_lists_go_to_pipes(self):
        self.write("g", LINKS)
        for command in (["convert", "g"], ["generate", "rmat", "--scale", "6"]):
            out = ["-o"] if command[0] == "generate" else []
            self.expect(0, *command, *out, "g.tsv")
            self.assertEqual(self.expect(0, *command, *out, "-").out, self.read("g.tsv"))
            self.assertEqual(self.expect(0, *command, *out, "/dev/stdout").out, self.read("g.tsv"))
        os.mkfifo(self.path("pipe.txt"))
        reader = subprocess.Popen(["cat", self.path("pipe.txt")], stdout=subprocess.PIPE)
        self.addCleanup(reader.wait)
        self.addCleanup(reader.kill)
        self.expect(0, "convert", "g", "pipe.txt")
        self.assertEqual(reader.communicate()[0].decode(), self.expect(0, "convert", "g", "-").out)
        self.refuse(2, "convert", "g", "-", "--report", "-", err="both go to standard output")

    def test_a_reader_that_has_enough_is_no_error(self):
        with subprocess.Popen([TESSERA, "generate", "rmat", "--scale", "14", "-o", "-", "-q"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=environment(self.folder)) as process:
            process.stdout.readline()
            process.stdout.close()
            self.assertEqual((process.wait(timeout=TIMEOUT_SECONDS), process.stderr.read()), (0, b""))

    def test_weights_that_are_added_up_are_told(self):
        both = "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 2 3\n2 1 3\n3 1 3\n"  # both triangles
        self.write("both.mtx", both)
        self.expect(0, "convert", "both.mtx", "g.tsv", err="both.mtx: 2 edges repeat others, whose weights they were added to")
        self.assertIn("2\t1\t6\n", self.read("g.tsv"))
        self.assertNotIn("repeat", self.expect(0, "convert", "both.mtx", "g.tsv", "--unweighted").err)

    def test_stats_counts(self):
        self.write("g", LINKS + "a b\nb b\n")
        text = self.expect(0, "stats", "g").out
        for name, value in (("nodes", "4"), ("edges", "6"), ("duplicate edges", "1"), ("no in-edge", "1")):
            self.assertRegex(text, rf"(?m)^{name} +{value}$")
        self.assertRegex(text, r"(?m)^self-loops +1 \(0 dropped\)$")
        self.assertRegex(text, r"(?m)^time of \w+ +[0-9.e+-]+ ms predicted.*, [0-9.e+-]+ ms measured$")

    def test_stats_are_of_the_precision_that_is_asked_for(self):
        self.write("g", "a b 1e39\nb a 1\n")
        self.assertRegex(self.expect(0, "stats", "g", "--weighted").out, r"(?m)^matrix bytes \(f64\) +\d+$")
        self.refuse(4, "stats", "g", "--weighted", "--precision", "f32", err="does not fit f32; use --precision f64")
        self.assertIn("matrix bytes (f32)", self.expect(0, "stats", "g", "--precision", "f32").out)


class GenerateTest(ProgramTest):
    def test_the_same_seed_gives_the_same_graph_for_any_number_of_threads(self):
        for kind in ("rmat", "uniform"):
            contents = []
            for seed, threads in (("7", "1"), ("7", "4"), ("8", "1")):
                self.expect(0, "generate", kind, "--scale", "8", "--edge-factor", "4", "--seed", seed, "--threads",
                            threads, "-o", "g.tsv")
                contents.append(self.read("g.tsv"))
            self.assertEqual(contents[0], contents[1])
            self.assertNotEqual(contents[0], contents[2])

    def test_declared_sizes_keep_isolated_nodes_and_edge_lists_do_not(self):
        arguments = ["generate", "rmat", "--scale", "8", "--edge-factor", "1"]
        self.expect(0, *arguments, "-o", "g.tsr", err="256 nodes")
        self.expect(0, *arguments, "-o", "g.tsv")
        nodes = {label for line in self.read("g.tsv").splitlines() for label in line.split()}
        self.assertLess(len(nodes), 256)
        self.assertRegex(self.expect(0, "stats", "g.tsv").out, rf"(?m)^nodes +{len(nodes)}$")

    def test_a_graph_that_memory_cannot_hold_is_refused_at_once(self):
        self.refuse(5, "generate", "rmat", "--scale", "31", "--edge-factor", "1e6", "-o", "g.tsr",
                    err=r"generating needs \d+ bytes more on each process, but \d+ are available; use more "
                        "machines, a smaller --scale or --edge-factor\n")
        self.assert_no_leftovers()

    def test_quadrants_that_do_not_fit(self):
        self.refuse(2, "generate", "rmat", "-o", "g.tsr", "--a", "0.9", "--b", "0.2", err="at most 1")
        self.refuse(2, "generate", "rmat", "-o", "g.tsr", "--report", "g.tsr", err="--output and --report are the same")
        for option in ("--a=0.3", "--keep-ids"):
            self.refuse(2, "generate", "uniform", "-o", "g.tsr", option, err="generate uniform: --.* is for rmat")


if __name__ == "__main__":
    unittest.main()
