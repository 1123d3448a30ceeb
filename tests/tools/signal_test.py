"""SIGINT, SIGTERM and SIGHUP while reading and while iterating; which phase is reached is read from stderr, nothing
sleeps but a reader that is slow."""
import json
import os
import pty
import select
import signal
import subprocess
import time
import unittest

from program import LINKS, TESSERA, TIMEOUT_SECONDS, ProgramTest, environment

FOREVER = ["--iterations", "1e9", "--verbose"]


class SignalTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("g", LINKS)
        self.write("s.tsv", "old")

    def start(self, *arguments, stderr=subprocess.PIPE):
        process = subprocess.Popen([TESSERA, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=stderr, env=environment(self.folder))
        self.addCleanup(process.kill)
        return process

    def start_iterating(self, *arguments):
        process = self.start(*arguments, *FOREVER)
        for line in process.stderr:
            if b"in_edges: " in line:  # the matrix is packed
                return process
        self.fail("ended before it iterated")

    @staticmethod
    def is_pending(process, number):
        with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
            masks = [int(line.split()[1], 16) for line in status if line.startswith(("SigPnd", "ShdPnd"))]
        return any(mask >> number - 1 & 1 for mask in masks)

    def finish(self, process):
        out, err = process.communicate(timeout=TIMEOUT_SECONDS)
        return process.returncode, out, err.decode()

    def test_the_iteration_stops_after_a_step_and_the_report_says_so(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
            process = self.start_iterating("pagerank", "g", "-o", "s.tsv", "--report", "r.json")
            process.send_signal(number)
            found, out, err = self.finish(process)
            self.assertEqual((found, out), (code, b""), err)
            self.assertIn("interrupted while iterating", err)
            report = json.loads(self.read("r.json"))
            self.assertIs(report["interrupted"], True)
            self.assertIs(report["iteration"]["interrupted"], True)
            self.assertEqual(self.read("s.tsv"), "old")
            os.remove(self.path("r.json"))
            self.assert_no_leftovers("g", "s.tsv")

    def test_hits_and_rwr_stop_too(self):
        for command in (["hits", "g"], ["rwr", "g", "--query", "a"]):
            process = self.start_iterating(*command, "-o", "s.tsv")
            process.send_signal(signal.SIGINT)
            found, _, err = self.finish(process)
            self.assertEqual(found, 130, err)
            self.assertIn("interrupted while iterating", err)  # at a step, which nothing else says
            self.assertEqual(self.read("s.tsv"), "old")

    def test_a_run_that_waits_for_its_input_ends(self):
        os.mkfifo(self.path("pipe"))
        process = self.start("pagerank", "pipe", "-o", "s.tsv")
        with open(self.path("pipe"), "wb") as pipe:  # opened: the program is reading
            pipe.write(b"a b\n")
            pipe.flush()
            process.send_signal(signal.SIGTERM)
            found, _, err = self.finish(process)
        self.assertEqual((found, err), (143, "tessera: error: interrupted\n"))
        self.assertEqual(self.read("s.tsv"), "old")
        self.assert_no_leftovers("g", "pipe", "s.tsv")

    def test_a_run_whose_reader_does_not_read_ends(self):
        self.write("long", "".join(f"some_long_name_of_node_{i} {i + 1}\n" for i in range(20000)))  # more than a pipe holds
        process = self.start("pagerank", "long", "--quiet")
        select.select([process.stdout], [], [])  # the scores are being written
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=TIMEOUT_SECONDS), 143)
        self.assertIn("interrupted", process.stderr.read().decode())
        os.mkfifo(self.path("nobody.mtx"))
        process = self.start("convert", "long", "nobody.mtx", "--verbose")
        for line in process.stderr:
            if b"edges read" in line:
                break
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=TIMEOUT_SECONDS), 143)

    def test_a_reader_that_is_slow_gets_everything(self):
        self.write("long", "".join(f"some_long_name_of_node_{i} {i + 1}\n" for i in range(40000)))
        process = self.start("pagerank", "long", "--quiet")
        found = process.stdout.read1(1 << 16)
        process.send_signal(signal.SIGTERM)
        for _ in range(14):  # longer than three times two seconds
            time.sleep(0.5)
            found += process.stdout.read1(1 << 16)
        found += process.communicate(timeout=TIMEOUT_SECONDS)[0]
        self.assertEqual(process.returncode, 0)  # it was done
        self.assertEqual(found.count(b"\n"), 80001)
        self.assertTrue(found.endswith(b"\n"))

    def test_on_a_terminal_the_message_takes_the_place_of_the_progress(self):
        os.mkfifo(self.path("pipe"))
        parent, child = pty.openpty()
        self.addCleanup(os.close, parent)
        process = self.start("pagerank", "pipe", stderr=child)
        os.close(child)
        with open(self.path("pipe"), "wb"):
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=TIMEOUT_SECONDS)
        self.assertEqual(process.returncode, 130)
        self.assertRegex(os.read(parent, 65536), rb"\r\x1b\[Ktessera: error: interrupted\r\n$")

    def test_the_second_signal_ends_at_once(self):
        os.mkfifo(self.path("pipe"))
        process = self.start("pagerank", "pipe")
        with open(self.path("pipe"), "wb"):
            process.send_signal(signal.SIGINT)
            while self.is_pending(process, signal.SIGINT):  # two at once would be one
                pass
            process.send_signal(signal.SIGINT)
            found, out, err = self.finish(process)
        self.assertEqual((found, out, err), (130, b"", ""))  # after two seconds it would say something


if __name__ == "__main__":
    unittest.main()
