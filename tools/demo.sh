#!/usr/bin/env bash
# Installs what is missing, builds tessera, and ranks the packages of Debian with it: PageRank with two
# processes, then HITS and a random walk with restart. Safe to repeat.
set -euo pipefail
# shellcheck source=tools/build.sh
. "$(dirname "${BASH_SOURCE[0]}")/build.sh"

build_preset release tessera
tessera=build/release/bin/tessera
graph=tests/data/debian-depends.tsv.gz  # made by tools/debian-depends.py

# show TITLE COMMAND...: the command, its ten best lines, and what it says about the run
show() {
  printf '\n== %s\n$ %s\n' "$1" "${*:2}"
  "${@:2}" || fail "\"${*:2}\" ended with code $?; what it means: $tessera help exit-codes"
}
show "The ten packages on which most of Debian rests (PageRank, two processes)" \
  mpirun -n 2 "$tessera" pagerank "$graph" --top 10
show "Authorities and hubs (HITS)" "$tessera" hits "$graph" --top 10
show "What is near python3-numpy (random walk with restart)" \
  "$tessera" rwr "$graph" --query python3-numpy --top 10
printf '\nThe program is %s; next: %s help\n' "$tessera" "$tessera"
