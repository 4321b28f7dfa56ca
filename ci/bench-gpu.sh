#!/usr/bin/env bash
# bench-gpu.sh: times sums on one GPU as docs/measured.md quotes them, and keeps the records.
#   ci/bench-gpu.sh FOLDER
# FOLDER receives, as records (.jsonl) and as printed text (.txt): small (one row of up to 10^6 terms), bench (longer rows, and many rows),
# determ (four rows of 16,384), unaligned (rows of 16,383), thrust (beside thrust::reduce), products (of matrices).
# FOLDPROOF_REQUIRE_GPUS says how many GPUs must be there (1), GPU_ARCH the architectures (this machine's), BUILD a folder that is
# already built.
# All parts run, even if one fails; the exit code is that of the first that failed: 1 for a refuted claim or an
# implausible figure, 77 where there is no GPU and none is required, 99 for a broken environment.
set -euo pipefail
[ $# = 1 ] || { echo "usage: ci/bench-gpu.sh FOLDER" >&2; exit 2; }
. "$(dirname "$0")/parts.sh"
. "$(dirname "$0")/required-gpus.sh"
require_gpus 1
open_folder "$1"
build=${BUILD:-build-gpu}
[ -n "${BUILD:-}" ] || ci/setup.sh "$build" -Dcuda=enabled ${GPU_ARCH:+-Dgpu_arch="$GPU_ARCH"}

# bench NAME OPTION...: one more run of the part NAME; its records and output are appended to those of the runs before.
bench() {
  local name=$1 code=0
  shift
  echo "\$ foldproof bench $*" | tee -a "$folder/$name.txt"
  "$build/foldproof" bench "$@" --jsonl "$folder/run.jsonl" 2>&1 | tee -a "$folder/$name.txt" || code=$?
  cat "$folder/run.jsonl" >>"$folder/$name.jsonl"
  rm -f "$folder/run.jsonl"
  [ $code = 0 ] || echo "== bench $*: exit code $code"
  [ $first != 0 ] || first=$code
}

for name in small bench determ unaligned thrust products; do rm -f "$folder/$name".{txt,jsonl}; done
one_row="flat/canonical,flat/shuffle,flat/exact,cub/reduce"
for data in normal full_range; do
  bench small --generator $data --dtype f32,f64,f16,bf16 --n 1e3,1e4,1e5,1e6 --subjects "$one_row" --iterations 31
done
bench determ --rows 4 --cols 16384 --dtype f32,f64,f16,bf16 --subjects 'rows/*,cub/segmented'
bench unaligned --rows 65536 --cols 16383 --dtype f32,bf16 --iterations 15 --unverified --subjects 'rows/s*,rows/p*,rows/e*,cub/segmented'
bench thrust --n 1e3,1e4,1e5,1e6,1e7,1e8,5e8 --subjects flat/canonical,flat/shuffle,flat/shuffle@plain,flat/exact,thrust/reduce --peer thrust/reduce
bench products --what products --dtype f32,f64,bf16 --subjects 'gemm/canonical,gemm/exact,cublas/gemm,cublas/gemm_16_8'
bench bench --rows 65536 --cols 16384 --iterations 15 --unverified
bench bench --rows 65536 --cols 16384 --dtype f16,bf16,f64 --subjects rows/exact,cub/segmented --iterations 15 --unverified
# rows/exact on 4 GiB of short rows.
for cols in 8 32 128 1024; do
  for bytes in 2:f16,bf16 4:f32 8:f64; do
    bench bench --rows $((2 ** 32 / ${bytes%%:*} / cols)) --cols $cols --dtype "${bytes#*:}" --subjects rows/exact --iterations 15 --unverified
  done
done
for data in normal full_range; do
  bench bench --generator $data --dtype f32,f64,f16,bf16 --n 1e8,1e9 --subjects "$one_row" --iterations 31
  bench bench --generator $data --n 2^32 --subjects "$one_row" --iterations 15 --unverified
done
exit "$first"
