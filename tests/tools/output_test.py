"""Where scores go: formats, terminal table, pipes, full disks, paths that cannot be written."""
import csv
import io
import json
import os
import re
import resource
import struct
import unittest

from program import LINKS, ProgramTest


class OutputTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("g", LINKS)

    def many_links(self):
        return self.write("many", "".join(f"node{i} node{i * 7919 % 20011}\n" for i in range(20000)))

    def test_stdout_holds_data_only(self):
        result = self.expect(0, "pagerank", "g", "--verbose", err="4 nodes, 5 edges")
        lines = result.out.splitlines()
        self.assertEqual(lines[0], "node\tscore")
        self.assertEqual(len(lines), 5)
        scores = [float(line.split("\t")[1]) for line in lines[1:]]
        self.assertEqual(scores, sorted(scores, reverse=True))
        self.assertEqual(self.expect(0, "pagerank", "g", "--quiet").err, "")

    def test_top(self):
        everything = self.expect(0, "pagerank", "g").out.splitlines()
        self.assertEqual(self.expect(0, "pagerank", "g", "--top", "2").out.splitlines(), everything[:3])

    def test_formats_agree(self):
        rows = [(label, float(score)) for label, score in self.expect(0, "pagerank", "g").rows()]
        for name in ("s.tsv", "s.csv", "s.json", "s.npy"):
            self.expect(0, "pagerank", "g", "--output", name)
        self.assertEqual([(r[0], float(r[1])) for r in csv.reader(io.StringIO(self.read("s.tsv")), delimiter="\t")
                          if r[0] != "node"], rows)
        self.assertEqual([(r[0], float(r[1])) for r in csv.reader(io.StringIO(self.read("s.csv"))) if r[0] != "node"],
                         rows)
        self.assertEqual([(r["node"], r["score"]) for r in json.loads(self.read("s.json"))["rankings"][0]["nodes"]],
                         rows)
        labels = self.read("s.npy.labels.txt").split()
        with open(self.path("s.npy"), "rb") as file:
            content = file.read()
        self.assertTrue(content.startswith(b"\x93NUMPY"))
        self.assertEqual(dict(zip(labels, struct.unpack("<4d", content[-32:]))), dict(rows))

    def test_labels_with_odd_bytes_survive(self):
        self.write("odd.csv", 'src,dst\n"a,b","say ""hi"""\n"=cmd()",x\n\u00e4\U0001f600,x\n')
        self.expect(0, "pagerank", "odd.csv", "--format", "csv", "-o", "s.csv")
        labels = {row[0] for row in csv.reader(io.StringIO(self.read("s.csv")))} - {"node"}
        self.assertEqual(labels, {"a,b", 'say "hi"', "=cmd()", "x", "\u00e4\U0001f600"})

    def test_paths_that_cannot_be_written_are_found_before_reading(self):
        for option in ("--output", "--report"):
            for path in ("missing/s.json", "x" * 300 + ".json"):
                self.refuse(5, "pagerank", "no-such-graph", option, path, err="cannot write|x.json")
        os.mkdir(self.path("folder.tsv"))
        self.refuse(5, "pagerank", "no-such-graph", "-o", "folder.tsv", err="folder.tsv")
        self.refuse(5, "convert", "no-such-graph", "missing/g.tsr", err="missing/g.tsr")
        self.assert_no_leftovers("folder.tsv", "g")

    def test_a_full_device_behind_stdout(self):
        with open("/dev/full", "wb") as full:
            self.expect(5, "pagerank", "g", stdout=full, err="No space left")
            self.expect(5, "stats", "g", stdout=full, err="No space left")
            self.expect(5, "--help", stdout=full, err="No space left")

    def test_a_file_that_grows_too_large_leaves_the_old_one(self):
        self.many_links()
        self.write("s.tsv", "old")

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

        self.refuse(5, "pagerank", "many", "-o", "s.tsv", err="s.tsv", preexec_fn=limit)
        self.assertEqual(self.read("s.tsv"), "old")
        self.assert_no_leftovers("g", "many", "s.tsv")

    def test_an_error_keeps_the_old_output(self):
        self.write("s.tsv", "old")
        self.write("bad", "a b\nc\n")
        self.refuse(4, "pagerank", "bad", "-o", "s.tsv", err="bad:2")
        self.assertEqual(self.read("s.tsv"), "old")
        self.assert_no_leftovers("bad", "g", "s.tsv")

    def test_closed_standard_descriptors_leave_files_alone(self):
        def close_all():
            for descriptor in (0, 1, 2):
                os.close(descriptor)

        expected = self.expect(0, "pagerank", "g").out
        self.assertEqual(self.run_program("pagerank", "g", "-o", "s.tsv", "--verbose", preexec_fn=close_all).code, 0)
        self.assertEqual(self.read("s.tsv"), expected)
        self.expect(5, "pagerank", "g", preexec_fn=lambda: os.close(1), err="standard output")

    def test_json_is_what_the_help_says(self):
        self.assertIn('{"rankings": [{"nodes": [{"node": ..., "score": ...}', self.expect(0, "help", "formats").out)
        self.expect(0, "rwr", "g", "--query", "a", "--query", "b", "--top", "1", "-o", "s.json")
        rankings = json.loads(self.read("s.json"))["rankings"]
        self.assertEqual([ranking["query"] for ranking in rankings], ["a", "b"])
        self.assertEqual(sorted(rankings[0]["nodes"][0]), ["node", "score"])

    def test_npy_shapes(self):
        for command, shape in ((["pagerank", "g"], "(4, )"), (["hits", "g"], "(4, 2, )"),
                               (["rwr", "g", "--query", "a", "--query", "b"], "(2, 4, )")):
            self.expect(0, *command, "-o", "s.npy")
            with open(self.path("s.npy"), "rb") as file:
                self.assertIn(f"'shape': {shape}".encode(), file.read(128))

    def test_a_closed_pipe_is_no_error(self):
        self.many_links()
        for command in (["pagerank", "many", "--quiet"], ["stats", "many", "--quiet"], ["--help"]):
            read_end, write_end = os.pipe()
            os.close(read_end)
            with os.fdopen(write_end, "wb") as pipe:
                self.assertEqual(self.expect(0, *command, stdout=pipe).err, "")

    def test_a_terminal_gets_ten_nodes_as_a_table(self):
        self.many_links()
        for options, count in (([], 10), (["--top", "3"], 3)):
            text = self.run_on_terminal("pagerank", "many", "--quiet", *options)
            self.assertEqual(len(re.findall(r"(?m)^ *\d+ +node\d+ +[\d.e-]+", text)), count, text)

    def test_control_bytes_of_labels_do_not_reach_a_terminal(self):
        self.write("evil.csv", '"\x1b]0;x\x07","b"\n"b","\x1b]0;x\x07"\n')
        text = self.run_on_terminal("pagerank", "evil.csv", "--format", "csv", "--header", "no", "--quiet")
        self.assertNotIn("\x1b]0", text)
        self.assertIn("\\x1", text.lower())


if __name__ == "__main__":
    unittest.main()
