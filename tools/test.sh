#!/usr/bin/env bash
# Installs what is missing, builds everything and runs all tests. Safe to repeat.
#
#   tools/test.sh                 optimised, as it is used
#   tools/test.sh --sanitize      with AddressSanitizer and UndefinedBehaviorSanitizer
#   tools/test.sh -R engine       further arguments go to ctest
set -euo pipefail
# shellcheck source=tools/build.sh
. "$(dirname "${BASH_SOURCE[0]}")/build.sh"

preset=release
if [[ ${1:-} == --sanitize ]]; then
  preset=asan-ubsan
  shift
fi
build_preset "$preset"
ctest --preset "$preset" --parallel "$(nproc)" "$@" ||
  fail "tests failed (see above); one of them again: tools/test.sh $([[ $preset == release ]] || echo "--sanitize ")-R NAME"
