#!/usr/bin/env bash
# timeline-gpu.sh: runs Nsight Systems on the CUDA subjects: for each kernel its share of the GPU's time, count, mean, median, min, max and
# standard deviation over many launches.
#   ci/timeline-gpu.sh FOLDER [BUILD_DIR]
# FOLDER receives timeline.txt (the table), timeline.csv (the same figures) and raw/, which has each subject's timeline (NAME.nsys-rep,
# for Nsight's window). Each subject is timed by `foldproof bench` in a process of its own, so that kernels of the same name can be
# told apart; it is not judged here. SUBJECTS chooses among them (rows/*: globs), ROWS and COLS (4, 16384), DTYPE (f32), ITERATIONS
# (100) the runs, NSYS the profiler.
# Exit codes: 0 all have their kernels; 77 no nsys, one that writes no timeline, or no GPU, with the reason (no GPU is 99 where
# FOLDPROOF_REQUIRE_GPUS requires one); 99 some subject has none; 2 wrong usage.
set -euo pipefail
. "$(dirname "$0")/profiler.sh"
open_profiler "Nsight Systems" nsys "${NSYS:-}" -- "$@"

rows=${ROWS:-4} cols=${COLS:-16384} dtype=${DTYPE:-f32} iterations=${ITERATIONS:-100}
timed=("$foldproof" bench --unverified --rows "$rows" --cols "$cols" --dtype "$dtype" --iterations "$iterations")
"${timed[@]}" --subjects "$(head -n 1 <<<"$subjects")" >"$folder/raw/probe.out" 2>&1 && code=0 || code=$?
[ "$code" != 77 ] || leave 77 "skipped: $(tail -n 1 "$folder/raw/probe.out")"
[ "$code" = 0 ] || leave "$code" "$(tail -n 1 "$folder/raw/probe.out")"

add() {
  local subject=$1 name code=0
  name=$(tr -c 'a-z0-9\n' _ <<<"$subject")
  rm -f "$folder/raw/$name".*
  "$profiler" profile --trace=cuda --cuda-graph-trace=node --sample=none --cpuctxsw=none --force-overwrite=true --output="$folder/raw/$name" \
    "${timed[@]}" --subjects "$subject" --jsonl "$folder/raw/$name.jsonl" >"$folder/raw/$name.out" 2>&1 || code=$?
  # It was timed, but without a timeline: the tool cannot write one here.
  if [ -s "$folder/raw/$name.jsonl" ] && [ ! -s "$folder/raw/$name.nsys-rep" ]; then
    leave 77 "skipped: nsys wrote no timeline: $(tail -n 1 "$folder/raw/$name.out")"
  fi
  [ ! -s "$folder/raw/$name.nsys-rep" ] ||
    "$profiler" stats --report cuda_gpu_kern_sum --format csv --force-export=true "$folder/raw/$name.nsys-rep" >"$folder/raw/$name.csv" \
      2>>"$folder/raw/$name.out" || code=$?
  printf '%s\t%s\t%s\n' "$subject" "$name" "$code" >>"$manifest"
}

each_subject "${SUBJECTS:-rows/*}" add
put_table "Nsight Systems" "$("$profiler" --version | grep -o '[0-9][0-9.]*[0-9]' | head -n 1)" \
  "$rows x $cols $dtype, $iterations timed runs of each subject and those that warm it." timeline
