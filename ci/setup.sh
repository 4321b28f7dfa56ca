#!/usr/bin/env bash
# setup.sh: installs what is missing on Debian 12 or Ubuntu 24.04, then configures and builds. Called by verify.sh and test.sh:
#   ci/setup.sh BUILD_DIR [MESON_OPTION...]
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
shift

packages=(gcc libc6-dev pkg-config meson ninja-build libcriterion-dev libmpfr-dev libgmp-dev librandom123-dev libjansson-dev
  libinih-dev libxxhash-dev python3-numpy python3-pytest python3-pytest-xdist gnuplot-nox openmpi-bin libopenmpi-dev iproute2)
case " $* " in *" -Dopencl=enabled "*) packages+=(ocl-icd-libopencl1 pocl-opencl-icd) ;; esac
[ "${CC:-}" != clang ] || packages+=(clang libomp-dev libclang-rt-dev)
is_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }
missing=()
if command -v dpkg-query >/dev/null; then
  for package in "${packages[@]}"; do is_installed "$package" || missing+=("$package"); done
fi
# Where Criterion's and MPFR's headers are there without packages (a carried tree), nothing needs installing; collectives on host
# ranks are then built where MPI is.
carried() {
  ! is_installed libcriterion-dev && command -v meson >/dev/null && pkg-config --exists criterion mpfr jansson inih libxxhash
}
if [ ${#missing[@]} -gt 0 ] && ! carried; then
  echo "installing: ${missing[*]}" >&2
  as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

# A configured build folder is kept; only its options are brought up to date.
if [ -f "$build/build.ninja" ]; then
  [ $# = 0 ] || meson configure "$build" "$@"
else
  meson setup "$build" "$@" >"$build.setup.log" 2>&1 || { cat "$build.setup.log" >&2; exit 99; }
  rm -f "$build.setup.log"
fi
# Meson 1.0 keeps no track of the headers that CUDA files include: objects older than a header are made anew.
for object in "$build"/kernels/cuda/libfoldcuda.a.p/*.o; do
  [ -e "$object" ] || continue
  [ -z "$(find kernels oracles fixtures src \( -name '*.h' -o -name '*.cuh' \) -newer "$object" -print -quit)" ] || rm -f "$object"
done
echo "compiling into $build/ (the first time takes minutes; log: $build/compile.log)" >&2
meson compile -C "$build" >"$build/compile.log" 2>&1 || { cat "$build/compile.log" >&2; exit 99; }
