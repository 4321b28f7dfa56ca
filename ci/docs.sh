#!/bin/sh
# docs.sh: generates pages of docs/: records.md from the table of records, measured.md and case-study.md from the records in ci/measured;
# and README's pictures.
#
#   ci/docs.sh           writes them
#   ci/docs.sh --check   says what would change, and fails if anything would
set -eu
cd "$(dirname "$0")/.."
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
mkdir "$made/images"
for page in records measured case-study; do python3 -B "ci/docs_$(echo $page | tr - _).py" . >"$made/$page.md"; done
for picture in refutation badges; do python3 -B ci/docs_pictures.py . $picture >"$made/images/$picture.svg"; done
changed=0
for path in "$made"/*.md "$made"/images/*.svg; do
  kept=docs/${path#"$made/"}
  if [ "${1-}" = --check ]; then
    diff -u "$kept" "$path" || changed=1
  else
    cp "$path" "$kept"
  fi
done
exit $changed
