#!/usr/bin/env bash
# Installs the Debian packages that building and testing need. Does nothing when all are there, so it is
# safe to repeat. Uses sudo only when not root. Called by demo.sh, test.sh and bench-cpu.sh.
set -euo pipefail

packages=(
  cmake ninja-build g++ pkg-config
  libboost-program-options-dev libopenmpi-dev openmpi-bin libtbb-dev
  libfmt-dev libspdlog-dev nlohmann-json3-dev libxxhash-dev
  libarchive-dev zlib1g-dev libzstd-dev libmetis-dev
  libgtest-dev libgmock-dev librapidcheck-dev python3
)

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "install-packages.sh: this is not a Debian system; install what these packages hold by hand:" >&2
  echo "  ${packages[*]}" >&2
  exit 1
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
  [[ $status == "install ok installed" ]] || missing+=("$package")
done
if [[ ${#missing[@]} -eq 0 ]]; then
  exit 0
fi

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "install-packages.sh: not root, and sudo is not there; run as root:" >&2
    echo "  apt-get update && apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

# apt-get's many lines go to a file that is shown when something fails.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
quiet_apt() {
  if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 \
      -o DPkg::Lock::Timeout=120 "$@" >"$log" 2>&1; then
    cat "$log" >&2
    echo "install-packages.sh: \"apt-get $*\" failed (see above); check the network and /etc/apt, then repeat" >&2
    exit 1
  fi
}
echo "Installing Debian packages: ${missing[*]}"
quiet_apt update
quiet_apt install --yes --no-install-recommends "${missing[@]}"
