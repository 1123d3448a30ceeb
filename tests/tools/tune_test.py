"""tune: what cannot be measured is said before anything is, and where the table went after it."""
import glob
import json
import unittest

from program import ProgramTest


class TuneTest(ProgramTest):
    def test_the_table_goes_where_the_help_says_and_is_said_to(self):
        result = self.expect(0, "tune", "--backend", "cpu")
        (path,) = glob.glob(self.path("tessera/cpu-*.table.json"))  # XDG_CACHE_HOME is the test's folder
        self.assertIn(f"tessera: info: table written to {path}; later runs plan with it\n", result.err)
        help_text = " ".join(self.expect(0, "tune", "--help").out.split())
        self.assertIn("~/.cache/tessera/cpu-MODEL.table.json", help_text)

    def test_quiet_says_nothing_and_the_table_is_where_home_is(self):
        env = {"XDG_CACHE_HOME": "", "HOME": self.path("home")}
        self.assertEqual(self.expect(0, "tune", "--backend", "cpu", "--quiet", env=env).err, "")
        self.assertEqual(len(glob.glob(self.path("home/.cache/tessera/cpu-*.table.json"))), 1)

    def test_another_place_is_said_to_be_none_of_later_runs(self):
        self.expect(0, "tune", "--backend", "cpu", "-o", "table.json",
                    err="info: table written to table.json; later runs look in the default place only")
        self.assertEqual(json.loads(self.read("table.json"))["format"], "tessera-perf-table")
        result = self.expect(0, "tune", "--backend", "cpu", "-o", "-")
        self.assertEqual((json.loads(result.out)["format"], result.err), ("tessera-perf-table", ""))

    def test_an_output_that_cannot_be_written_is_found_first(self):
        self.refuse(5, "tune", "--backend", "cpu", "-o", "no-such-folder/table.json", err="no-such-folder")

    def test_the_table_cannot_share_standard_output_with_the_report(self):
        self.refuse(2, "tune", "--report", "-", err="--report")

    def test_an_unknown_backend_gets_the_names(self):
        self.refuse(2, "tune", "--backend", "gpu", err="auto")


if __name__ == "__main__":
    unittest.main()
