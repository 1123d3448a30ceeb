"""What several GPUs have to show: device_ranks_check.py BUILD WORK OUTPUT (see device-check-ranks.sh)

The same bits on 1, 2, 4, ... GPUs and through all exchanges, graphs with fewer rows than ranks, a shared GPU that is
refused, 50 starts and stops, a killed and a stopped rank that end the others; then step times on R-MAT graphs (SCALES
in the environment, edge factor 16). CHECKS in the environment names the groups of checks. Writes OUTPUT as JSON after
each check, beside what an earlier call with the same program left there; exits with 1 when a check fails."""
import concurrent.futures
import datetime
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

BUILD, WORK, OUTPUT = sys.argv[1:4]
PROGRAM = os.path.realpath(os.path.join(BUILD, "bin", "tessera"))
# NVLink multicast stays off: not every machine with several GPUs can do it.
ENVIRONMENT = {"NCCL_NVLS_ENABLE": "0", **os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1",
               "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "XDG_CACHE_HOME": WORK}
# To try this program itself where there is no GPU: BACKEND=cpu RANKS="2 4".
BACKEND = os.environ.get("BACKEND", "cuda")
# What --exchange is given, and what is in the environment besides: by themselves ranks write to each other's memory;
# without peer-to-peer NCCL is taken, and does not go from GPU to GPU either.
EXCHANGES = ({"auto": ("auto", {}), "auto without peers": ("auto", {"NCCL_P2P_DISABLE": "1"}), "nccl": ("nccl", {}),
              "mpi": ("mpi", {})}
             if BACKEND == "cuda" else {"auto": ("auto", {})})
results = {"date": datetime.date.today().isoformat(), "checks": {}, "runs": []}


def save():
    with open(OUTPUT, "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
        file.write("\n")


def command(ranks, *arguments):
    launcher = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)] if ranks > 1 else []
    return [*launcher, PROGRAM, *map(str, arguments)]


def descendants(pid):
    """Processes that `pid` has started, directly or not."""
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                parents[int(name)] = int(file.read().rpartition(")")[2].split()[1])
        except OSError:
            pass  # has ended meanwhile
    found = [pid]
    for parent in found:
        found += [child for child, its_parent in parents.items() if its_parent == parent]
    return found[1:]


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def end_all(job):
    """Ends a job that was started here, with its ranks: mpirun alone would leave them behind."""
    for pid in [job.pid, *descendants(job.pid)]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    job.communicate()


