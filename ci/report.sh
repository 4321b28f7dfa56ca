#!/usr/bin/env bash
# report.sh: what a CI job shows of its records: report.html, junit.xml and summary.md beside them; the summary goes to
# $GITHUB_STEP_SUMMARY too, where that is set.
#   ci/report.sh FOLDER [BUILD_DIR]
# FOLDER holds *.jsonl, as ci/gpu.sh leaves them. Without a record there is a summary that says so. The exit code tells
# whether the reports were written, not what the verdicts are.
set -euo pipefail
[[ $# -ge 1 && $# -le 2 ]] || { echo "usage: ci/report.sh FOLDER [BUILD_DIR]" >&2; exit 2; }
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
foldproof=${2:-build-gpu}/foldproof
shopt -s nullglob
records=("$folder"/*.jsonl)
code=0
if [ ${#records[@]} = 0 ] || [ ! -x "$foldproof" ]; then
  printf '## foldproof: nothing was judged\n\nThere are no records: see the log of the job.\n' >"$folder/summary.md"
else
  "$foldproof" report "${records[@]}" -o "$folder/report.html" || code=$?
  "$foldproof" report --format junit "${records[@]}" -o "$folder/junit.xml" || code=$?
  "$foldproof" report --format markdown "${records[@]}" -o "$folder/summary.md" || code=$?
fi
[ ! -e "$folder/summary.md" ] || [ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat "$folder/summary.md" >>"$GITHUB_STEP_SUMMARY"
exit $code
