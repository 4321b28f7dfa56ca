#!/usr/bin/env bash
# report.sh: shows a CI job's records: writes report.html, junit.xml and summary.md beside them; the summary also goes to
# $GITHUB_STEP_SUMMARY if that is set.
#   ci/report.sh FOLDER [BUILD_DIR]
# FOLDER holds *.jsonl, as ci/gpu.sh leaves them; BUILD_DIR has foldproof (build-gpu, else build). Without a record, or without foldproof, there is a summary that says so. The exit code tells whether the reports were written, not what the verdicts are: 99
# where there are records and no foldproof.
set -euo pipefail
[[ $# -ge 1 && $# -le 2 ]] || { echo "usage: ci/report.sh FOLDER [BUILD_DIR]" >&2; exit 2; }
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
foldproof=${2:-build-gpu}/foldproof
[ $# -ge 2 ] || [ -x "$foldproof" ] || foldproof=build/foldproof
shopt -s nullglob
records=("$folder"/*.jsonl)
code=0
if [ ${#records[@]} = 0 ]; then
  printf '## foldproof: nothing was judged\n\nThere are no records: see the log of the job.\n' >"$folder/summary.md"
elif [ ! -x "$foldproof" ]; then
  printf '## foldproof: no report\n\nThere are records, but %s was not built: see the log of the job.\n' "$foldproof" >"$folder/summary.md"
  echo "report: $foldproof is not built" >&2
  code=99
else
  "$foldproof" report "${records[@]}" -o "$folder/report.html" || code=$?
  "$foldproof" report --format junit "${records[@]}" -o "$folder/junit.xml" || code=$?
  "$foldproof" report --format markdown "${records[@]}" -o "$folder/summary.md" || code=$?
fi
# What compare-last.sh printed: which results changed, and what changed of the machine. It is indented, so that Markdown takes it as text.
changes=("$folder"/last-*.txt)
if [ ${#changes[@]} -gt 0 ]; then
  { printf '\n**Against the last job**\n\n'; tail -q -n 40 "${changes[@]}" | sed 's/^/    /'; } >>"$folder/summary.md"
fi
[ ! -e "$folder/summary.md" ] || [ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat "$folder/summary.md" >>"$GITHUB_STEP_SUMMARY"
exit $code
