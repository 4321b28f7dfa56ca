#!/usr/bin/env bash
# profile-gpu.sh: runs Nsight Compute on every kernel that the CUDA subjects launch: duration, bandwidth, occupancy, registers,
# and what its warps wait for.
#   ci/profile-gpu.sh FOLDER [BUILD_DIR]
# FOLDER receives profile.txt (the table), profile.csv (what ncu measured, a line a kernel) and raw/ (what ncu wrote).
# Each subject runs once, in a process of its own, on a long row or on many rows; only kernels are profiled. SUBJECTS
# chooses among them (globs), N, ROWS, COLS, DTYPE, GENERATOR the inputs, NCU the profiler.
# Exit codes: 0 all profiled; 77 no ncu, no GPU, or this user may not read its counters, with the reason (no GPU is 99
# if FOLDPROOF_REQUIRE_GPUS requires one); 99 some subject could not be profiled; 2 wrong usage.
set -euo pipefail
. "$(dirname "$0")/profiler.sh"
open_profiler "Nsight Compute" ncu "${NCU:-}" -- "$@"

fixtures=$(mktemp -d)
trap 'rm -rf "$fixtures"' EXIT
n=${N:-100000000} rows=${ROWS:-16384} cols=${COLS:-16384} dtype=${DTYPE:-f32} generator=${GENERATOR:-normal}
fixture() {
  printf '[%s]\ngenerator = %s\ndtype = %s\n%s\n' "$1" "$2" "$3" "$4" >"$fixtures/$1.ini"
}
fixture probe uniform f32 'n = 33'
fixture flat "$generator" "$dtype" "n = $n"
fixture rows "$generator" "$dtype" "rows = $rows"$'\n'"cols = $cols"
once=("$foldproof" record --in-process --engine cuda --fixture-folder "$fixtures")

"${once[@]}" --subjects rows/single_for --fixtures probe --jsonl "$folder/raw/probe.jsonl" >"$folder/raw/probe.out" 2>&1 &&
  code=0 || code=$?
[ "$code" != 77 ] || leave 77 "skipped: $(grep -m1 -o '"reason":"[^"]*' "$folder/raw/probe.jsonl" | cut -d'"' -f4)"
[ "$code" = 0 ] || leave "$code" "$(cat "$folder/raw/probe.out" "$folder/raw/probe.jsonl" | tail -n 1)"

# Metrics by raw names in base units, so that the table does not depend on the headings of a version. DRAM's figures by name; the
# sections give launch and occupancy, and the stall reasons of any chip.
metrics=gpu__time_duration.sum,dram__bytes_read.sum,dram__bytes_write.sum
metrics+=,dram__throughput.avg.pct_of_peak_sustained_elapsed,sm__throughput.avg.pct_of_peak_sustained_elapsed
profile() {
  "$profiler" --clock-control none --csv --page raw --print-units base --print-kernel-base demangled --launch-count 16 \
    --section LaunchStats --section Occupancy --section WarpStateStats --metrics "$metrics" \
    --log-file "$folder/raw/$3.csv" -f \
    "${once[@]}" --subjects "$1" --fixtures "$2" --jsonl "$folder/raw/$3.jsonl" >"$folder/raw/$3.out" 2>&1
}

add() {
  local subject=$1 input=$2 name code=0
  name=$(tr -c 'a-z0-9\n' _ <<<"$subject-$input")
  profile "$subject" "$input" "$name" || code=$?
  if grep -q ERR_NVGPUCTRPERM "$folder/raw/$name.csv" "$folder/raw/$name.out"; then
    leave 77 "skipped: the GPU's performance counters are closed to this user (ERR_NVGPUCTRPERM)"
  fi
  [ "$code" = 0 ] || [ "$code" = 77 ] || echo "profile-gpu: $subject on $input: exit code $code" >&2
  printf '%s\t%s\t%s\t%s\n' "$subject" "$input" "$name" "$code" >>"$manifest"
}

# The shapes are those of `foldproof bench`: subjects for many rows get many rows, the others one long row.
add_shapes() {
  case $1 in
    rows/* | cub/segmented*) add "$1" rows ;;
    flat/canonical) add "$1" flat && add "$1" rows ;;
    *) add "$1" flat ;;
  esac
}
each_subject "${SUBJECTS:-*}" add_shapes
put_table "Nsight Compute" "$("$profiler" --version | grep -o 'Version.*' | cut -d' ' -f2-)" \
  "flat: one row of $n $dtype; rows: $rows x $cols; data: $generator. Clocks as they were (--clock-control none)." profile
