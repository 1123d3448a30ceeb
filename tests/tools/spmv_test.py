"""spmv: the table, the report, the chart, and what is refused."""
import json
import re
import unittest

from program import ProgramTest

MATRIX = "%%MatrixMarket matrix coordinate real general\n4 4 5\n1 1 2.5\n1 4 -1\n3 1 0.5\n3 2 3\n3 3 -0.25\n"
FORMATS = ("tile-composite", "tile-messages", "coo", "tile-coo", "csr-scalar", "csr-vector", "csr-half-warp",
           "csr-adaptive", "csr-balanced", "ell", "ellpack-r", "sell", "dia", "hyb",
           "csr-ell", "packet")


class SpmvTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("a.mtx", MATRIX)

    def test_every_format_is_checked(self):
        for precision in ("f32", "f64"):
            result = self.expect(0, "spmv", "a.mtx", "--repeat", "3", "--precision", precision)
            for name in FORMATS:
                self.assertRegex(result.out, rf"(?m)^{name} .* right$")
        help_text = self.expect(0, "spmv", "--help").out
        for name in FORMATS:
            self.assertRegex(help_text, rf"(?<![\w-]){name}(?![\w-])")

    def test_names_choose_formats_in_their_order(self):
        out = self.expect(0, "spmv", "a.mtx", "--kernel", "ell,coo", "--repeat", "2").out
        self.assertEqual([line.split()[0] for line in out.splitlines()], ["kernel", "ell", "coo"])
        self.refuse(2, "spmv", "a.mtx", "--kernel", "ell,co", err='found "co"; did you mean coo')
        self.refuse(2, "spmv", "a.mtx", "--kernel", "ell,", err='expected all, auto or names of kernels, found ""')
        self.refuse(2, "spmv", "a.mtx", "--kernel", "all,auto",
                    err='--kernel: expected all alone or auto and names of kernels, found "all,auto"; auto alone compares')

    def test_auto_names_its_choice_and_how_far_it_is_from_the_best(self):
        result = self.expect(0, "spmv", "a.mtx", "--kernel", "auto", "--repeat", "3", "--report", "r.json", "--quiet")
        report = json.loads(self.read("r.json"))
        self.assertEqual([product["kernel"] for product in report["products"]], list(FORMATS))
        chosen = report["auto"]["kernel"]
        tried = {one["kernel"]: one["median_seconds"] for one in report["auto"]["tried"]}
        self.assertEqual(chosen, min(tried, key=tried.get))
        self.assertGreaterEqual(len(tried), 3)
        self.assertRegex(result.out, rf"(?m)^auto: {chosen}, \d+\.\d\d times the fastest here, of {len(tried)} that were tried$")
        times = {product["kernel"]: product["median_seconds"] for product in report["products"]}
        self.assertAlmostEqual(report["auto"]["over_best"], times[chosen] / min(times.values()))
        out = self.expect(0, "spmv", "a.mtx", "--kernel", f"coo,auto,{chosen}", "--repeat", "2").out
        self.assertEqual([line.split()[0] for line in out.splitlines()], ["kernel", "coo", chosen, "auto:"])
        self.assertNotIn("auto", self.expect(0, "spmv", "a.mtx", "--repeat", "2").out)
        self.refuse(2, "batch", "a.mtx", "--kernel", "auto", err='found "auto"')

    def test_the_report_and_the_chart_have_the_table(self):
        self.expect(0, "spmv", "a.mtx", "--repeat", "4", "--report", "r.json", "--plot", "c.svg", "--quiet")
        report = json.loads(self.read("r.json"))
        self.assertEqual(report["matrix"], {"rows": 4, "columns": 4, "nonzeros": 5, "pattern": False})
        self.assertEqual([product["kernel"] for product in report["products"]], list(FORMATS))
        for product in report["products"]:
            self.assertIs(product["right"], True)
            self.assertLessEqual(product["smallest_seconds"], product["median_seconds"])
            self.assertGreaterEqual(product["stored"], 5)
            self.assertEqual(product["timed"], 4)
        self.assertEqual(len(re.findall('class="bar"', self.read("c.svg"))), len(FORMATS))

    def test_a_graph_is_the_matrix_of_its_in_edges(self):
        self.write("g.tsv", "a\tb\nc\tb\nb\ta\n")
        self.expect(0, "spmv", "g.tsv", "--repeat", "2", "--report", "r.json", "--quiet")
        self.assertEqual(json.loads(self.read("r.json"))["matrix"],
                         {"rows": 3, "columns": 3, "nonzeros": 3, "pattern": True})

    def test_a_refused_format_is_named_and_alone_an_error(self):
        rows = "".join(f"{i} {i % 1000 + 1}\n" for i in range(1, 5001)) + "".join(f"1 {c}\n" for c in range(3, 900))
        self.write("long.mtx", f"%%MatrixMarket matrix coordinate pattern general\n5000 1000 {5000 + 897}\n{rows}")
        out = self.expect(0, "spmv", "long.mtx", "--repeat", "2").out
        self.assertRegex(out, r"(?m)^ell +refused: ell would store \d+ elements for 5897, \d+ times as many")
        self.refuse(2, "spmv", "long.mtx", "--kernel", "ell", err="--kernel: ell would store .*; name another, or all")
        self.refuse(2, "spmv", "long.mtx", "--kernel", "dia,ell", err="--kernel: dia would store")
        self.refuse(2, "batch", "long.mtx", "--kernel", "ell", err="--kernel: ell would store")

    def test_packet_takes_square_matrices_only(self):
        self.write("wide.mtx", MATRIX.replace("4 4 5", "3 4 5"))
        out = self.expect(0, "spmv", "wide.mtx", "--repeat", "2").out
        self.assertRegex(out, r"(?m)^packet +refused: packet: the matrix is 3 x 4; only a square one")
        self.refuse(2, "spmv", "wide.mtx", "--kernel", "packet", err="--kernel: packet: the matrix is 3 x 4")

    def test_bad_matrices_are_named_with_their_line(self):
        self.write("bad.mtx", MATRIX.replace("3 2 3", "3 5 3"))
        self.refuse(4, "spmv", "bad.mtx", err="bad.mtx:6:")

    def test_a_matrix_can_come_from_a_pipe_and_a_graph_cannot(self):
        self.expect(0, "spmv", "-", "--repeat", "2", stdin=MATRIX.encode())
        self.refuse(4, "spmv", "-", stdin=b"a b\n", err="expected the banner")

    def test_outputs_that_would_share_a_place_are_refused(self):
        self.refuse(2, "spmv", "a.mtx", "--plot", "f.svg", "--report", "f.svg", err="the same file")
        self.refuse(2, "spmv", "a.mtx", "--plot", "f.png", err='--plot: expected a name that ends in .svg, found "f.png"')
        self.refuse(2, "spmv", "a.mtx", "--plot", "-", err="--plot")

    def test_values_beyond_the_precision_are_named(self):
        self.write("big.mtx", MATRIX.replace("2.5", "1e39"))
        self.refuse(4, "spmv", "big.mtx", "--precision", "f32", err="big.mtx: the values of row 1 are too large for f32")

    def test_a_matrix_without_elements_is_multiplied(self):
        self.write("empty.mtx", "%%MatrixMarket matrix coordinate real general\n3 2 0\n")
        self.assertIn(" 0.0 %", self.expect(0, "spmv", "empty.mtx", "--repeat", "2").out)
        self.write("empty.txt", "")
        self.refuse(4, "spmv", "empty.txt", err="empty.txt")

    def test_a_chart_that_cannot_be_written_is_found_before_measuring(self):
        self.refuse(5, "spmv", "a.mtx", "--plot", "nowhere/c.svg", err="nowhere")


if __name__ == "__main__":
    unittest.main()
