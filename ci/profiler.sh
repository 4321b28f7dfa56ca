# shellcheck shell=bash
# profiler.sh: sourced by the scripts that run the CUDA subjects under one of Nsight's profilers and keep a table. It is not run by itself;
# its caller has `set -euo pipefail`.
. "$(dirname "${BASH_SOURCE[0]}")/parts.sh"
. "$(dirname "${BASH_SOURCE[0]}")/required-gpus.sh"

# leave CODE WORDS: prints the words and ends the script.
leave() {
  echo "$script: $2" >&2
  exit "$1"
}

# open_profiler NAME COMMAND [OVERRIDE] -- FOLDER [BUILD_DIR]: begins such a script. Sets $folder (with raw/ in it),
# $foldproof, $subjects (those on CUDA) and $profiler (OVERRIDE unless it is empty), or ends the script.
open_profiler() {
  script=$(basename "$0" .sh)
  local name=$1 command=$2 override=$3
  shift 4
  [[ $# -ge 1 && $# -le 2 ]] || { echo "usage: ci/$script.sh FOLDER [BUILD_DIR]" >&2; exit 2; }
  require_gpus 0
  open_folder "$1"
  mkdir -p "$folder/raw"
  foldproof=${2:-build}/foldproof
  export LC_ALL=C
  [ -x "$foldproof" ] || leave 99 "$foldproof is not built"
  subjects=$("$foldproof" list subjects | awk '$2 == "cuda" { print $1 }')
  [ -n "$subjects" ] || leave $((FOLDPROOF_REQUIRE_GPUS > 0 ? 99 : 77)) "skipped: this build has no CUDA"
  profiler=${override:-$(command -v "$command" || echo "/usr/local/cuda/bin/$command")}
  command -v "$profiler" >/dev/null || leave 77 "skipped: no $name ($command) here"
  manifest=$folder/raw/manifest.tsv
  : >"$manifest"
}

# each_subject GLOBS COMMAND: calls the command with each of $subjects that matches one of the globs; at least one must match.
each_subject() {
  local globs glob subject wanted chosen=0
  IFS=, read -ra globs <<<"$1"
  while read -r subject; do
    wanted=false
    # shellcheck disable=SC2053
    for glob in "${globs[@]}"; do [[ $subject != $glob ]] || wanted=true; done
    $wanted || continue
    chosen=$((chosen + 1))
    "$2" "$subject" </dev/null
  done <<<"$subjects"
  [ $chosen -gt 0 ] || leave 2 "no CUDA subject matches '$1'"
}

# put_table NAME VERSION TEXT WHAT: writes the machine, the profiler's version and a line of text above the table, makes WHAT.txt and
# WHAT.csv from raw/, and ends with the exit code of the table's script.
put_table() {
  local code=0
  {
    "$foldproof" env | grep -E '^(system|gpu0\.(name|driver|runtime_cuda)) '
    printf '%-20s %s\n' "$1" "$2"
    echo "$3"
  } >"$folder/raw/head.txt"
  python3 -B "ci/$4-table.py" "$folder/raw" "$folder/$4.csv" >"$folder/$4.txt" || code=$?
  cat "$folder/$4.txt"
  exit $code
}
