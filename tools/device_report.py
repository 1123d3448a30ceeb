"""Puts the results of device-check.sh into one JSON file: device_report.py WORK OUTPUT PROGRAM SCALES"""
import datetime
import glob
import json
import os
import subprocess
import sys


def settings():
    """What else of the environment device-check.sh was given."""
    return "".join(f'{name}="{os.environ[name]}" ' for name in ("CHECKS", "KERNELS") if name in os.environ)


def main(work, output, program, scales):
    runs = []
    for path in sorted(glob.glob(os.path.join(work, "run-*.json"))):
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        _, scale, kernel, precision = os.path.basename(path)[: -len(".json")].replace("tile-composite", "tile").replace("tile-messages", "messages").split("-")
        runs.append({"graph": f"R-MAT scale {scale}, edge factor 16, seed 1", "edges": report["graph"]["edges"],
                     "kernel": {"tile": "tile-composite", "messages": "tile-messages"}.get(kernel, kernel), "precision": precision,
                     "device": report["backend"]["description"],
                     "step_median_ms": 1e3 * report["step"]["median_seconds"],
                     "pack_seconds": report["seconds"]["pack"], "dense_tiles": report["plan"]["dense_tiles"],
                     "padding_ratio": report["operators"]["in_edges"]["padding_ratio"]})
    tests = {os.path.basename(path)[: -len(".result")]: open(path, encoding="utf-8").read().strip()
             for path in sorted(glob.glob(os.path.join(work, "*.result")))}
    with open(os.path.join(work, "spmv.jsonl"), encoding="utf-8") as file:
        products = [json.loads(line) for line in file]
    version = subprocess.run([program, "version"], capture_output=True, text=True, check=True).stdout
    with open(output, "w", encoding="utf-8") as file:
        json.dump({"date": datetime.date.today().isoformat(), "command": f'{settings()}SCALES="{scales}" tools/device-check.sh',
                   "program": version.splitlines(), "tests": tests, "pagerank": runs,
                   "spmv_ms_median_smallest_largest": products}, file, indent=1)
        file.write("\n")
    for product in products:
        best = [min(product[f"cusparse_{order}_ms"][name][0] for name in ("csr_alg1", "csr_alg2"))
                for order in ("as_given", "degree_order")]
        print(f'SpMV scale {product["scale"]}: tile-messages f32 {product["tile_messages_f32"]["ms"][0]:.3f} ms, '
              f"cuSPARSE {best[0]:.3f} as given, {best[1]:.3f} in degree order")
    for run in runs:
        print(f'{run["graph"]}: {run["kernel"]} {run["precision"]}: {run["step_median_ms"]:.3f} ms a step')


main(*sys.argv[1:])
