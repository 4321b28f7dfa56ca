#!/usr/bin/env bash
# gpu.sh: the job of a runner with a GPU: builds, runs the suite gpu with a GPU required, and keeps records in a folder.
#   ci/gpu.sh FOLDER [VERIFY_OPTION...]
# FOLDER receives what the commands printed and environment.json, verify.jsonl, verify_nccl.jsonl (collectives over this machine's GPUs),
# verify_nodes.jsonl (over two nodes made of them, if there are two GPUs) and bench.jsonl. GPU_ARCH chooses the
# architectures (75+PTX,90; without it this machine's), FOLDPROOF_REQUIRE_GPUS how many GPUs must be there (1), BENCH its
# options, CCCL a newer Thrust and CUB than the toolkit's (what ci/cccl.sh takes: cuda-cccl==1.2.1, or a wheel).
# All parts run, even if one fails; the exit code is that of the first that failed.
set -euo pipefail
[ $# -gt 0 ] || { echo "usage: ci/gpu.sh FOLDER [VERIFY_OPTION...]" >&2; exit 2; }
. "$(dirname "$0")/parts.sh"
. "$(dirname "$0")/required-gpus.sh"
require_gpus 1
open_folder "$1"
shift
build=build-gpu
cccl=
[ -z "${CCCL:-}" ] || cccl=$(ci/cccl.sh $build-cccl "$CCCL")
ci/setup.sh $build -Dcuda=enabled -Dcccl_include="$cccl" ${GPU_ARCH:+-Dgpu_arch="$GPU_ARCH"}

$build/foldproof env --json >"$folder/environment.json"
# The suite writes the verdicts of its own world over nodes there.
NODES_RECORDS=$folder keep suite meson test -C $build --suite gpu --print-errorlogs
keep count python3 ci/count-tests.py $build gpu
record verify $build/foldproof verify --engine cuda "$@"
optional record verify_nccl $build/foldproof verify --engine nccl
# shellcheck disable=SC2086
record bench $build/foldproof bench ${BENCH:-}
exit $first
