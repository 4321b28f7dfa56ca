#!/usr/bin/env bash
# gpu-arch.sh: prints the architectures to compile GPU code for if the user gives none (Meson option gpu_arch): those of
# this machine's GPUs, such as 90 or 80,90; 90+PTX if there is no GPU, or if nvcc has no code for one of them.
#   ci/gpu-arch.sh NVCC
set -euo pipefail
[ $# = 1 ] || { echo "usage: ci/gpu-arch.sh NVCC" >&2; exit 2; }
here=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d ' .' | sort -nu) || here=
known=$("$1" --list-gpu-code 2>/dev/null) || known=
for arch in ${here:-none}; do
  grep -qx "sm_$arch" <<<"$known" || { echo 90+PTX; exit; }
done
paste -sd, <<<"$here"
