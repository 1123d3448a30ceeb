"""batch: many small matrices at once, from files or generated."""
import json
import unittest

from program import ProgramTest

MATRIX = "%%MatrixMarket matrix coordinate real general\n3 4 5\n1 1 2.5\n1 4 -1\n3 1 0.5\n3 2 3\n3 3 -0.25\n"
OTHER = "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n"
KERNELS = ("csr-scalar", "csr-vector", "csr-adaptive", "csr-balanced", "coo", "ell", "loop")


class BatchTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("a.mtx", MATRIX)
        self.write("b.mtx", OTHER)

    def test_every_kernel_is_checked(self):
        for arguments in (["a.mtx", "b.mtx", "--copies", "5"], ["--suite", "small", "--precision", "f32"]):
            out = self.expect(0, "batch", *arguments, "--repeat", "2").out
            for name in KERNELS:
                self.assertRegex(out, rf"(?m)^{name} .* right$")

    def test_the_report_has_the_size_of_the_batch(self):
        self.expect(0, "batch", "a.mtx", "b.mtx", "--copies", "10", "--kernel", "coo,ell", "--repeat", "2", "--report",
                    "r.json", "--plot", "c.svg", "--quiet")
        report = json.loads(self.read("r.json"))
        self.assertEqual(report["batch"], {"matrices": 20, "rows": 50, "columns": 60, "nonzeros": 80})
        self.assertEqual([product["kernel"] for product in report["products"]], ["coo", "ell"])
        self.assertIn("batch of 20 matrices (2 files from", self.read("c.svg"))

    def test_files_or_a_suite(self):
        self.refuse(2, "batch", err="expected FILE... or --suite")
        self.refuse(2, "batch", "a.mtx", "--suite", "small", err="expected FILE... or --suite")
        self.refuse(2, "batch", "a.mtx", "--kernel", "cooo", err="did you mean coo")
        self.refuse(2, "batch", "a.mtx", "--kernel", "coo,all", err='expected all alone or names of kernels, found "coo,all"\n')
        self.refuse(4, "batch", "a.mtx", "missing.mtx", err="missing.mtx")
        self.refuse(2, "batch", "-", "-", err="one standard input")

    def test_too_many_columns_are_said_before_they_are_tried(self):
        self.write("wide.mtx", "%%MatrixMarket matrix coordinate pattern general\n1 65536 1\n1 1\n")
        self.refuse(5, "batch", "wide.mtx", "--copies", "1e7", err="bytes|at most")

    def test_a_matrix_that_is_too_large_for_a_batch_is_named(self):
        self.write("wide.mtx", "%%MatrixMarket matrix coordinate pattern general\n1 70000 1\n1 1\n")
        self.refuse(5, "batch", "a.mtx", "wide.mtx", "--kernel", "coo", err="matrix 2 of the batch is 1 x 70000")


if __name__ == "__main__":
    unittest.main()
