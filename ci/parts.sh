# shellcheck shell=bash
# parts.sh: sourced by the scripts that keep measurements of a runner with GPUs: they have a folder of records, and parts that all
# run. It is not run by itself; its caller has `set -euo pipefail`.

# open_folder FOLDER: makes it, sets $folder to its path, and changes to the root of the source tree.
open_folder() {
  mkdir -p "$1"
  folder=$(cd "$1" && pwd)
  cd "$(dirname "${BASH_SOURCE[0]}")/.."
}

# keep NAME COMMAND...: runs the command and keeps its output in NAME.txt. $first is the exit code of the first part
# that failed, whatever later parts do.
first=0
keep() {
  local name=$1 code=0
  shift
  echo "== $name"
  "$@" 2>&1 | tee "$folder/$name.txt" || code=$?
  [ $code = 0 ] || echo "== $name: exit code $code"
  [ $first != 0 ] || first=$code
}

# record NAME COMMAND...: the same for a command that writes records; they go to NAME.jsonl.
record() {
  local name=$1
  shift
  keep "$name" "$@" --jsonl "$folder/$name.jsonl"
}

# optional COMMAND...: a part (keep, record) that may be skipped: exit code 77 is no failure.
optional() {
  local before=$first
  "$@"
  [ $first != 77 ] || first=$before
}
