"""What several GPUs have to show: device_ranks_check.py BUILD WORK OUTPUT

The same bits on 1, 2, 4, ... GPUs and through both exchanges, graphs with fewer rows than ranks, a killed rank that
ends the others, 50 starts and stops, the same bits in 20 runs; then step times on R-MAT graphs (SCALES in the
environment, edge factor 16). Writes OUTPUT as JSON; exits with 1 when a check fails."""
import datetime
import json
import os
import signal
import subprocess
import sys
import time

BUILD, WORK, OUTPUT = sys.argv[1:4]
PROGRAM = os.path.join(BUILD, "bin", "tessera")
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
results = {"date": datetime.date.today().isoformat(), "checks": {}, "runs": []}


def save():
    with open(OUTPUT, "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
        file.write("\n")


def command(ranks, *arguments):
    launcher = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)] if ranks > 1 else []
    return [*launcher, PROGRAM, *map(str, arguments)]


def run(ranks, *arguments, timeout=120):
    return subprocess.run(command(ranks, *arguments), env=ENVIRONMENT, capture_output=True, timeout=timeout, check=False)


def check(name, passed, detail=""):
    results["checks"][name] = "pass" if passed else f"fail: {detail}"
    print(f"{name}: {results['checks'][name]}", flush=True)
    save()


def same_on_all(name, ranks, *arguments):
    """Standard output of one rank is that of all others, through both exchanges."""
    expected = run(1, *arguments, "--backend", "cuda")
    if expected.returncode not in (0, 3):
        return check(name, False, expected.stderr.decode()[-300:])
    for count in reversed(ranks):
        for exchange in ("nccl", "mpi"):
            found = run(count, *arguments, "--backend", "cuda", "--exchange", exchange)
            if found.stdout != expected.stdout:
                return check(name, False, f"{count} ranks, {exchange}: exit {found.returncode} "
                                          f"{found.stderr.decode()[-300:]}")
    return check(name, True)


def check_same_bits(ranks):
    graph = os.path.join(WORK, "small.tsv")
    run(1, "generate", "rmat", "--scale", 12, "--edge-factor", 8, "--seed", 3, "-o", graph, "--quiet")
    with open(graph, encoding="utf-8") as file:
        query = file.readline().split()[0]
    for precision in ("f32", "f64"):
        for kernel in ("tile-messages", "csr", "tile-composite"):
            for words in (("pagerank",), ("hits",), ("rwr", "--query", query)):
                same_on_all(f"same bits: {words[0]} {kernel} {precision}", ranks, words[0], graph, *words[1:], "--kernel",
                            kernel, "--precision", precision, "--quiet", "-o", "-")
    large = os.path.join(WORK, "large.tsr")
    run(1, "generate", "rmat", "--scale", 20, "--edge-factor", 16, "--seed", 3, "-o", large, "--quiet")
    same_on_all("same bits: pagerank on scale 20", ranks, "pagerank", large, "--precision", "f32", "--iterations", 20,
                "--quiet", "-o", "-")
    tiny = os.path.join(WORK, "tiny.tsv")
    with open(tiny, "w", encoding="utf-8") as file:
        file.write("a\tb\nb\tc\n")
    same_on_all("fewer rows than ranks", ranks, "pagerank", tiny, "--quiet", "-o", "-")
    first = run(1, "pagerank", large, "--backend", "cuda", "--precision", "f32", "--iterations", 20, "--quiet", "-o", "-")
    again = [run(1 + i % max(ranks), "pagerank", large, "--backend", "cuda", "--precision", "f32", "--iterations", 20,
                 "--quiet", "-o", "-").stdout == first.stdout for i in range(20)]
    check("same bits in 20 runs", all(again), str(again))


def check_start_and_stop(ranks):
    tiny = os.path.join(WORK, "tiny.tsv")
    failures = 0
    for _ in range(50):
        try:
            failures += run(ranks, "pagerank", tiny, "--backend", "cuda", "--quiet", "-o", "-", timeout=60).returncode != 0
        except subprocess.TimeoutExpired:
            failures += 1
    check(f"50 starts and stops on {ranks} GPUs", failures == 0, f"{failures} failed")


def check_lost_rank(ranks, name, lost_by):
    """A rank is killed or stopped in the middle of a run: the others say so and end within 10 seconds."""
    large = os.path.join(WORK, "large.tsr")
    with subprocess.Popen(command(ranks, "pagerank", large, "--backend", "cuda", "--iterations", 100000000, "-o", "-"),
                          env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as job:
        time.sleep(12)
        pids = subprocess.run(["pgrep", "-f", "pagerank.*100000000"], capture_output=True, text=True,
                              check=False).stdout.split()
        own = [int(pid) for pid in pids if int(pid) != job.pid]
        start = time.monotonic()
        os.kill(own[-1], lost_by)
        try:
            _, errors = job.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            for pid in own:
                os.kill(pid, signal.SIGKILL)
            job.kill()
            return check(name, False, "still there after 30 s")
    seconds = time.monotonic() - start
    results["seconds: " + name] = seconds
    return check(name, seconds < 10 and len(errors) > 0, f"{seconds:.1f} s, exit {job.returncode}")


def check_shared_gpu(ranks):
    found = run(ranks + 1, "pagerank", os.path.join(WORK, "tiny.tsv"), "--backend", "cuda", "-o", "-")
    check("a shared GPU is refused", found.returncode == 5 and b"would share one GPU" in found.stderr,
          found.stderr.decode()[-200:])


def measure(scale, ranks):
    for count in reversed(ranks):
        launcher = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(count)]
        try:
            found = subprocess.run([*launcher, os.path.join(BUILD, "bin", "ranks_bench"), str(scale)], env={**ENVIRONMENT, "OMP_NUM_THREADS": str(max(1, (os.cpu_count() or 1) // count))},
                                   capture_output=True, text=True, timeout=300, check=True)
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
            print(f"scale {scale}, {count} GPUs: {error} {str(error.stderr)[-300:]}", flush=True)
            continue
        line = json.loads(found.stdout.splitlines()[-1])
        results["runs"].append(line)
        save()
        print(json.dumps(line), flush=True)


def main():
    count = len(subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=True).stdout.splitlines())
    ranks = [n for n in (2, 4, 8) if n <= count]
    results["version"] = run(1, "version").stdout.decode().splitlines()
    results["gpus"] = count
    results["command"] = f'SCALES="{os.environ.get("SCALES", "24 26")}" tools/device_ranks_check.py BUILD WORK OUTPUT'
    if ranks and os.environ.get("CHECKS", "yes") == "yes":
        check_same_bits(ranks)
        check_shared_gpu(count)
        check_start_and_stop(max(ranks))
        check_lost_rank(max(ranks), "a killed rank ends the others", signal.SIGKILL)
        check_lost_rank(max(ranks), "a stopped rank ends the others", signal.SIGSTOP)
    for scale in os.environ.get("SCALES", "24 26").split():
        measure(int(scale), [1, *ranks] if int(scale) < 28 else ranks[-1:])
    save()
    return any(value != "pass" for value in results["checks"].values())


sys.exit(main())
