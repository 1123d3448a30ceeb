"""tune: what cannot be measured is said before anything is."""
import unittest

from program import ProgramTest


class TuneTest(ProgramTest):
    def test_an_output_that_cannot_be_written_is_found_first(self):
        self.refuse(5, "tune", "--backend", "cpu", "-o", "no-such-folder/table.json", err="no-such-folder")

    def test_the_table_cannot_share_standard_output_with_the_report(self):
        self.refuse(2, "tune", "--report", "-", err="--report")

    def test_an_unknown_backend_gets_the_names(self):
        self.refuse(2, "tune", "--backend", "gpu", err="auto")


if __name__ == "__main__":
    unittest.main()
