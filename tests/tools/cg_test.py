"""cg: solutions, the report of the change of format, and systems that are none."""
import json
import unittest

from program import ProgramTest

# 4 x + y = b1, x + 3 y = b2
MATRIX = "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 4\n2 1 1\n2 2 3\n"


def laplacian(n):
    """Of a path, with ends fixed: positive definite; the solution of b = 1 is i (n + 1 - i) / 2."""
    entries = [f"{i} {i} 2" for i in range(1, n + 1)] + [f"{i + 1} {i} -1" for i in range(1, n)]
    return "%%MatrixMarket matrix coordinate real symmetric\n" + f"{n} {n} {len(entries)}\n" + "\n".join(entries) + "\n"


class CgTest(ProgramTest):
    def solution(self, *arguments, code=0, **more):
        return [float(line) for line in self.expect(code, "cg", *arguments, **more).out.splitlines()]

    def test_the_solution_goes_to_standard_output_or_a_file(self):
        self.write("a.mtx", MATRIX)
        self.write("b.txt", "1\n2\n")
        for arguments in ([], ["--preconditioner", "jacobi"], ["--precision", "f32", "--tolerance", "1e-5"],
                          ["--prepare", "none"], ["--first", "coo", "--prepare", "sell", "--no-overlap"]):
            x, y = self.solution("a.mtx", "--rhs", "b.txt", *arguments)
            self.assertAlmostEqual(x, 1 / 11, places=5)
            self.assertAlmostEqual(y, 7 / 11, places=5)
        self.expect(0, "cg", "a.mtx", "--rhs", "b.txt", "-o", "x.txt", err="2 rows, 4 entries, 2 steps")
        self.assertAlmostEqual(float(self.read("x.txt").split()[0]), 1 / 11, places=12)

    def test_without_a_right_side_it_is_all_ones(self):
        n = 50
        self.write("path.mtx", laplacian(n))
        for i, x in enumerate(self.solution("path.mtx", "--tolerance", "1e-12"), 1):
            self.assertAlmostEqual(x, i * (n + 1 - i) / 2, places=7)

    def test_the_report_tells_of_steps_and_formats(self):
        self.write("path.mtx", laplacian(300))
        self.expect(0, "cg", "path.mtx", "--no-overlap", "--report", "r.json", "-o", "x.txt", "--quiet")
        report = json.loads(self.read("r.json"))
        self.assertEqual(report["matrix"], {"rows": 300, "nonzeros": 898})
        self.assertIs(report["cg"]["converged"], True)
        self.assertEqual(len(report["cg"]["residual_history"]), report["cg"]["iterations"])
        formats = report["formats"]
        self.assertEqual((formats["first"], formats["prepared"], formats["refused"]), ("csr-adaptive", "csr-ell", None))
        self.assertEqual(formats["switched_after_products"], 0)
        self.assertEqual(formats["products"], report["cg"]["iterations"] + 1)
        for name in ("prepare_seconds", "first_product_seconds", "prepared_product_seconds"):
            self.assertGreater(formats[name], 0)

    def test_auto_prepares_what_the_rows_speak_for(self):
        self.write("path.mtx", laplacian(300))  # even rows
        arguments = ("--backend", "cpu", "--prepare", "auto", "--no-overlap", "--report", "r.json", "-o", "x.txt")
        self.expect(0, "cg", "path.mtx", *arguments)
        self.assertEqual(json.loads(self.read("r.json"))["formats"]["prepared"], "sell")
        star = [f"{i} {i} 400" for i in range(1, 301)] + [f"{i} 1 1" for i in range(2, 301)]
        self.write("star.mtx", f"%%MatrixMarket matrix coordinate real symmetric\n300 300 {len(star)}\n"
                   + "\n".join(star) + "\n")
        self.expect(0, "cg", "star.mtx", *arguments)
        self.assertEqual(json.loads(self.read("r.json"))["formats"]["prepared"], "csr-balanced")

    def test_a_format_that_cannot_be_prepared_is_told(self):
        rows = 3000
        arrow = [f"{i} {i} {2 * rows}" for i in range(1, rows + 1)] + [f"{i} 1 1" for i in range(2, rows + 1)]
        self.write("arrow.mtx", f"%%MatrixMarket matrix coordinate real symmetric\n{rows} {rows} {len(arrow)}\n"
                   + "\n".join(arrow) + "\n")
        self.expect(0, "cg", "arrow.mtx", "--prepare", "ell", "--report", "r.json", "-o", "x.txt",
                    err="the first format stays: ell would store")
        formats = json.loads(self.read("r.json"))["formats"]
        self.assertIn("ell would store", formats["refused"])
        self.assertIsNone(formats["switched_after_products"])
        self.expect(0, "cg", "arrow.mtx", "--prepare", "none", "--report", "r.json", "-o", "x.txt")
        self.assertIsNone(json.loads(self.read("r.json"))["formats"]["prepared"])

    def test_outputs_that_would_share_a_place_are_refused(self):
        self.write("a.mtx", MATRIX)
        self.refuse(2, "cg", "a.mtx", "-o", "f", "--report", "f", err="the same file")
        self.refuse(2, "cg", "a.mtx", "--report", "-", err="both go to standard output")
        self.refuse(2, "cg", "-", "--rhs", "-", err="one standard input")

    def test_tiny_and_huge_right_sides_are_solved(self):
        self.write("a.mtx", MATRIX)
        for size in ("e-160", "e-300", "e200"):
            self.write("b.txt", f"1{size}\n2{size}\n")
            x, y = self.solution("a.mtx", "--rhs", "b.txt")
            self.assertAlmostEqual(x / float("1" + size), 1 / 11, places=10)

    def test_too_few_steps_are_not_converged_and_still_written(self):
        self.write("path.mtx", laplacian(300))
        x = self.solution("path.mtx", "--max-iterations", "3", code=3, err="not converged: after 3 steps")
        self.assertEqual(len(x), 300)

    def test_systems_for_which_the_method_is_not(self):
        self.write("general.mtx", MATRIX.replace("symmetric", "general"))
        self.refuse(4, "cg", "general.mtx", err=r"general.mtx: not symmetric: entry \(2, 1\) is 1, entry \(1, 2\) is 0")
        self.write("wide.mtx", MATRIX.replace("symmetric", "general").replace("2 2 3\n", "2 3 3\n", 1))
        self.refuse(4, "cg", "wide.mtx", err="2 x 3, expected a square matrix")
        self.write("indefinite.mtx", MATRIX.replace("2 2 3\n", "2 2 3\n", 1).replace("2 1 1", "2 1 9"))
        self.refuse(4, "cg", "indefinite.mtx", err="indefinite.mtx: step .* not positive definite")
        self.write("negative.mtx", MATRIX.replace("1 1 4", "1 1 -4"))
        self.refuse(4, "cg", "negative.mtx", "--preconditioner", "jacobi", err=r"negative.mtx: entry \(1, 1\) is -4")

    def test_a_right_side_of_another_size_is_refused(self):
        self.write("a.mtx", MATRIX)
        self.write("b.txt", "1\n2\n3\n")
        self.refuse(4, "cg", "a.mtx", "--rhs", "b.txt", err="b.txt: expected 2 numbers")

    def test_unknown_formats_get_the_names(self):
        self.write("a.mtx", MATRIX)
        self.refuse(2, "cg", "a.mtx", "--first", "csr", err="expected one of")

    def test_a_first_format_that_does_not_suit_the_matrix_is_named(self):
        rows = "".join(f"{i} {i} 200\n" for i in range(1, 501)) + "".join(f"{i} 1 1\n" for i in range(2, 101))
        self.write("star.mtx", f"%%MatrixMarket matrix coordinate real symmetric\n500 500 599\n{rows}")
        self.refuse(2, "cg", "star.mtx", "--first", "ell", err="--first: ell would store .*; name another")


if __name__ == "__main__":
    unittest.main()
