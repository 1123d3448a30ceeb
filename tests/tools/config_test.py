"""INI files: --config and --print-config."""
import json
import unittest

from program import LINKS, ProgramTest


class ConfigTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("g", LINKS)

    def config_of(self, *arguments):
        return self.expect(0, *arguments, "--print-config").out

    def test_values_come_from_the_file_and_the_command_line_wins(self):
        self.write("run.ini", "[pagerank]\r\ndamping = 0.5\r\ntop=2\r\n")
        config = self.config_of("pagerank", "g", "--config", "run.ini", "--top", "3")
        self.assertIn("damping = 0.5\n", config)
        self.assertIn("top = 3\n", config)

    def test_of_two_flags_that_exclude_each_other_the_command_line_has_the_last_word(self):
        self.write("run.ini", "undirected = yes\nweighted = yes\n")
        for flags, undirected, weighted in (([], "yes", "yes"), (["--directed"], "no", "yes"),
                                            (["--directed=no", "--unweighted"], "yes", "no")):
            config = self.config_of("pagerank", "g", "--config", "run.ini", *flags)
            self.assertIn(f"\nundirected = {undirected}\n", config)
            self.assertIn(f"\nweighted = {weighted}\n", config)
        self.write("both.ini", "undirected = yes\ndirected = yes\n")
        self.refuse(2, "pagerank", "g", "--config", "both.ini", err="exclude each other")

    def test_a_number_of_steps_on_the_command_line_is_the_one_that_counts(self):
        self.write("three.ini", "[pagerank]\niterations = 3\n")
        self.write("most.ini", "max-iterations = 2\n")
        run = ["pagerank", "g", "--tolerance", "1e-13", "--report", "r.json"]
        self.expect(0, *run, "--config", "three.ini", "--max-iterations", "1000")
        report = json.loads(self.read("r.json"))
        self.assertGreater(report["iteration"]["iterations"], 3)
        self.assertEqual(report["options"]["iterations"], {"value": None, "source": "default"})
        self.expect(0, *run, "--config", "most.ini", "--iterations", "4")
        self.assertEqual(json.loads(self.read("r.json"))["iteration"]["iterations"], 4)
        self.expect(0, *run, "--config", "three.ini")
        self.assertEqual(json.loads(self.read("r.json"))["iteration"]["iterations"], 3)
        for command in (["pagerank"], ["hits"], ["rwr", "--query", "a"]):
            self.refuse(2, *command, "g", "--iterations", "3", "--max-iterations", "2",
                        err="--iterations and --max-iterations exclude each other")
        self.write("again.ini", self.config_of("pagerank", "g", "--iterations", "3"))
        self.expect(0, "pagerank", "--config", "again.ini")

    def test_queries_on_the_command_line_replace_those_of_the_file(self):
        def queries(*arguments):
            return {row[0] for row in self.expect(0, "rwr", "g", *arguments).rows()}

        self.write("q", "a\nb\n")
        self.write("file.ini", "[rwr]\nquery-file = q\n")
        self.write("query.ini", "query = c\n")
        self.write("both.ini", "query = c\nquery-file = q\n")
        self.assertEqual(queries("--config", "file.ini", "--query", "d"), {"d"})
        self.assertEqual(queries("--config", "query.ini", "--query-file", "q"), {"a", "b"})
        self.assertEqual(queries("--config", "both.ini"), {"a", "b", "c"})
        self.assertEqual(queries("--query", "d", "--query-file", "q"), {"a", "b", "d"})

    def test_a_hash_inside_a_value_belongs_to_it(self):
        self.write("run.ini", "# comment\n  # comment\n[pagerank]\noutput = a#b.tsv\n")
        self.expect(0, "pagerank", "g", "--config", "run.ini")
        self.assertIn("node\tscore", self.read("a#b.tsv"))

    def test_common_keys_and_sections(self):
        self.write("run.ini", "damping = 0.5\ntolerance = 1e-3\n[pagerank]\ntolerance = 1e-4\n[hits]\nnormalize = max\n")
        pagerank = self.config_of("pagerank", "g", "--config", "run.ini")
        self.assertIn("damping = 0.5\n", pagerank)
        self.assertIn("tolerance = 0.0001\n", pagerank)
        hits = self.config_of("hits", "g", "--config", "run.ini")
        self.assertIn("tolerance = 0.001\n", hits)
        self.assertIn("normalize = max\n", hits)

    def test_unknown_keys_and_sections_are_errors_in_any_section(self):
        self.write("key.ini", "[pagerank]\n\ndampling = 0.5\n")
        self.refuse(2, "pagerank", "g", "--config", "key.ini", err=r"key.ini:3: unknown option dampling; did you mean damping")
        self.refuse(2, "hits", "g", "--config", "key.ini", err=r"key.ini:3: ")
        self.write("far.ini", "[pagerank]\nfoo = 1\n")
        self.assertTrue(self.refuse(2, "pagerank", "g", "--config", "far.ini", err="far.ini:2").err.endswith("option foo\n"))
        self.write("section.ini", "[pagernak]\ndamping = 0.5\n")
        self.refuse(2, "pagerank", "g", "--config", "section.ini", err="did you mean pagerank")
        self.write("other.ini", "[pagerank]\nnormalize = max\n")
        self.refuse(2, "pagerank", "g", "--config", "other.ini", err="other.ini:2: unknown option normalize")

    def test_bad_lines_and_values_name_their_place(self):
        self.write("value.ini", "[pagerank]\ndamping = 2\n")
        self.refuse(2, "pagerank", "g", "--config", "value.ini", err=r'value.ini:2: damping: expected .*found "2"')
        self.write("line.ini", "damping 0.5\n")
        self.refuse(2, "pagerank", "g", "--config", "line.ini", err=r'line.ini:1: expected "option = value"')
        self.write("twice.ini", "[pagerank]\ntop = 1\ntop = 2\n")
        self.refuse(2, "pagerank", "g", "--config", "twice.ini", err="twice.ini:3: top: given twice")
        self.write("section.ini", "# a note\n[pagernk]\n\ntop = 1\n")
        self.refuse(2, "pagerank", "g", "--config", "section.ini",
                    err=r"section.ini:2: unknown section \[pagernk\]; did you mean pagerank")
        self.refuse(2, "pagerank", "g", "--config", "none.ini", err="none.ini: No such file")

    def test_a_common_value_that_only_other_commands_take_names_their_sections(self):
        self.write("kernel.ini", "kernel = ell\n")
        self.refuse(2, "pagerank", "g", "--config", "kernel.ini",
                    err=r'kernel.ini:1: kernel: expected one of auto, .*found "ell".*; a key before the first section '
                        r"holds for every command, this value belongs under \[spmv\] or \[batch\]\n")
        self.write("none.ini", "damping = 2\n")
        self.assertTrue(self.refuse(2, "pagerank", "g", "--config", "none.ini", err="damping").err.endswith('"2"\n'))
        self.write("own.ini", "[pagerank]\nkernel = ell\n")
        self.assertNotIn("section", self.refuse(2, "pagerank", "g", "--config", "own.ini", err="own.ini:2").err)

    def test_an_empty_file_changes_nothing(self):
        self.write("empty.ini", "")
        self.assertEqual(self.config_of("pagerank", "g", "--config", "empty.ini"), self.config_of("pagerank", "g"))

    def test_print_config_repeats_the_run(self):
        arguments = ["rwr", "g", "--query=-x", "--query", " y ", "--query", 'q"\\', "--delimiter", "\t",
                     "--batch", "1e1", "--precision", "f32", "--member", "a # b", "--reverse", "-q"]
        self.write("run.ini", self.config_of(*arguments))
        self.assertEqual(self.config_of("rwr", "--config", "run.ini"), self.read("run.ini"))
        self.assertIn('query = " y "\n', self.read("run.ini"))
        self.assertIn("delimiter = tab\n", self.read("run.ini"))

    def test_flags_of_the_file_can_be_switched_off(self):
        self.write("run.ini", "weighted = yes\n")
        self.assertIn("weighted = no\n", self.config_of("pagerank", "g", "--config", "run.ini", "--weighted=no"))

    def test_results_are_deterministic_whatever_is_asked(self):
        self.write("run.ini", "deterministic = no\n")
        expected = self.expect(0, "pagerank", "g").out
        for more in ([], ["--deterministic"], ["--deterministic=no"], ["--config", "run.ini"]):
            self.assertIn("\ndeterministic = yes\n", self.config_of("pagerank", "g", *more))
            self.assertEqual(self.expect(0, "pagerank", "g", *more, "--report", "r.json").out, expected)
            self.assertIs(json.loads(self.read("r.json"))["options"]["deterministic"]["value"], True)
        self.refuse(2, "pagerank", "g", "--deterministic=maybe", err='--deterministic: expected yes or no, found "maybe"')

    def test_what_is_asked_of_gpus_is_a_warning_on_a_cpu(self):
        """The file may serve machines with GPUs too; what is typed is for this run alone."""
        self.write("run.ini", "pack = device\n[pagerank]\nexchange = nccl\n")
        run = ["pagerank", "g", "--backend", "cpu", "--config", "run.ini"]
        found = self.expect(0, *run, err=[
            r"warning: config run.ini: pack = device: expected a GPU that computes, found the CPU \(--backend cpu\)",
            r"warning: config run.ini \[pagerank\]: exchange = nccl: expected .*; it changes nothing here\n"])
        self.assertEqual(found.out, self.expect(0, "pagerank", "g", "--backend", "cpu").out)
        self.assertEqual(self.expect(0, *run, "--quiet").err, "")
        self.assertNotIn("warning", self.expect(0, *run, "--pack", "host", "--exchange", "auto").err)
        self.refuse(2, *run, "--pack", "device", err="--pack device: expected a GPU")

    def test_the_report_names_the_source_of_each_option(self):
        self.write("run.ini", "[pagerank]\ndamping = 0.5\n")
        self.expect(0, "pagerank", "g", "--config", "run.ini", "--top", "2", "--report", "r.json")
        options = json.loads(self.read("r.json"))["options"]
        self.assertEqual(options["damping"], {"value": 0.5, "source": "config run.ini [pagerank]"})
        self.assertEqual(options["top"], {"value": 2, "source": "command line"})
        self.assertEqual(options["norm"], {"value": "l1", "source": "default"})
        self.assertEqual(options["weighted"], {"value": False, "source": "default"})


if __name__ == "__main__":
    unittest.main()
