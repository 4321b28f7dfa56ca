#!/bin/bash
# page-picture.sh FOLDPROOF OUT.png: a picture of the top of a report's page, from a real run of an example, as docs/images/report.png is.
#
# Needs cc and Chromium. The run is of the shared object library/examples/guest_rms_norm.c, one of whose subjects is refuted.
set -euo pipefail
foldproof=$(realpath "$1") out=$(realpath "$2") source=$(realpath "$(dirname "$0")/..")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export FOLDPROOF_FIXTURES=$source/fixtures
cc -shared -fPIC -O2 -I"$source/library" "$source/library/examples/guest_rms_norm.c" -o rms_norm.so
PATH=$(dirname "$foldproof"):$PATH
foldproof verify --guest ./rms_norm.so --fixtures 'batch/f32/sum/2049x1000/*,normal/f32/sum/3x*/*' --jsonl run.jsonl --quiet >verify.txt 2>&1 || [ $? = 1 ]
foldproof report run.jsonl -o page.html
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1000,890 --screenshot="$folder/page.png" "file://$folder/page.html" >chromium.txt 2>&1
mv page.png "$out"
