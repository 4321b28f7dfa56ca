#!/usr/bin/env bash
# cccl.sh: gets the headers of a newer CCCL (Thrust, CUB) than the toolkit's from PyPI's wheel, and prints their folder, for
# -Dcccl_include.
#   ci/cccl.sh FOLDER [REQUIREMENT|WHEEL]
# REQUIREMENT is what pip takes (cuda-cccl==1.2.1, which holds CCCL 3.6.0; also nvidia-cuda-cccl, headers alone); WHEEL is a file
# on this machine, in case it has no network. Needs python3, and pip for a requirement. If FOLDER already holds the same
# source, that is used. Exit codes: 0 the folder is printed; 2 wrong usage; 99 there are no headers, with the reason.
set -euo pipefail
[[ $# -ge 1 && $# -le 2 ]] || { echo "usage: ci/cccl.sh FOLDER [REQUIREMENT|WHEEL]" >&2; exit 2; }
source=${2:-cuda-cccl==1.2.1}
mkdir -p "$1"
folder=$(cd "$1" && pwd)

leave() {
  echo "cccl: $1" >&2
  exit 99
}
# The folder that has cub/, thrust/, cuda/ and nv/; wheels have it in different places.
headers() {
  local at
  at=$(find "$folder" -path '*/cub/version.cuh' -print -quit)
  at=${at%/cub/version.cuh}
  [ -n "$at" ] && [ -d "$at/thrust" ] && [ -d "$at/cuda" ] && [ -d "$at/nv" ] && echo "$at"
}
if [ "$(cat "$folder/source" 2>/dev/null)" = "$source" ] && headers; then exit 0; fi

rm -rf "${folder:?}"/{wheel,unpacked,source}
mkdir -p "$folder/wheel"
if [ -f "$source" ]; then
  cp "$source" "$folder/wheel/given.whl"
else
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: -d "$folder/wheel" "$source" >&2 ||
    leave "pip could not download $source; give a wheel's path where there is no network"
fi
python3 -m zipfile -e "$folder"/wheel/*.whl "$folder/unpacked" 2>/dev/null || leave "$source is not a wheel"
headers || leave "$source has no folder with cub/, thrust/, cuda/ and nv/"
echo "$source" >"$folder/source"
