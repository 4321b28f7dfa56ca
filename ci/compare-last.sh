#!/usr/bin/env bash
# compare-last.sh: compares a GPU job's results with the last job's on the same model of GPU: a subject that promises the same bits in
# every run must also have them in the next job.
#   ci/compare-last.sh FOLDER LAST_FOLDER [BUILD_DIR]
# Both folders hold verify*.jsonl, as ci/gpu.sh leaves them. FOLDER receives last-verify*.jsonl, with a record of each verdict (claim
# run_to_run) for ci/report.sh, and last-verify*.txt, what was printed, including changes of the machine. Exit codes: 0 all held; 1
# different bits, because a kernel, driver or library changed, or by a defect; 77 there is no last record; else the first failure's.
set -euo pipefail
[[ $# -ge 2 && $# -le 3 ]] || { echo "usage: ci/compare-last.sh FOLDER LAST_FOLDER [BUILD_DIR]" >&2; exit 2; }
last=$(realpath -m "$2")
. "$(dirname "$0")/parts.sh"
open_folder "$1"
foldproof=${3:-build-gpu}/foldproof
judged=0
for now in "$folder"/verify*.jsonl; do
  name=$(basename "$now" .jsonl)
  [ -s "$now" ] && [ -s "$last/$name.jsonl" ] || continue
  before=$first
  record "last-$name" "$foldproof" compare --claim run_to_run "$last/$name.jsonl" "$now"
  if [ $first = 77 ]; then first=$before; else judged=1; fi
done
[ $judged = 1 ] || { echo "compare-last: skipped: $last and $folder have nothing in common that can be judged" >&2; exit 77; }
exit $first
