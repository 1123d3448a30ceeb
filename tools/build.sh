# shellcheck shell=bash
# Sourced by demo.sh, test.sh and bench-cpu.sh: packages, configuration and build of one preset, and the
# environment that mpirun needs on any machine. Not run by itself.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

script=$(basename "$0")
fail() {
  echo "$script: $*" >&2
  exit 1
}

# build_preset PRESET [TARGET...]: into build/PRESET
build_preset() {
  local preset=$1 launcher=() cache=build/$1/CMakeCache.txt
  shift
  tools/install-packages.sh
  if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  # A build folder that was made in another place (a copied checkout) cannot be used again.
  if [[ -f $cache ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$cache"; then rm -rf "build/$preset"; fi
  echo "Building (preset $preset) in build/$preset"
  cmake --preset "$preset" --log-level=WARNING "${launcher[@]}" >/dev/null ||
    fail "cmake failed (see above); remove build/$preset and repeat"
  cmake --build "build/$preset" --parallel "$(nproc)" ${1:+--target "$@"} ||
    fail "the build failed (see above); when memory ran out, repeat with fewer jobs: cmake --build build/$preset -j1"
}

# Open MPI refuses to run as root or with more processes than cores unless told; inside containers its
# copying between processes needs a right that is often missing.
if [[ $(id -u) -eq 0 ]]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
