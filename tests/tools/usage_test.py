"""Help, version, and every way to get an option wrong (exit code 2, the nearest name)."""
import unittest

from program import LINKS, ProgramTest


class HelpTest(ProgramTest):
    def test_without_arguments_says_what_it_is(self):
        result = self.expect(0)
        self.assertEqual(result.out, self.expect(0, "--help").out)
        for command in ("pagerank", "hits", "rwr", "stats", "convert", "generate", "spmv", "batch", "cg", "tune"):
            self.assertIn(f"\n  {command} ", result.out)
        self.assertEqual(result.err, "")

    def test_help_of_a_command_shows_options_and_defaults(self):
        result = self.expect(0, "pagerank", "--help")
        self.assertRegex(result.out, r"--damping X .*\[0.85\]")
        self.assertEqual(result.out, self.expect(0, "help", "pagerank").out)

    def test_help_topics(self):
        self.assertIn("not converged", self.expect(0, "help", "exit-codes").out)
        self.assertIn("Matrix Market", self.expect(0, "help", "formats").out)
        self.assertIn("--bind-to none", self.expect(0, "help", "mpi").out)
        self.assertEqual(self.expect(0, "help", "version").out, self.expect(0, "--help").out)
        for words in (["version", "--help"], ["--version", "-h"], ["help", "--help"], ["-h", "-h"]):
            self.assertEqual(self.expect(0, *words).out, self.expect(0, "--help").out)
        self.refuse(2, "help", "format", err="did you mean formats")
        self.refuse(2, "help", "nothing", err="`tessera help` lists")

    def test_version_names_compiler_and_libraries(self):
        result = self.expect(0, "--version")
        self.assertRegex(result.out, r"^tessera \d+\.\d+\.\d+\n")
        for word in ("commit", "compiler", "mpi", "openmp"):
            self.assertIn(word, result.out)


class WrongOptionTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("g", LINKS)

    def test_mistyped_names_get_the_nearest_one(self):
        self.refuse(2, "pagernk", "g", err='unknown command "pagernk"; did you mean pagerank')
        self.refuse(2, "pagerank", "g", "--danping", "0.5", err="unknown option --danping; did you mean --damping")
        self.refuse(2, "pagerank", "g", "--norm", "l3", err='expected one of l1, l2, linf, found "l3"; did you mean l')

    def test_other_words_for_a_gpu_lead_to_cuda_and_not_to_cpu(self):
        has_cuda = "--backend auto|cpu|cuda" in self.expect(0, "pagerank", "--help").out
        names, advice = ("auto, cpu, cuda", r"did you mean cuda\?") if has_cuda else (
            "auto, cpu", "this program is built without cuda: build it where the CUDA Toolkit is")
        for command in ("pagerank", "spmv", "cg", "tune"):
            for word in ("gpu", "GPU", "CUDA") + (() if has_cuda else ("cuda",)):
                self.refuse(2, command, "g" if command != "tune" else "--quiet", "--backend", word,
                            err=f'--backend: expected one of {names}, found "{word}"; {advice}\n')
        self.refuse(2, "pagerank", "g", "--backend", "cpy", err=r"did you mean cpu\?")

    def test_mistyped_names_of_a_delimiter_get_the_nearest_one(self):
        for word, name in (("Space", "space"), ("TAB", "tab"), ("tabs", "tab"), ("semi", "semicolon")):
            self.refuse(2, "pagerank", "g", "--delimiter", word, err=rf'found "{word}"; did you mean {name}\?')
        self.refuse(2, "pagerank", "g", "--delimiter", "||", err=r'semicolon or auto, found "\|\|"\n')
        self.expect(0, "pagerank", "g", "--delimiter", "space")

    def test_flags_leave_other_arguments_alone(self):
        plain = self.expect(0, "pagerank", "g").out
        for before in (["-q"], ["-vq"], ["--undirected=no"], ["--quiet", "--deterministic"], ["-v", "--quiet=no"], ["--quiet", "no"],
                       ["--top", "100", "-q"], ["--reverse=no", "--unweighted"]):
            self.assertEqual(self.expect(0, "pagerank", *before, "g").out, plain, before)
        self.refuse(2, "pagerank", "--quiet=perhaps", "g", err='--quiet: expected yes or no, found "perhaps"')
        self.refuse(2, "pagerank", "g", "--topp=2", err="unknown option --topp=2; did you mean --top")

    def test_a_prefix_is_not_guessed(self):
        self.refuse(2, "pagerank", "g", "--dampin", "0.5", err="unknown option --dampin; did you mean --damping")

    def test_counts_do_not_wrap(self):
        self.refuse(2, "pagerank", "g", "--top", "-1", err='--top: expected .* at least 1, found "-1"')
        self.refuse(2, "pagerank", "g", "--top", "0", err="--top: expected .* at least 1")
        self.refuse(2, "pagerank", "g", "--top", "18446744073709551616", err="--top: expected a whole number")
        self.refuse(2, "pagerank", "g", "--top", "1.5", err="--top: expected a whole number")
        self.refuse(2, "pagerank", "g", "--max-iterations", "1e10", err="from 1 to 1000000000")

    def test_counts_may_have_exponents_and_suffixes(self):
        for text, value in (("1e6", "1000000"), ("64K", "65536"), ("2G", "2147483648"), ("12", "12")):
            config = self.expect(0, "pagerank", "g", "--top", text, "--print-config").out
            self.assertIn(f"\ntop = {value}\n", config)

    def test_numbers_are_finite_and_in_range(self):
        for value in ("nan", "inf", "1.0", "1", "-0.1", "0,5", "x", "0x1p-1", ""):
            self.refuse(2, "pagerank", "g", f"--damping={value}", err="--damping|damping")
        for value in ("-1", "0", "nan", "1e999"):
            self.refuse(2, "pagerank", "g", "--tolerance", value, err="--tolerance: expected a number above 0")
        self.refuse(2, "rwr", "g", "--query", "a", "--continue-probability", "1", err="below 1")
        self.refuse(2, "generate", "rmat", "-o", "x.tsr", "--scale", "32", err="--scale: expected .* from 1 to 31")

    def test_single_options_may_not_be_repeated(self):
        self.refuse(2, "pagerank", "g", "--top", "3", "--top", "4", err='--top: given twice, as "3" and "4"')

    def test_missing_and_superfluous_arguments(self):
        self.refuse(2, "pagerank", err="missing GRAPH")
        self.refuse(2, "convert", "g", err="missing OUT")
        self.refuse(2, "pagerank", "g", "h", err='unexpected argument "h"')
        self.refuse(2, "pagerank", "g", "--top", err="--top")
        self.refuse(2, "generate", "rmat", err="missing --output")
        self.refuse(2, "version", "x", err='unexpected argument "x"')
        self.refuse(2, "help", "mpi", "x", err='unexpected argument "x"')
        self.refuse(2, "--quiet", "pagerank", "g", err="options follow the command")
        self.refuse(2, "generate", "rmt", "-o", "x.tsr", err="did you mean rmat")

    def test_contradictions(self):
        self.refuse(2, "pagerank", "-", "--warm-start", "-", err="one standard input")
        self.refuse(2, "rwr", "-", "--query-file", "-", err="one standard input")
        self.refuse(2, "pagerank", "g", "--weighted", "--unweighted", err="exclude each other")
        self.refuse(2, "pagerank", "g", "--undirected", "--directed", err="exclude each other")
        self.refuse(2, "pagerank", "g", "--report", "-", err="standard output")
        self.refuse(2, "pagerank", "g", "-o", "x.json", "--report", "x.json", err="same file")
        self.refuse(2, "pagerank", "g", "-o", "x.npy", "--top", "3", err="--top")
        self.refuse(2, "rwr", "g", "--query", "a", "--directed", err="undirected")
        self.refuse(2, "rwr", "g", err="expected --query")

    def test_a_cpu_refuses_what_is_asked_of_gpus(self):
        for backend, env in (("cpu", {}), ("auto", {"CUDA_VISIBLE_DEVICES": ""})):
            for command in (["pagerank"], ["hits"], ["rwr", "--query", "a"]):
                for option, value, remedy in (("exchange", "nccl", "auto"), ("pack", "device", "auto")):
                    # Before the graph is read, and so before it is missed.
                    self.refuse(2, *command, "none", "--backend", backend, f"--{option}", value, env=env,
                                err=rf"--{option} {value}: expected a GPU that computes, found the CPU "
                                    rf"\(--backend {backend}\); use --{option} {remedy}\n")

    def test_a_cpu_takes_what_asks_nothing_of_gpus(self):
        for words in (["--exchange", "auto"], ["--exchange", "mpi"], ["--pack", "host"], ["--pack", "auto"]):
            self.assertNotIn("warning", self.expect(0, "pagerank", "g", "--backend", "cpu", *words).err)

    def test_unknown_suffixes_name_the_known_ones(self):
        self.refuse(2, "pagerank", "g", "-o", "x.xlsx", err=r"\.tsv.*\.npy")
        self.refuse(2, "convert", "g", "x.xlsx", err=r"\.tsr.*\.mtx")
        self.assert_no_leftovers("g")


if __name__ == "__main__":
    unittest.main()
