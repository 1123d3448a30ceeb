"""tune: what cannot be measured is said before anything is, and where the table went after it."""
import glob
import json
import os
import re
import unittest

from program import LINKS, ProgramTest


def processor_name():
    """As the program names the table of a processor."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.rstrip("\n").split(": ", 1)[1] for line in file if line.startswith("model name") and ": " in line]
    return re.sub("[^0-9A-Za-z]", "-", names[0] if names else "unknown")


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

    def test_a_table_is_fitted_to_samples_without_the_gpu(self):
        work = {"rows": 1e6, "columns": 1e6, "nonzeros": 1e7, "adjacent": 0, "near": 0, "messages": 1e6, "cells": 10,
                "longest_row": 100, "value_bytes": 4, "weighted": False}
        head = {"format": "tessera-device-samples", "version": 1, "adjacent_columns": 64, "near_columns": 4096,
                "device": "GPU of a test", "measured_on": "2026-11-23"}
        small = work | {"rows": 1, "columns": 1, "nonzeros": 0, "messages": 0, "cells": 0, "longest_row": 0}
        lines = [head, work | {"tiles_seconds": 3e-5, "bins_seconds": 2e-5},
                 small | {"tiles_seconds": 5e-6, "bins_seconds": 5e-6}]
        lines += [work | {"vectors": vectors, "csr_seconds": 3e-5} for vectors in (1, 25)]
        self.write("samples.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
        self.expect(0, "tune", "--fit", "samples.jsonl", "-o", "table.json", err="table written to table.json")
        table = json.loads(self.read("table.json"))
        self.assertEqual((table["format"], table["device"]), ("tessera-device-rates", "GPU of a test"))
        self.assertAlmostEqual(table["tiles"]["launch_seconds"], 5e-6, delta=1e-7)
        self.write("tiles.jsonl", "".join(json.dumps(line) + "\n" for line in lines[:3]))
        self.refuse(4, "tune", "--fit", "tiles.jsonl", "-o", "t.json", err="tiles.jsonl: no samples of CSR")
        fitted = self.expect(0, "tune", "--fit", "-", "-o", "-", stdin=self.read("samples.jsonl").encode())
        self.assertEqual(json.loads(fitted.out), table)
        self.write("broken.jsonl", "".join(json.dumps(line) + "\n" for line in [head, {}]))
        self.refuse(4, "tune", "--fit", "broken.jsonl", "-o", "table.json", err="broken.jsonl:2: ")
        self.write("links.txt", LINKS)
        self.refuse(4, "tune", "--fit", "links.txt", "-o", "t.json",
                    err="error: links.txt:1: no JSON at byte 1; expected what `tessera tune --samples` wrote\n")
        self.refuse(4, "tune", "--fit", "missing.jsonl", "-o", "table.json", err="missing.jsonl")

    def test_a_damaged_table_in_the_cache_folder_is_a_warning(self):
        self.write("g", LINKS)
        os.mkdir(self.path("tessera"))
        table = self.path(f"tessera/cpu-{processor_name()}.table.json")
        expected = self.expect(0, "pagerank", "g").out
        for content in ("", "{", "[]", "{}", "links", '{"format": "tessera-perf-table", "version": 1}', b"\xff\x00"):
            self.write(table, content)
            for command in (["pagerank", "g"], ["pagerank", "g", "--dry-run"], ["stats", "g"]):
                result = self.expect(0, *command)
                lines = [line for line in result.err.splitlines() if "warning" in line]
                self.assertEqual(len(lines), 1, result.err)
                self.assertIn(f"tessera: warning: {table}: not a performance table (", lines[0])
                self.assertTrue(lines[0].endswith("); run `tessera tune` again, or delete it; the built-in table is taken"))
                self.assertNotIn("json.exception", lines[0])
            self.assertEqual(self.expect(0, "pagerank", "g").out, expected)

    def test_samples_and_fits_go_where_they_make_sense(self):
        self.refuse(2, "tune", "--fit", "samples.jsonl", err="-o")
        self.refuse(2, "tune", "--fit", "a.jsonl", "--samples", "b.jsonl", "-o", "t.json", err="--samples")
        self.refuse(2, "tune", "--backend", "cpu", "--samples", "s.jsonl", "-o", "t.json", err="a processor is measured")
        self.refuse(2, "tune", "--samples", "-", err="standard output")
        self.refuse(2, "tune", "--fit", "s.jsonl", "-o", "s.jsonl", err="the same file")
        self.refuse(2, "tune", "--fit", "s.jsonl", "-o", "t.json", "--backend", "cpu", err="--backend cpu")

    def test_an_unknown_backend_gets_the_names(self):
        self.refuse(2, "tune", "--backend", "gpu", err="auto")


if __name__ == "__main__":
    unittest.main()
