#!/usr/bin/env bash
# fuzz.sh: compiles the fuzz targets of tests/fuzz/ with Clang's libFuzzer, ASan and UBSan, and runs each for FUZZ_SECONDS (60).
#   ci/fuzz.sh [TARGET...]
# Needs clang and libclang-rt-dev. What is found lies in build-fuzz/, with the corpora.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p build-fuzz
[ $# -gt 0 ] || set -- npy ini
common=(src/fold.c src/text.c src/line.c)
declare -A sources=(
  [npy]="fixtures/npy.c"
  [ini]="fixtures/npy.c fixtures/section.c fixtures/family.c fixtures/expand.c fixtures/fixture.c fixtures/number.c fixtures/condition.c fixtures/generators.c src/bits.c src/near.c"
)
for name in "$@"; do
  # shellcheck disable=SC2086
  clang -std=gnu17 -D_GNU_SOURCE -DFOLD_VERSION='"fuzz"' -g -O1 -fopenmp -ffp-contract=off -fsanitize=fuzzer,address,undefined \
    -Isrc -Isrc/run -Isrc/judge -Isrc/world -Isrc/report -Ifixtures -Ioracles -Ikernels "tests/fuzz/fuzz_$name.c" \
    ${sources[$name]} "${common[@]}" -linih -ljansson -lxxhash -lmpfr -lgmp -lm -o "build-fuzz/fuzz_$name"
  mkdir -p "build-fuzz/corpus_$name"
  "build-fuzz/fuzz_$name" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=20 -artifact_prefix=build-fuzz/ "build-fuzz/corpus_$name"
done
