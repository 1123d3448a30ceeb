"""Bad input: exit code 4, a message with place and text, no output; the readers' own tests have the cases that
need no whole run."""
import bz2
import gzip
import lzma
import os
import struct
import threading
import unittest

from program import LINKS, ProgramTest


class BadInputTest(ProgramTest):
    def refuse_graph(self, content, *options, err, name="g"):
        self.write(name, content)
        result = self.refuse(4, "pagerank", name, "-o", "out.tsv", *options, err=err)
        self.assertFalse(os.path.exists(self.path("out.tsv")))
        return result

    def test_graphs_without_edges_cannot_be_ranked(self):
        for content in ("", "# only\n% comments\n", " \n\t\n"):
            self.refuse_graph(content, err="g: .*no edges")

    def test_graphs_without_edges_have_statistics(self):
        for content in ("", "# only\n"):
            self.write("g", content)
            result = self.expect(0, "stats", "g")
            self.assertRegex(result.out, r"nodes +0\n")

    def test_no_edges_left_names_the_option(self):
        self.refuse_graph("a a\n", "--self-loops", "drop", err="--self-loops")

    def test_lines_with_one_label(self):
        self.refuse_graph("a b\nb\nc a\n", err="g:2: ")

    def test_weights(self):
        for weight in ("nan", "inf", "-1", "0x10", "x"):
            self.refuse_graph(f"a b 1\nb c {weight}\n", "--weighted", err=f"g:2: .*{weight}")

    def test_weights_whose_sums_leave_the_numbers_are_told_with_their_file(self):
        sums, merged = "a b 1e308\na c 1e308\nb a 1\n", "a b 1e308\na b 1e308\nb a 1\n"
        self.refuse_graph(sums, "--weighted", err="g: the out-weights of a node add up to inf")
        self.refuse_graph(merged, "--weighted", err="g: the weights of a repeated edge add up")
        for command, content, pattern in ((["rwr", "--query", "a"], sums, "the out-weights"), (["hits"], sums, "HITS: "),
                                          (["rwr", "--query", "a"], merged, "the weights of a repeated"), (["hits"], merged, "the weights of a repeated"),
                                          (["hits", "--update", "block"], merged, "the weights of a repeated"),
                                          (["stats"], merged, "the weights of a repeated")):
            self.write("g", content)
            self.refuse(4, *command, "g", "--weighted", err=f"error: g: {pattern}")
        self.refuse(4, "hits", "-", "--weighted", stdin=merged.encode(), err="error: standard input: the weight")

    def test_binary_and_missing_files(self):
        self.refuse_graph(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256)), err="g")
        self.refuse(4, "pagerank", "nothing.txt", err="nothing.txt: .*No such file")
        os.mkdir(self.path("folder"))
        self.refuse(4, "pagerank", "folder", err="folder")

    def test_truncated_gzip(self):
        content = gzip.compress(b"".join(b"%d %d\n" % (i, i * 7919 % 1000) for i in range(1000)))
        self.refuse_graph(content[: len(content) // 2], err="g.gz", name="g.gz")

    def test_compressed_files_cut_anywhere(self):
        text = b"".join(b"%d %d\n" % (i, i * 7 % 13) for i in range(12))
        for suffix, compress in (("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)):
            content = compress(text)
            for size in {1, 2, 3, 4, 9, len(content) // 2, len(content) - 1}:
                self.refuse_graph(content[:size], err=rf"g\.{suffix}", name=f"g.{suffix}")
            unread = "" if suffix == "gz" else "|needs a program built with libarchive"
            self.refuse_graph(content + b"garbage", err=rf"g\.{suffix}: .*(garbage|damaged{unread})",
                              name=f"g.{suffix}")

    def test_columns_cannot_be_chosen_where_a_format_says_what_they_are(self):
        self.write("m.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n")
        self.write("k.tsv", "% asym unweighted\n1 2\n2 3\n")
        self.expect(0, "convert", "k.tsv", "k.tsr")
        for graph, name in (("m.mtx", "Matrix Market"), ("k.tsr", "a cache")):
            self.refuse(2, "pagerank", graph, "--columns", "2,1", err=f"--columns does not fit {name}, .*--reverse")
            self.refuse(2, "pagerank", graph, "--header", "yes", err=f"--header yes does not fit {name}")
        self.refuse(2, "pagerank", "k.tsv", "--header", "yes", err="--header yes does not fit KONECT")
        self.assertEqual(self.expect(0, "pagerank", "k.tsv", "--columns", "2,1").out,
                         self.expect(0, "pagerank", "k.tsv", "--reverse").out)

    def test_inputs_are_not_written_over(self):
        text = "a b\nb c\n"
        self.write("g.csv", text)
        self.write("start.tsv", "a 1\n")
        for labels in ("z.npy.labels.txt", "z.mtx.labels.txt"):
            self.write(labels, text)
        self.write("o.tsv", "output = o.tsv\n")
        self.write("run.tsv", "seed = 3\n")
        for arguments in (["pagerank", "g.csv", "-o", "./g.csv"], ["hits", "g.csv", "--report", "g.csv"],
                          ["convert", "g.csv", "g.csv"], ["stats", "g.csv", "--report", "g.csv"],
                          ["spmv", "g.csv", "--report", "g.csv"], ["batch", "g.csv", "--report", "g.csv"],
                          ["cg", "g.csv", "-o", "g.csv"],
                          ["pagerank", "z.npy.labels.txt", "-o", "z.npy"],
                          ["convert", "z.mtx.labels.txt", "z.mtx"],
                          ["pagerank", "g.csv", "--config", "o.tsv"],
                          ["generate", "rmat", "--scale", "3", "-o", "run.tsv", "--config", "run.tsv"],
                          ["pagerank", "g.csv", "--warm-start", "start.tsv", "-o", "start.tsv"],
                          ["rwr", "g.csv", "--query-file", "start.tsv", "-o", "start.tsv"]):
            self.refuse(2, *arguments, err="are the same file .* which would be replaced")
        self.assertEqual(self.read("g.csv"), text)

    def test_a_warm_start_of_other_nodes(self):
        self.write("g", "a b\nb c\n")
        self.write("start.tsv", "x 1\ny 2\n")
        self.refuse(4, "pagerank", "g", "--warm-start", "start.tsv",
                    err="start.tsv: expected labels of nodes, found none among 2 labels")

    def test_a_warm_start_of_another_kind_of_file(self):
        self.write("g", LINKS)
        for name, kind in (("s.json", "JSON"), ("s.npy", "a NumPy array")):
            self.expect(0, "pagerank", "g", "-o", name)
            self.refuse(4, "pagerank", "g", "--warm-start", name, err=rf"{name}: expected lines with .*\.csv.* found {kind}\n")

    def test_matrix_market_counts_and_ranges(self):
        banner = "%%MatrixMarket matrix coordinate pattern general\n"
        self.refuse_graph(banner + "2 2 2\n1 2\n", err="g.mtx", name="g.mtx")
        self.refuse_graph(banner + "2 2 1\n1 3\n", err="g.mtx:3: .*3", name="g.mtx")
        self.refuse_graph(banner + "2 2 1\n0 1\n", err="g.mtx:3: .*0", name="g.mtx")
        complex_banner = "%%MatrixMarket matrix coordinate complex general\n"
        self.refuse_graph(complex_banner + "1 1 1\n1 1 1 1\n", err="complex", name="g.mtx")

    def test_a_cache_is_neither_compressed_nor_piped(self):
        self.write("g", LINKS)
        self.expect(0, "convert", "g", "g.tsr")
        with open(self.path("g.tsr"), "rb") as file:
            content = file.read()
        pattern = ": a tessera cache, which can be neither compressed nor piped; unpack it into a file and give that\n"
        self.refuse_graph(gzip.compress(content), err="error: g.tsr.gz" + pattern, name="g.tsr.gz")
        self.refuse(4, "pagerank", "-", stdin=content, err="error: standard input" + pattern)
        self.refuse(4, "pagerank", "-", "--format", "cache", stdin=content,
                    err="error: standard input: a cache is mapped when read, which a pipe cannot be; give the file\n")
        self.refuse(4, "pagerank", "g.tsr", "--format", "edge-list",
                    err="g.tsr: a tessera cache, expected text; leave --format out\n")

    def test_a_cache_has_no_members(self):
        self.write("g", LINKS)
        self.expect(0, "convert", "g", "g.tsr")
        for name in ("g", "g.tsr"):
            self.refuse(4, "pagerank", name, "--member", "x", err=f"error: {name}: is no archive, so it has no member x\n")

    def test_a_cache_without_edges(self):
        self.write("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n4 4 0\n")
        self.write("loops", "a a\n")
        self.expect(0, "convert", "g.mtx", "g.tsr")
        self.expect(0, "convert", "loops", "none.tsr", "--self-loops", "drop")
        self.expect(0, "convert", "loops", "loops.tsr")
        self.refuse(4, "pagerank", "g.mtx", err="g.mtx: no edges; the matrix has no entries\n")
        for name in ("g.tsr", "none.tsr"):
            self.refuse(4, "pagerank", name, err=f"{name}: no edges; the cache holds none\n")
        self.refuse(4, "pagerank", "loops.tsr", "--self-loops", "drop", err="loops.tsr: no edges left .*--self-loops keep")

    def test_weights_of_a_repeated_edge_that_no_double_holds(self):
        self.write("over", "a b 1e308\na b 1e308\nb a 1\n")
        for run in (["pagerank", "over"], ["convert", "over", "over.tsr"], ["convert", "over", "over.csv"]):
            self.refuse(4, *run, "--weighted", err="over: the weights of a repeated edge add up to more")
        self.expect(0, "convert", "over", "over.tsr", "--weighted", "--duplicates", "drop")

    def test_a_damaged_cache(self):
        self.write("g", LINKS)
        self.expect(0, "convert", "g", "g.tsr")
        with open(self.path("g.tsr"), "rb") as file:
            content = file.read()
        self.refuse_graph(content[: len(content) // 2], err="c.tsr", name="c.tsr")
        # One bit of every section that is there (docs/cache-format.md), and one of the header.
        places = [24]
        for section in range(7):
            offset, num_bytes, _ = struct.unpack_from("<3Q", content, 64 + 24 * section)
            if num_bytes > 0:
                places.append(offset + num_bytes // 2)
        self.assertGreater(len(places), 4)
        for place in places:
            flipped = bytearray(content)
            flipped[place] ^= 0x40
            self.refuse_graph(bytes(flipped), err="d.tsr", name="d.tsr")

    def test_a_pipe_with_a_name_is_an_input(self):
        os.mkfifo(self.path("pipe"))

        def feed():
            with open(self.path("pipe"), "w", encoding="utf-8") as file:
                file.write(LINKS)

        writer = threading.Thread(target=feed)
        writer.start()
        result = self.expect(0, "pagerank", "pipe")
        writer.join()
        self.write("g", LINKS)
        self.assertEqual(result.out, self.expect(0, "pagerank", "g").out)

    def test_standard_input(self):
        self.write("g", LINKS)
        result = self.expect(0, "pagerank", "-", stdin=LINKS.encode())
        self.assertEqual(result.out, self.expect(0, "pagerank", "g").out)

    def test_control_bytes_of_messages_are_escaped(self):
        result = self.refuse_graph("a b\n\x1b]52;c;x\x07\n", err="g:2: ")
        self.assertNotIn("\x1b", result.err)


class BadSideFileTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("g", LINKS)

    def test_unknown_queries_are_all_listed(self):
        self.write("q", "a\nx1\nb\nx2\n")
        self.refuse(4, "rwr", "g", "--query-file", "q", "--query", "x3",
                    err=["--query: ", '"x1"', '"x2"', '"x3"', "3 of 5"])
        self.refuse(4, "rwr", "g", "--query-file", "q", err=["q:2: ", 'found "x1"', "2 of 4"])

    def test_an_empty_query_file(self):
        self.write("q", "# nothing\n")
        self.refuse(4, "rwr", "g", "--query-file", "q", err="q: expected at least one label")
        self.refuse(4, "rwr", "g", "--query-file", "none", err="none")

    def test_personalization(self):
        for content, pattern in (("a 1\nx 1\n", 'p:2: .*"x"'), ("a 0\nb 0\n", "p: .*sum"), ("a -1\n", "p:1: "),
                                 ("a 1\nb 1\na 2\n", 'p:3: .*"a" again .*line 1'), ("a nan\n", "p:1: "), ("", "p: "),
                                 ("a 1e308\nb 1e308\n", "p: .*too large")):
            self.write("p", content)
            self.refuse(4, "pagerank", "g", "--personalization", "p", err=pattern)


if __name__ == "__main__":
    unittest.main()
