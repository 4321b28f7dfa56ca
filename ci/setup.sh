#!/usr/bin/env bash
# setup.sh: installs what is missing on Debian 12 or Ubuntu 24.04, then configures and builds. Called by verify.sh and test.sh:
#   ci/setup.sh BUILD_DIR [MESON_OPTION...]
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
shift

packages=(gcc libc6-dev pkg-config meson ninja-build libcriterion-dev libmpfr-dev libgmp-dev librandom123-dev libjansson-dev
  libinih-dev libxxhash-dev python3-numpy python3-pytest python3-pytest-xdist gnuplot-nox openmpi-bin libopenmpi-dev iproute2)
# Installs a device for OpenCL: without one, suite opencl is skipped.
optional=()
case " $* " in *" -Dopencl=enabled "*) optional+=(ocl-icd-libopencl1 pocl-opencl-icd) ;; esac
[ "${CC:-}" != clang ] || packages+=(clang libomp-dev libclang-rt-dev)
is_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }
# missing PACKAGE...: prints those that are not installed; none, if this machine has another package manager.
missing() {
  command -v dpkg-query >/dev/null || return 0
  for package in "$@"; do is_installed "$package" || echo "$package"; done
}
install() {
  local as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  echo "installing: $*" >&2
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}
# If the headers of Criterion and MPFR are there without packages (a carried tree), nothing is installed; collectives on host
# ranks are then built if MPI is there.
carried() {
  ! is_installed libcriterion-dev && command -v meson >/dev/null && pkg-config --exists criterion mpfr jansson inih libxxhash
}
mapfile -t absent < <(missing "${packages[@]}")
[ ${#absent[@]} = 0 ] || carried || install "${absent[@]}"
mapfile -t absent < <(missing ${optional[@]+"${optional[@]}"})
[ ${#absent[@]} = 0 ] || install "${absent[@]}" || echo "not installed: ${absent[*]}" >&2

# A build folder that is configured is kept; only its options are updated.
if [ -f "$build/build.ninja" ]; then
  [ $# = 0 ] || meson configure "$build" "$@"
else
  meson setup "$build" "$@" >"$build.setup.log" 2>&1 || { cat "$build.setup.log" >&2; exit 99; }
  rm -f "$build.setup.log"
fi
# Meson 1.0 does not track the headers that CUDA files include, so objects older than a header are deleted.
for object in "$build"/kernels/cuda/libfoldcuda.a.p/*.o; do
  [ -e "$object" ] || continue
  [ -z "$(find kernels oracles fixtures src \( -name '*.h' -o -name '*.cuh' \) -newer "$object" -print -quit)" ] || rm -f "$object"
done
echo "compiling into $build/ (the first time takes minutes; log: $build/compile.log)" >&2
meson compile -C "$build" >"$build/compile.log" 2>&1 || { cat "$build/compile.log" >&2; exit 99; }
echo "built $build/foldproof" >&2
