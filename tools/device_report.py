"""Puts the results of device-check.sh into one JSON file, beside what an earlier call with the same program left there:
device_report.py WORK OUTPUT PROGRAM SCALES"""
import datetime
import glob
import json
import os
import re
import subprocess
import sys


def command(scales):
    """The call with what of its environment it was given."""
    settings = {name: os.environ[name] for name in ("CHECKS", "KERNELS", "RANKINGS", "PREPARE") if name in os.environ}
    for name in ("FILES", "FORMATS"):
        if name in os.environ:
            settings[name] = " ".join(map(os.path.basename, os.environ[name].split()))
    settings["SCALES"] = scales
    return " ".join(f'{name}="{value}"' for name, value in settings.items()) + " tools/device-check.sh"


def step_times(path):
    """What one PageRank report says; run-SCALE-KERNEL-PRECISION.json."""
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    scale, rest = os.path.basename(path)[len("run-"):-len(".json")].split("-", 1)
    kernel, precision = rest.rsplit("-", 1)
    return {"graph": f"R-MAT scale {scale}, edge factor 16, seed 1", "edges": report["graph"]["edges"],
            "kernel": kernel, "precision": precision, "device": report["backend"]["description"],
            "step_median_ms": 1e3 * report["step"]["median_seconds"], "pack_seconds": report["seconds"]["pack"],
            "dense_tiles": report["plan"]["dense_tiles"],
            "padding_ratio": report["operators"]["in_edges"]["padding_ratio"]}


def earlier_results(output, program):
    if os.path.exists(output):
        with open(output, encoding="utf-8") as file:
            earlier = json.load(file)
        if earlier.get("program") == program:
            return earlier
    return {}


def ratios(graph):
    """How one line of spmv_bench compares: medians, the vendor's better algorithm. The vendor's step: its product and
    our update on rows in order. The bound: 2 bytes an edge (and a value, where there are weights) and 12 a row."""
    found = {"graph": graph["graph"], "edges": graph["edges"]}
    for precision, size in (("f32", 4), ("f64", 8)):
        forms = [form for form in graph["forms"] if form["precision"] == precision]
        auto = next(form for form in forms if form.get("automatic"))
        ours, best = auto["ms"][0], min(form["ms"][0] for form in forms)
        bound = 1e3 * ((2 + size * graph["weighted"]) * graph["edges"] + 12 * graph["vertices"]) / \
            graph["copy_bytes_per_second"]
        found[precision] = {"kernel": auto["kernel"], "order": auto["order"], "product_ms": ours,
                            "over_best_form": ours / best, "predicted_over_measured": auto["predicted_ms"] / ours,
                            "of_bound": bound / ours}
        for order in ("as_given", "degree_order"):
            vendor = min(times[0] for times in graph[f"cusparse_{order}_{precision}_ms"].values())
            found[precision][f"product_times_{order}"] = vendor / ours
            if precision == "f32":
                step = graph["pagerank_step"]
                found["step_ms"] = step["ms"][0]
                found[f"step_times_{order}"] = (vendor + step["update_in_order_ms"][0]) / step["ms"][0]
    return found


