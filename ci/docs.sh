#!/bin/sh
# docs.sh: generates pages of docs/: records.md from the table of records, measured.md and case-study.md from the records in ci/measured.
#
#   ci/docs.sh           writes them
#   ci/docs.sh --check   says what would change, and fails if anything would
set -eu
cd "$(dirname "$0")/.."
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
changed=0
for page in records measured case-study; do
  python3 -B "ci/docs_$(echo $page | tr - _).py" . >"$made/$page.md"
  if [ "${1-}" = --check ]; then
    diff -u "docs/$page.md" "$made/$page.md" || changed=1
  else
    cp "$made/$page.md" "docs/$page.md"
  fi
done
exit $changed
