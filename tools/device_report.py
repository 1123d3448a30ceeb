"""Puts the results of device-check.sh into one JSON file, beside what an earlier call with the same program left there:
device_report.py WORK OUTPUT PROGRAM SCALES"""
import datetime
import glob
import json
import os
import subprocess
import sys


def command(scales):
    """The call with what of its environment it was given."""
    settings = {name: os.environ[name] for name in ("CHECKS", "KERNELS") if name in os.environ}
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


def print_figures(results):
    for product in results["spmv_ms_median_smallest_largest"]:
        best = [min(product[f"cusparse_{order}_ms"][name][0] for name in ("csr_alg1", "csr_alg2"))
                for order in ("as_given", "degree_order")]
        print(f'SpMV scale {product["scale"]}: tile-messages f32 {product["tile_messages_f32"]["ms"][0]:.3f} ms, '
              f"cuSPARSE {best[0]:.3f} as given, {best[1]:.3f} in degree order")
    for run in results["pagerank"]:
        print(f'{run["graph"]}: {run["kernel"]} {run["precision"]}: {run["step_median_ms"]:.3f} ms a step')


def main(work, output, program, scales):
    version = subprocess.run([program, "version"], capture_output=True, text=True, check=True).stdout.splitlines()
    earlier = earlier_results(output, version)
    tests = dict(earlier.get("tests", {}))
    for path in sorted(glob.glob(os.path.join(work, "*.result"))):
        with open(path, encoding="utf-8") as file:
            tests[os.path.basename(path)[:-len(".result")]] = file.read().strip()
    with open(os.path.join(work, "spmv.jsonl"), encoding="utf-8") as file:
        products = [json.loads(line) for line in file]
    results = {"date": datetime.date.today().isoformat(), "commands": [*earlier.get("commands", []), command(scales)],
               "program": version, "tests": tests,
               "pagerank": earlier.get("pagerank", []) + [step_times(path) for path in
                                                          sorted(glob.glob(os.path.join(work, "run-*.json")))],
               "spmv_ms_median_smallest_largest": earlier.get("spmv_ms_median_smallest_largest", []) + products}
    with open(output, "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
        file.write("\n")
    print_figures(results)


main(*sys.argv[1:])
