#!/usr/bin/env python3
"""Measures tessera on one machine, beside the GAP Benchmark Suite's pr_spmv where that is given.

Called by bench-cpu.sh. Every case runs once a round, in turn, so that a change of the machine's speed meets
all of them; the table gives medians and, in brackets, the smallest and largest round. Both programs use
float scores, damping 0.85, and the formula that drops the mass of nodes without out-links.
"""
import argparse
import datetime
import json
import os
import platform
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
STEPS = 20
TEXT_STOP = ["--tolerance", "1e-4", "--norm", "l1"]
FORMULA = ["--damping", "0.85", "--dangling", "drop"]


class Run:
    """One finished process: wall seconds, peak resident bytes (not below this script's own), standard output."""

    def __init__(self, command, environment):
        with tempfile.TemporaryFile() as out:
            start = time.perf_counter()
            process = subprocess.Popen(command, stdout=out, stdin=subprocess.DEVNULL, env=environment)
            _, status, usage = os.wait4(process.pid, 0)
            self.seconds = time.perf_counter() - start
            process.returncode = os.waitstatus_to_exitcode(status)  # Popen must not wait for it again
            out.seek(0)
            self.text = out.read().decode()
        self.peak_bytes = usage.ru_maxrss * 1024
        if process.returncode != 0:
            sys.exit(f"bench_cpu.py: \"{shlex.join(command)}\" ended with {process.returncode}:\n{self.text}")


