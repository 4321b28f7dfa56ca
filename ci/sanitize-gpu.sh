#!/usr/bin/env bash
# sanitize-gpu.sh: runs compute-sanitizer's memcheck, racecheck, initcheck and synccheck on every CUDA kernel.
#   ci/sanitize-gpu.sh [--mutants] [BUILD_DIR [LOG_DIR]]
# The fixtures are tests/gpu/sanitize/*.ini. Prints tool x selection x result. Exit codes: 0 clean; 1 a finding; 77 no GPU or no
# compute-sanitizer (99 if FOLDPROOF_REQUIRE_GPUS requires a GPU); 99 a run that failed by itself.
# TOOLS chooses among the four tools.
# --mutants runs the tools on subjects that are broken on purpose. Each must be found, which shows that this script can fail.
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/required-gpus.sh
require_gpus 0
mutants=false
if [ "${1:-}" = --mutants ]; then
  mutants=true
  shift
fi
build=${1:-build}
logs=${2:-$build/sanitize-gpu}
foldproof=$build/foldproof

skip() {
  echo "sanitize-gpu: skipped: $1"
  [ "$FOLDPROOF_REQUIRE_GPUS" = 0 ] || exit 99
  exit 77
}
[ -x "$foldproof" ] || { echo "sanitize-gpu: $foldproof is not built" >&2; exit 99; }
tool=$(command -v compute-sanitizer || true)
[ -n "$tool" ] || [ ! -x /usr/local/cuda/bin/compute-sanitizer ] || tool=/usr/local/cuda/bin/compute-sanitizer
[ -n "$tool" ] || skip "no compute-sanitizer here"
probe=$("$foldproof" verify --in-process --engine cuda --subjects rows/single_for --fixture-folder tests/gpu/sanitize \
  --fixtures 'row/f32/sum/1x33/*' --claims writes_output 2>&1) && code=0 || code=$?
[ "$code" != 77 ] || skip "$(grep -m1 -o 'no GPU here.*' <<<"$probe" || echo 'no GPU here')"
[ "$code" = 0 ] || { echo "$probe" >&2; exit 99; }
mkdir -p "$logs"
worst=0

# Runs one tool on one selection. The tool's findings are in its summary; foldproof's own verdict counts too, and a log without
# a summary is not clean. `expect` is clean or found.
sanitize() {
  local expect=$1 check=$2 name=$3 program=$4 log=$logs/$2-$3.log start=$SECONDS code=0 summary result
  shift 4
  "$tool" --tool "$check" --target-processes all --error-exitcode 86 --log-file "$log" "$program" "$@" \
    >"$logs/$check-$name.out" 2>&1 || code=$?
  summary=$(grep -E '(ERROR|RACECHECK) SUMMARY' "$log" | tail -n 1 | sed 's/^=* *//' || true)
  if [ -z "$summary" ]; then
    result="no summary, exit code $code"
    worst=99
  elif grep -qE 'SUMMARY: 0 (errors|hazards)' <<<"$summary"; then
    result=clean
    [ "$code" = 0 ] || result="clean, but foldproof's exit code is $code"
    [ "$expect" = clean ] && [ "$code" = 0 ] || worst=$((worst > 1 ? worst : 1))
  else
    result="found: ${summary#*: }"
    [ "$expect" = found ] || worst=$((worst > 1 ? worst : 1))
  fi
  printf '%-10s %-20s %-6s %4d s  %s\n' "$check" "$name" "$expect" $((SECONDS - start)) "$result"
}

printf '%-10s %-20s %-6s %6s  %s\n' tool selection want time result
verify=(verify --in-process --engine cuda --fixture-folder tests/gpu/sanitize)
if $mutants; then
  broken=$build/tests/gpu/foldproof-gpu-mutants
  verify+=(--fixtures 'launches/f32/sum/1x4097/*' --claims writes_output)
  for check in memcheck racecheck initcheck synccheck; do
    sanitize clean $check sound "$broken" "${verify[@]}" --subjects 'mutant/*_sound'
  done
  sanitize found memcheck illegal "$broken" "${verify[@]}" --subjects mutant/illegal
  sanitize found racecheck missing_barrier "$broken" "${verify[@]}" --subjects mutant/missing_barrier
  sanitize found initcheck uninitialised "$broken" "${verify[@]}" --subjects mutant/uninitialised
  sanitize found synccheck divergent_barrier "$broken" "${verify[@]}" --subjects mutant/divergent_barrier
else
  for check in ${TOOLS:-memcheck racecheck initcheck synccheck}; do
    sanitize clean $check paths "$foldproof" "${verify[@]}" --subjects 'rows/*,flat/*' --fixtures paths \
      --claims writes_output
    sanitize clean $check launches "$foldproof" "${verify[@]}" --subjects 'rows/*,flat/*' --fixtures launches \
      --claims writes_output,launch_invariant,alignment_invariant
    sanitize clean $check spans "$foldproof" "${verify[@]}" --subjects 'flat/canonical,flat/shuffle,flat/exact' \
      --fixtures spans --claims writes_output,launch_invariant
    sanitize clean $check exact "$foldproof" "${verify[@]}" --subjects '*/exact' --fixtures exact \
      --claims writes_output,launch_invariant
    sanitize clean $check columns "$foldproof" "${verify[@]}" --subjects '*/exact' --fixtures columns --claims writes_output
    # Two warps lock a set of columns in turn. racecheck knows no locks and calls that a race.
    [ $check = racecheck ] || sanitize clean $check shared "$foldproof" "${verify[@]}" --subjects '*/exact' \
      --fixtures shared --claims writes_output,launch_invariant
    # States of the exact sum: no run of a subject uses them.
    sanitize clean $check states "$build/tests/gpu/test_gpu" --tap=- -j1 --filter 'gpu_states/all_of_it*'
    # The kernels by which ranks write into each other's memory, over ranks on this GPU. They keep nothing in shared
    # memory, so that racecheck checks only their barriers.
    for ranks in 3 8; do
      sanitize clean $check ranks_$ranks "$build/tests/gpu/foldproof-virtual-ranks" $ranks small 60
    done
    # The generators, and the reads that measure the bench's ceiling.
    sanitize clean $check bench "$foldproof" bench --n 1e5 --iterations 3 --dtype f16,f32,f64 --subjects flat/canonical
  done
fi
echo "sanitize-gpu: logs in $logs"
exit $worst
