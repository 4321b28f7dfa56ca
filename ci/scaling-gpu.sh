#!/usr/bin/env bash
# scaling-gpu.sh: the job of a machine with several GPUs: builds, then times and probes collectives and keeps the records.
#   ci/scaling-gpu.sh FOLDER [BENCH_OPTION...]
# FOLDER receives environment.json and, as records (.jsonl) and as printed text (.txt): scaling (sharded sums, strong and weak),
# allreduce (vectors by length, the library's ring and tree too), messages (which bits agree under which settings), worlds
# (sums over 1, 2, 3, 4 ... ranks against one rank's and the exact sum).
# FOLDPROOF_REQUIRE_GPUS says how many GPUs must be there (2), GPU_ARCH the architectures (this machine's), BUILD a folder that is
# already built, LAUNCH how ranks start (FOLDPROOF_LAUNCH; threads of one process), PROBE the options of the probe.
# All parts run, even if one fails; the exit code is that of the first that failed: 1 for a refuted claim or an
# implausible figure, 77 if there are too few GPUs and none are required, 99 for a broken environment.
set -euo pipefail
[ $# -gt 0 ] || { echo "usage: ci/scaling-gpu.sh FOLDER [BENCH_OPTION...]" >&2; exit 2; }
. "$(dirname "$0")/parts.sh"
. "$(dirname "$0")/required-gpus.sh"
require_gpus 2
open_folder "$1"
shift
# NVLink multicast stays off in every process that uses NCCL.
export NCCL_NVLS_ENABLE=0
[ -z "${LAUNCH:-}" ] || export FOLDPROOF_LAUNCH=$LAUNCH
build=${BUILD:-build-gpu}
[ -n "${BUILD:-}" ] || ci/setup.sh "$build" -Dcuda=enabled -Dnccl=enabled ${GPU_ARCH:+-Dgpu_arch="$GPU_ARCH"}

"$build/foldproof" env --json >"$folder/environment.json"
record scaling "$build/foldproof" bench --engine nccl --what strong,weak "$@"
record allreduce "$build/foldproof" bench --engine nccl --what messages "$@"
# shellcheck disable=SC2086
record messages "$build/foldproof" study --messages --engine nccl ${PROBE:-}
record worlds "$build/foldproof" study --worlds --engine nccl
exit $first