def run(ranks, *arguments, timeout=90, environment=None):
    """The finished process; exit code 124 when it had to be ended."""
    words = command(ranks, *arguments)
    with subprocess.Popen(words, env={**ENVIRONMENT, **(environment or {})}, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as job:
        try:
            out, errors = job.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            end_all(job)
            return subprocess.CompletedProcess(words, 124, b"", f"still there after {timeout} s".encode())
    return subprocess.CompletedProcess(words, job.returncode, out, errors)


def check(name, passed, detail=""):
    results["checks"][name] = "pass" if passed else f"fail: {detail}"
    print(f"{name}: {results['checks'][name]}", flush=True)
    save()


def same_on_all(name, ranks, *arguments, expected=None):
    """Standard output of one rank is that of all others, through all exchanges."""
    words = [*arguments, "--quiet", "-o", "-", "--backend", BACKEND]
    expected = expected or run(1, *words)
    if expected.returncode not in (0, 3) or not expected.stdout:
        return check(name, False, f"one rank: exit {expected.returncode} {expected.stderr.decode()[-300:]}")
    for count in reversed(ranks):
        for kind, (exchange, environment) in EXCHANGES.items():
            found = run(count, *words, "--exchange", exchange, environment=environment)
            if found.stdout != expected.stdout:
                return check(name, False, f"{count} ranks, {kind}: exit {found.returncode} "
                                          f"{found.stderr.decode()[-300:]}")
    return check(name, True)


def small_graph():
    path = os.path.join(WORK, "small.tsv")
    if not os.path.exists(path):
        run(1, "generate", "rmat", "--scale", 12, "--edge-factor", 8, "--seed", 3, "-o", path, "--quiet")
    return path


def large_graph():
    path = os.path.join(WORK, "large.tsr")
    if not os.path.exists(path):
        run(1, "generate", "rmat", "--scale", 20, "--edge-factor", 16, "--seed", 3, "-o", path, "--quiet")
    return path


def tiny_graph():
    path = os.path.join(WORK, "tiny.tsv")
    with open(path, "w", encoding="utf-8") as file:
        file.write("a\tb\nb\tc\n")
    return path


def check_same_bits(ranks):
    graph = small_graph()
    with open(graph, encoding="utf-8") as file:
        query = file.readline().split()[0]
    for precision in ("f32", "f64"):
        for kernel in ("tile-messages", "csr", "tile-composite"):
            for words in (("pagerank",), ("hits",), ("rwr", "--query", query)):
                same_on_all(f"same bits: {words[0]} {kernel} {precision}", ranks, words[0], graph, *words[1:],
                            "--kernel", kernel, "--precision", precision)
        # Tiles are cut for the device, CSR is the same on all: there the CPU's bits are known, too.
        words = ("pagerank", graph, "--kernel", "csr", "--precision", precision)
        same_on_all(f"the CPU's bits: pagerank csr {precision}", ranks, *words,
                    expected=run(1, *words, "--quiet", "-o", "-", "--backend", "cpu"))
    same_on_all("same bits: pagerank on scale 20", ranks, "pagerank", large_graph(), "--precision", "f32",
                "--iterations", 20)


def check_few_rows(ranks):
    for words in (("pagerank",), ("hits",), ("rwr", "--query", "a")):
        same_on_all(f"fewer rows than ranks: {words[0]}", ranks, words[0], tiny_graph(), *words[1:])


def check_repeats(ranks):
    words = ("pagerank", large_graph(), "--backend", BACKEND, "--precision", "f32", "--iterations", 20, "--quiet", "-o",
             "-")
    outputs = [run(1 + i % max(ranks), *words) for i in range(20)]
    same = [found.returncode in (0, 3) and found.stdout == outputs[0].stdout for found in outputs]
    check("same bits in 20 runs", all(same), str(same))


def check_start_and_stop(ranks):
    """Three at a time, so that some start while others stop."""
    count, codes = max(ranks), []
    words = ("pagerank", tiny_graph(), "--backend", BACKEND, "--quiet", "-o", "-")

    def start(_):
        return None if codes.count(124) > 1 else run(count, *words, timeout=60).returncode  # enough is known

    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        for code in pool.map(start, range(50)):
            codes.append(code)
    check(f"50 starts and stops on {count} GPUs", codes == [0] * 50, f"exit codes {codes}")


def check_report(ranks):
    path = os.path.join(WORK, "report.json")
    run(max(ranks), "pagerank", small_graph(), "--backend", BACKEND, "--quiet", "-o", os.path.join(WORK, "out.tsv"),
        "--report", path)
    with open(path, encoding="utf-8") as file:
        found = json.load(file)["exchange"]
    kind = "peers" if BACKEND == "cuda" else "host"
    passed = found["kind"] == kind and found["bytes_per_step"] > 0 and found["seconds"] > 0
    check("the report names the exchange", passed, json.dumps(found))


def wait_until_iterating(log, seconds=120):
    """--verbose says what a matrix is like just before the first step."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        log.seek(0)
        if b"in_edges:" in log.read():
            time.sleep(3)
            return True
        time.sleep(0.1)
    return False


def check_lost_rank(ranks, name, lost_by):
    """A rank is killed or stopped in the middle of a run: the others say so and all end within 10 seconds."""
    words = command(max(ranks), "pagerank", large_graph(), "--backend", BACKEND, "--iterations", 100000000, "--verbose",
                    "-o", os.path.join(WORK, "never.tsv"))
    with tempfile.TemporaryFile() as log, subprocess.Popen(words, env=ENVIRONMENT, stdout=log, stderr=log) as job:
        if not wait_until_iterating(log):
            end_all(job)
            log.seek(0)
            return check(name, False, f"the run did not begin: {log.read()[-300:].decode()}")
        started = descendants(job.pid)
        own = [pid for pid in started if os.path.realpath(f"/proc/{pid}/exe") == PROGRAM]
        already = log.seek(0, os.SEEK_END)
        start = time.monotonic()
        os.kill(own[-1], lost_by)
        while any(map(is_running, [job.pid, *started])) and time.monotonic() < start + 30:
            job.poll()
            time.sleep(0.05)
        seconds = time.monotonic() - start
        end_all(job)
        for pid in filter(is_running, started):
            os.kill(pid, signal.SIGKILL)
        log.seek(already)
        said = log.read().decode(errors="replace").strip()
    results["lost ranks"] = {**results.get("lost ranks", {}),
                             name: {"seconds": round(seconds, 2), "exit": job.returncode, "said": said[-600:]}}
    passed = seconds < 10 and said != "" and len(own) == max(ranks)
    return check(name, passed, f"{seconds:.1f} s, exit {job.returncode}")


def check_lost_ranks(ranks):
    check_lost_rank(ranks, "a killed rank ends the others", signal.SIGKILL)
    if BACKEND == "cuda":  # on CPUs ranks wait for a stopped one as long as it takes
        check_lost_rank(ranks, "a stopped rank ends the others", signal.SIGSTOP)


def check_shared_gpu(ranks):
    found = run(max(ranks) + 1, "pagerank", tiny_graph(), "--backend", "cuda", "-o", "-")
    check("a shared GPU is refused", found.returncode == 5 and b"would share one GPU" in found.stderr,
          found.stderr.decode()[-200:])
    found = run(max(ranks) + 1, "pagerank", large_graph(), "--quiet", "-o", os.path.join(WORK, "auto.tsv"))
    check("--backend auto takes the CPU then", found.returncode == 0, found.stderr.decode()[-200:])


def measure(scale, ranks):
    for count in reversed(ranks):
        launcher = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(count)]
        threads = str(max(1, (os.cpu_count() or 1) // count))
        try:
            found = subprocess.run([*launcher, os.path.join(BUILD, "bin", "ranks_bench"), str(scale)],
                                   env={**ENVIRONMENT, "OMP_NUM_THREADS": threads}, capture_output=True, text=True,
                                   timeout=420, check=True)
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
            print(f"scale {scale}, {count} GPUs: {error} {str(error.stderr)[-300:]}", flush=True)
            continue
        line = json.loads(found.stdout.splitlines()[-1])
        results["runs"].append(line)
        save()
        print(json.dumps(line), flush=True)


GROUPS = {
    "bits": [check_same_bits],
    "few": [check_few_rows, check_report],
    "shared": [lambda ranks: check_shared_gpu([results["gpus"]])],
    "lost": [check_lost_ranks],
    "repeats": [check_repeats],
    "starts": [check_start_and_stop],
}


def num_gpus():
    return len(subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=True).stdout.splitlines())


def main():
    results["version"] = run(1, "version").stdout.decode().splitlines()
    results["gpus"] = num_gpus() if BACKEND == "cuda" else 0
    ranks = [int(n) for n in os.environ.get("RANKS", "2 4 8").split()]
    if BACKEND == "cuda":
        ranks = [n for n in ranks if n <= results["gpus"]]
    scales, checks = os.environ.get("SCALES", "24 26"), os.environ.get("CHECKS", " ".join(GROUPS))
    results["command"] = f'CHECKS="{checks}" SCALES="{scales}" tools/device-check-ranks.sh BUILD OUTPUT_FOLDER'
    if os.path.exists(OUTPUT):
        with open(OUTPUT, encoding="utf-8") as file:
            earlier = json.load(file)
        if earlier.get("version") == results["version"]:
            results["checks"], results["runs"] = earlier["checks"], earlier["runs"]
            results["lost ranks"] = earlier.get("lost ranks", {})
    for group in checks.split() if ranks else []:
        for one in GROUPS[group]:
            one(ranks)
    for scale in scales.split():
        measure(int(scale), [1, *ranks] if int(scale) < 28 else ranks[-1:])
    save()
    return any(value != "pass" for value in results["checks"].values())


sys.exit(main())
