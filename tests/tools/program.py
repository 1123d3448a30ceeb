"""Runs the program under test (path in the environment variable TESSERA) in a folder of its own."""
import os
import pty
import shutil
import subprocess
import tempfile
import unittest

TESSERA = os.environ["TESSERA"]
TIMEOUT_SECONDS = 120  # of a hang alone: a busy machine and a sanitizer make a second a minute


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def rows(self):
        """Lines of TSV output, split, without the header."""
        return [line.split("\t") for line in self.out.splitlines()[1:]]


def environment(folder, **more):
    env = {**os.environ, "XDG_CACHE_HOME": folder, **more}
    env.setdefault("OMP_WAIT_POLICY", "passive")
    return env


class ProgramTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tessera-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return self.path(name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def run_program(self, *arguments, stdin=b"", env=None, launcher=(), **options):
        done = subprocess.run([*launcher, TESSERA, *arguments], input=stdin, cwd=self.folder,
                              env=environment(self.folder, **(env or {})), timeout=TIMEOUT_SECONDS,
                              stderr=subprocess.PIPE, stdout=options.pop("stdout", subprocess.PIPE), **options)
        out = (done.stdout or b"").decode("utf-8", "surrogateescape")
        return Result(done.returncode, out, done.stderr.decode("utf-8", "surrogateescape"))

    def expect(self, code, *arguments, err=(), **options):
        """Runs, checks the exit code and that each pattern of `err` is on stderr; the result."""
        result = self.run_program(*arguments, **options)
        self.assertEqual(result.code, code, f"{arguments}\n{result.err}")
        for pattern in [err] if isinstance(err, str) else err:
            self.assertRegex(result.err, pattern)
        return result

    def refuse(self, code, *arguments, err, **options):
        """An error: one message that matches, nothing on stdout."""
        result = self.expect(code, *arguments, err=err, **options)
        self.assertEqual(result.out, "")
        self.assertEqual(result.err.count("tessera: error:"), 1, result.err)
        return result

    def run_on_terminal(self, *arguments, launcher=(), env=None):
        """Standard output and error, together, of a run on a terminal that ends well."""
        parent, child = pty.openpty()
        process = subprocess.Popen([*launcher, TESSERA, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=child, stderr=child, env=environment(self.folder, TERM="xterm", **(env or {})))
        os.close(child)
        chunks = []
        while True:
            try:
                chunk = os.read(parent, 65536)
            except OSError:  # the terminal's end
                break
            if not chunk:
                break
            chunks.append(chunk)
        os.close(parent)
        text = b"".join(chunks).decode()
        self.assertEqual(process.wait(TIMEOUT_SECONDS), 0, text)
        return text

    def assert_no_leftovers(self, *expected):
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(expected))


LINKS = "a b\na c\nb c\nc a\nd c\n"
