"""The examples in configs/ are accepted by their commands."""
import os
import unittest

from program import LINKS, ProgramTest

CONFIGS = os.path.join(os.path.dirname(__file__), "..", "..", "configs")


class ExampleConfigsTest(ProgramTest):
    def test_each_example_runs(self):
        self.write("g", LINKS)
        for command, more in (("pagerank", []), ("hits", []), ("rwr", ["--query", "a"])):
            config = os.path.abspath(os.path.join(CONFIGS, command + ".ini"))
            result = self.expect(0, command, "g", "--config", config, *more)
            self.assertGreater(len(result.rows()), 0)

    def test_commented_keys_exist_too(self):
        for command in ("pagerank", "hits", "rwr"):
            with open(os.path.join(CONFIGS, command + ".ini"), encoding="utf-8") as file:
                lines = [line[1:].strip() for line in file if line.startswith("#") and " = " in line]
            help_text = self.expect(0, command, "--help").out
            for line in lines:
                self.assertIn("--" + line.split(" = ")[0] + " ", help_text)


if __name__ == "__main__":
    unittest.main()
