#!/usr/bin/env bash
# scaling-gpu.sh: what a machine with several GPUs calls: builds, then times and probes collectives and keeps the records.
#   ci/scaling-gpu.sh FOLDER [BENCH_OPTION...]
# FOLDER receives environment.json and, as records (.jsonl) and as printed (.txt): scaling (sharded sums, strong and weak),
# allreduce (vectors by length, the library's ring and tree too), messages (which bits agree under which settings).
# FOLDPROOF_REQUIRE_GPUS says how many GPUs must be there (2), GPU_ARCH the architectures (90), BUILD a folder that is
# already built, LAUNCH how ranks start (FOLDPROOF_LAUNCH; threads of one process), PROBE the options of the probe.
# All parts run, whatever the first ones say; the exit code is that of the first that failed: 1 for a refuted claim or an
# implausible figure, 77 where there are too few GPUs and none are required, 99 for a broken environment.
set -euo pipefail
[ $# -gt 0 ] || { echo "usage: ci/scaling-gpu.sh FOLDER [BENCH_OPTION...]" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/.."
export FOLDPROOF_REQUIRE_GPUS=${FOLDPROOF_REQUIRE_GPUS:-2}
# NVLink multicast stays off, in whatever process talks by NCCL.
export NCCL_NVLS_ENABLE=0
[ -z "${LAUNCH:-}" ] || export FOLDPROOF_LAUNCH=$LAUNCH
build=${BUILD:-build-gpu}
[ -n "${BUILD:-}" ] || ci/setup.sh "$build" -Dcuda=enabled -Dnccl=enabled ${GPU_ARCH:+-Dgpu_arch="$GPU_ARCH"}

first=0
part() {
  local name=$1 code=0
  shift
  echo "== $name"
  "$@" --jsonl "$folder/$name.jsonl" 2>&1 | tee "$folder/$name.txt" || code=$?
  [ $code = 0 ] || echo "== $name: exit code $code"
  [ $first != 0 ] || first=$code
}
"$build/foldproof" env --json >"$folder/environment.json"
part scaling "$build/foldproof" bench --engine nccl --what strong,weak "$@"
part allreduce "$build/foldproof" bench --engine nccl --what messages "$@"
# shellcheck disable=SC2086
part messages "$build/foldproof" study --messages --engine nccl ${PROBE:-}
exit $first
