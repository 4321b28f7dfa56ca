#!/usr/bin/env bash
# compare-last.sh: holds a GPU job's results against the last job's on the same model of GPU: whoever promises the same bits in every
# run must have them in the next job too.
#   ci/compare-last.sh FOLDER LAST_FOLDER [BUILD_DIR]
# Both folders hold verify*.jsonl, as ci/gpu.sh leaves them. FOLDER receives last-verify*.jsonl, a verdict each (claim run_to_run), for
# ci/report.sh, and last-verify*.txt, what was printed: what changed of the machine, too. Exit codes: 0 all held; 1 different bits: of a
# changed kernel, driver or library, or a defect; 77 there is no last record to compare with; else the first failure's.
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
