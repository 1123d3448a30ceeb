#!/usr/bin/env bash
# Measures tessera on this machine, beside the GAP Benchmark Suite when its programs are there:
#
#   tools/bench-cpu.sh --gap FOLDER      FOLDER has pr_spmv and converter, built with OpenMP
#   tools/bench-cpu.sh                   without the peer, on a graph of tessera's own generator
#
# Writes docs/benchmarks/cpu-DATE.json and prints the table for docs/benchmarks.md. Takes minutes at the
# default scale 20 and wants a machine that does nothing else. All options: tools/bench_cpu.py --help
set -euo pipefail
start_folder=$PWD
# shellcheck source=tools/build.sh
. "$(dirname "${BASH_SOURCE[0]}")/build.sh"

build_preset release tessera >&2
program=$PWD/build/release/bin/tessera
script_folder=$PWD/tools
commit=$(git describe --always --dirty 2>/dev/null || echo unknown)
cd "$start_folder"  # options may name files from there
exec python3 -B "$script_folder/bench_cpu.py" --tessera "$program" --commit "$commit" "$@"