class Bench:
    """The programs, the files they work on, and the figures of all rounds by name."""

    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.environment = {**os.environ, "XDG_CACHE_HOME": folder, "OMP_NUM_THREADS": str(options.threads)}
        self.text, self.cache = options.graph or self.path("graph.el"), self.path("graph.tsr")
        self.gap_binary = self.path("graph.sg")
        self.figures = {}
        self.facts = {}

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *command):
        return Run(list(command), self.environment)

    def gap(self, program):
        return os.path.join(self.options.gap, program)

    def add(self, name, value):
        self.figures.setdefault(name, []).append(value)

    def prepare(self):
        scale, factor = str(self.options.scale), str(self.options.edge_factor)
        if not self.options.graph:
            if self.options.gap:
                self.run(self.gap("converter"), "-g", scale, "-k", factor, "-e", self.text)
            else:
                self.text = self.path("graph.tsv")
                self.run(self.options.tessera, "generate", "rmat", "--scale", scale, "--edge-factor", factor,
                         "--seed", "1", "-o", self.text, "--quiet")
        if self.options.gap:
            self.run(self.gap("converter"), "-f", self.text, "-b", self.gap_binary)
        self.run(self.options.tessera, "convert", self.text, self.cache, "--quiet")
        with open(self.text, "rb") as file:  # every round finds the file in the page cache
            while file.read(1 << 24):
                pass

    def pagerank(self, graph, *more, threads=None, precision="f32"):
        """A run of tessera with its report."""
        report = self.path("report.json")
        run = self.run(self.options.tessera, "pagerank", graph, *FORMULA, "--precision", precision, "--top", "10",
                       "--threads", str(threads or self.options.threads), "--output", self.path("top.tsv"),
                       "--report", report, "--quiet", *more)
        with open(report, encoding="utf-8") as file:
            run.report = json.load(file)
        return run

    def step(self, kernel, precision="f32"):
        run = self.pagerank(self.cache, "--kernel", kernel, "--iterations", str(STEPS), precision=precision)
        self.add(f"step {kernel} {precision}, ms", run.report["step"]["median_seconds"] * 1e3)
        self.facts[f"{kernel} {precision}"] = run.report["operators"]["in_edges"]

    def gap_step(self):
        text = self.run(self.gap("pr_spmv"), "-f", self.gap_binary, "-i", str(STEPS), "-t", "0", "-n", "3").text
        trials = [float(value) for value in re.findall(r"Trial Time:\s+([\d.]+)", text)]
        self.add("step GAP, ms", statistics.median(trials) / STEPS * 1e3)

    def text_to_ranking(self):
        run = self.pagerank(self.text, *TEXT_STOP)
        seconds = run.report["seconds"]
        self.add("text to ranking, s", run.seconds)
        for phase in ("read", "build", "pack", "iterate", "write"):
            self.add(f"text: {phase}, s", seconds[phase])
        self.add("text: peak memory, MB", run.report["peak_memory_bytes"] / 1e6)
        self.facts["graph"] = run.report["graph"]
        self.facts["steps to 1e-4"] = run.report["iteration"]["iterations"]

    def gap_text_to_ranking(self):
        run = self.run(self.gap("pr_spmv"), "-f", self.text, "-i", "100", "-t", "1e-4", "-n", "1", "-l")
        self.add("text to ranking GAP, s", run.seconds)
        for phase in ("Read", "Build", "Trial"):
            self.add(f"text: GAP {phase.lower()}, s", float(re.search(rf"{phase} Time:\s+([\d.]+)", run.text)[1]))
        self.add("text: GAP peak memory, MB", run.peak_bytes / 1e6)
        self.facts["steps to 1e-4 GAP"] = len(re.findall(r"^ +\d+ +[\d.]+$", run.text, re.MULTILINE))

    def start_from_cache(self):
        run = self.pagerank(self.cache, "--iterations", "1")
        seconds = run.report["seconds"]
        self.add("cache: read, s", seconds["read"] + seconds["build"])
        self.add("cache: read and pack, s", seconds["read"] + seconds["build"] + seconds["pack"])
        self.add("cache: peak memory, MB", run.report["peak_memory_bytes"] / 1e6)

    def read_rate(self, threads):
        seconds = self.pagerank(self.text, "--iterations", "1", threads=threads).report["seconds"]
        megabytes = os.path.getsize(self.text) / 1e6
        on = f"{threads} thread" + ("s" if threads > 1 else "")
        self.add(f"reading on {on}, MB/s a core", megabytes / seconds["read"] / threads)
        self.add(f"reading and building on {on}, MB/s a core",
                 megabytes / (seconds["read"] + seconds["build"]) / threads)

    def round(self):
        self.step("tile-composite")
        if self.options.gap:
            self.gap_step()
        self.step("csr")
        self.step("tile-composite", "f64")
        self.step("csr", "f64")
        self.text_to_ranking()
        if self.options.gap:
            self.gap_text_to_ranking()
        self.start_from_cache()
        for threads in sorted({1, self.options.threads}):
            self.read_rate(threads)


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = re.findall(r"^model name\s*:\s*(.*)$", file.read(), re.MULTILINE)
    return {"processor": names[0] if names else platform.machine(), "cores": os.cpu_count(),
            "usable_cores": len(os.sched_getaffinity(0)),
            "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            "kernel": platform.release(), "load_average": os.getloadavg()[0]}


def csr_bytes(graph):
    return 8 * (graph["nodes"] + 1) + 4 * graph["edges"]


def summary(bench, start):
    """What goes into the JSON file; no path of this machine."""
    options = bench.options
    command = ["tools/bench-cpu.sh", "--rounds", str(options.rounds), "--threads", str(options.threads)]
    command += ["--graph", "GRAPH"] if options.graph else \
        ["--scale", str(options.scale), "--edge-factor", str(options.edge_factor)]
    command += ["--gap", "GAP"] if options.gap else []
    return {
        "date": start.isoformat(timespec="seconds"), "commit": options.commit, "command": " ".join(command),
        "machine": bench.facts.pop("machine"), "threads": options.threads, "rounds": options.rounds,
        "graph": {**bench.facts.pop("graph"), "text_bytes": os.path.getsize(bench.text)},
        "facts": bench.facts,
        "figures": {name: {"median": statistics.median(values), "min": min(values), "max": max(values),
                           "rounds": values} for name, values in bench.figures.items()},
    }


def cell(figures, name):
    figure = figures[name]
    return "{:.3g} ({:.3g} .. {:.3g})".format(figure["median"], figure["min"], figure["max"])


# What is compared: title, our figure, the other's name and figure.
COMPARED = (
    ("PageRank step, f32, ms", "step tile-composite f32, ms", "GAP pr_spmv", "step GAP, ms"),
    ("PageRank step, f32, ms", "step tile-composite f32, ms", "tessera --kernel csr", "step csr f32, ms"),
    ("PageRank step, f64, ms", "step tile-composite f64, ms", "tessera --kernel csr", "step csr f64, ms"),
    ("text file to ranking at 1e-4, s", "text to ranking, s", "GAP pr_spmv", "text to ranking GAP, s"),
    ("peak memory of that, MB", "text: peak memory, MB", "GAP pr_spmv", "text: GAP peak memory, MB"),
)


def table(result):
    figures = result["figures"]
    lines = ["| measured | tessera | compared with | | other / tessera |", "|---|---|---|---|---|"]
    for title, ours, name, other in COMPARED:
        if other in figures:
            quotient = figures[other]["median"] / figures[ours]["median"]
            lines.append(f"| {title} | {cell(figures, ours)} | {name} | {cell(figures, other)} | {quotient:.2f} |")
    lines += ["", "| tessera alone | figure |", "|---|---|"]
    compared = {name for row in COMPARED for name in (row[1], row[3])}
    lines += [f"| {name} | {cell(figures, name)} |" for name in figures if name not in compared]
    csr = csr_bytes(result["graph"])
    peak = figures["text: peak memory, MB"]["median"] * 1e6
    lines.append(f"| peak memory over the {csr / 1e6:.3g} MB of the graph as CSR (8-byte offsets, 4-byte columns) "
                 f"| {peak / csr:.2f} |")
    return "\n".join(lines)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tessera", required=True, help="the program")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--gap", help="folder with the GAP Benchmark Suite's pr_spmv and converter")
    parser.add_argument("--graph", help="edge list to take instead of a generated one; symmetric, ids from 0")
    parser.add_argument("--scale", type=int, default=20, help="Kronecker graph of 2^SCALE nodes [20]")
    parser.add_argument("--edge-factor", type=int, default=16, help="undirected edges a node [16]")
    parser.add_argument("--rounds", type=int, default=5, help="at least 5 for figures to publish [5]")
    parser.add_argument("--threads", type=int, default=2, help="of both programs [2]")
    parser.add_argument("--work", help="folder for generated files [a temporary one]")
    parser.add_argument("--output", help="JSON file [docs/benchmarks/cpu-DATE.json]")
    options = parser.parse_args()
    for program in ("pr_spmv", "converter") if options.gap else ():
        if not os.access(os.path.join(options.gap, program), os.X_OK):
            parser.error(f"--gap: no program {program} in {options.gap}; build the suite there with make")
    if options.graph and not os.path.isfile(options.graph):
        parser.error(f"--graph: {options.graph} is not a file")
    return options


def main():
    options = parse_arguments()
    start = datetime.datetime.now(datetime.timezone.utc)
    with tempfile.TemporaryDirectory(prefix="tessera-bench-", dir=options.work) as folder:
        bench = Bench(options, folder)
        bench.facts["machine"] = machine()
        if bench.facts["machine"]["load_average"] > 0.5:
            print("bench_cpu.py: the machine is busy (load average above 0.5); figures will suffer", file=sys.stderr)
        bench.prepare()
        for number in range(options.rounds):
            print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
            bench.round()
        result = summary(bench, start)
    output = options.output or os.path.join(ROOT, "docs", "benchmarks", f"cpu-{start:%Y-%m-%d}.json")
    os.makedirs(os.path.dirname(os.path.abspath(output)), exist_ok=True)
    with open(output, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    print(table(result))


if __name__ == "__main__":
    main()
