#!/usr/bin/env bash
# gpu-arch.sh: prints the architectures to compile GPU code for where nobody says which (Meson option gpu_arch): those of
# the GPUs that are here, as in 90 or 80,90; 90+PTX where there is none, or where nvcc has no code for one of them.
#   ci/gpu-arch.sh NVCC
set -euo pipefail
[ $# = 1 ] || { echo "usage: ci/gpu-arch.sh NVCC" >&2; exit 2; }
here=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d ' .' | sort -nu) || here=
known=$("$1" --list-gpu-code 2>/dev/null) || known=
for arch in ${here:-none}; do
  grep -qx "sm_$arch" <<<"$known" || { echo 90+PTX; exit; }
done
paste -sd, <<<"$here"
