#!/usr/bin/env bash
# What a machine with several GPUs has to show, as JSON: tools/device_ranks_check.py says what.
#
#   tools/device-check-ranks.sh BUILD OUTPUT_FOLDER     writes OUTPUT_FOLDER/ranks-DATE.json
#
# In the environment: CHECKS="bits few shared lost repeats starts" (all by default; about 7, 1, 1, 1, 3 and 2 minutes),
# SCALES="24 26" adds step times on R-MAT graphs, RANKS="2 4 8" the numbers of processes (at most one a GPU).
# A second call adds to the file of the first. Exits with 1 when a check fails, 77 with fewer than 2 GPUs.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
if [[ $# -ne 2 ]]; then
  sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
fi
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU ' || true)
if [[ ${BACKEND:-cuda} == cuda && $gpus -lt 2 ]]; then
  echo "device-check-ranks.sh: $gpus GPUs here, fewer than 2: nothing was tested"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$2"
SCALES=${SCALES-} python3 -B "$here/device_ranks_check.py" "$1" "$work" "$2/ranks-$(date +%F).json"