def print_figures(results):
    for line in results["ratios"]:
        f32, f64 = line["f32"], line["f64"]
        print(f'{line["graph"]}: {f32["kernel"]} {f32["order"]}: product {f32["product_ms"]:.4f} ms, '
              f'{f32["product_times_as_given"]:.2f} times cuSPARSE as given, {f32["product_times_degree_order"]:.2f} in '
              f'degree order (f64 {f64["product_times_as_given"]:.2f}, {f64["product_times_degree_order"]:.2f}), '
              f'{100 * f32["of_bound"]:.0f} % of the bound, {f32["over_best_form"]:.2f} of the best form, predicted '
              f'{f32["predicted_over_measured"]:.2f}; step {line["step_ms"]:.4f} ms, {line["step_times_as_given"]:.2f} and '
              f'{line["step_times_degree_order"]:.2f} times')
    for run in results["pagerank"]:
        print(f'{run["graph"]}: {run["kernel"]} {run["precision"]}: {run["step_median_ms"]:.3f} ms a step')
    for line in results["rankings"]:
        rwr, hits = line["rwr"], line["hits"]
        print(f'{line["graph"]}: 25 walks {rwr["block"]["step_ms"][0]:.3f} ms a step, {rwr["times_own_queries"]:.1f} times 25 '
              f'alone, {rwr["times_cusparse_queries"]:.1f} times cuSPARSE; HITS {hits["step_ms"][0]:.3f} ms, '
              f'{hits["times_cusparse"]:.1f} times cuSPARSE')
    for line in results["preparing"]:
        print(f'{line["graph"]}: made ready on the GPU from CSR in {line["from_csr_in_products"]:.0f} products, from edges '
              f'in {line["from_edges_in_products"]:.0f}')
    for line in results["formats"]:
        measured = [form for form in line.get("formats", []) if "refused" not in form]
        if measured:
            best = max(measured, key=lambda form: form["gflops"])
            print(f'{line["group"]}: {line["matrix"]}: {best["format"]} is the fastest of {len(measured)}, '
                  f'{best["gflops"]:.1f} GFLOP/s, {best["gbytes_per_s"]:.0f} GB/s')
        for solve in line.get("solves", []):
            print(f'{line["group"]}: {line["matrix"]}: {solve["way"]}: {solve["seconds"]:.4f} s, '
                  f'{solve["iterations"]} steps')


def what_failed(path):
    """The places in the log of a failed check that say why, with what follows them, and its end."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8", errors="replace") as file:
        log = file.read().splitlines()
    told = re.compile(r"Failure$|FAILED|[Ee]rror|ERROR|terminate|what\(\)|=========.*(Invalid|Uninit|hazard|leak)")
    kept = set()
    for place in [i for i, line in enumerate(log) if told.search(line)][:20]:
        kept.update(range(place, min(place + 8, len(log))))
    kept.update(range(max(0, len(log) - 10), len(log)))
    return [log[i] for i in sorted(kept)]


def lines_of(path):
    """The whole lines of a file of JSON lines; nothing where it was not made."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.endswith("\n")]


def main(work, output, program, scales):
    version = subprocess.run([program, "version"], capture_output=True, text=True, check=True).stdout.splitlines()
    earlier = earlier_results(output, version)
    tests = dict(earlier.get("tests", {}))
    for path in sorted(glob.glob(os.path.join(work, "*.result"))):
        with open(path, encoding="utf-8") as file:
            tests[os.path.basename(path)[:-len(".result")]] = file.read().strip()
    failed = {name: what_failed(os.path.join(work, name + ".log")) or earlier.get("failed", {}).get(name, [])
              for name, result in tests.items() if result == "fail"}
    products = lines_of(os.path.join(work, "spmv.jsonl"))
    results = {"date": datetime.date.today().isoformat(), "commands": [*earlier.get("commands", []), command(scales)],
               "program": version, "tests": tests,
               "failed": failed,
               "pagerank": earlier.get("pagerank", []) + [step_times(path) for path in
                                                          sorted(glob.glob(os.path.join(work, "run-*.json")))],
               "products": earlier.get("products", []) + products,
               "ratios": earlier.get("ratios", []) + [ratios(graph) for graph in products],
               "rankings": earlier.get("rankings", []) + lines_of(os.path.join(work, "ranking.jsonl")),
               "preparing": earlier.get("preparing", []) + lines_of(os.path.join(work, "prepare.jsonl")),
               "formats": earlier.get("formats", []) + lines_of(os.path.join(work, "formats.jsonl"))}
    with open(output, "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
        file.write("\n")
    print_figures(results)


main(*sys.argv[1:])
