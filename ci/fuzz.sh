#!/usr/bin/env bash
# fuzz.sh: builds the fuzz targets of tests/fuzz/ with Clang's libFuzzer, ASan and UBSan, and runs each for FUZZ_SECONDS (60).
#   ci/fuzz.sh [TARGET...]
# Each starts from the samples in tests/fuzz/TARGET/. Findings and corpora are left in build-fuzz/.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- npy ini records wire library table
export CC=clang ASAN_OPTIONS=detect_leaks=1:intercept_tls_get_addr=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
ci/setup.sh build-fuzz -Dcuda=disabled -Dmpi=disabled -Dtests=disabled -Doptimization=1 -Db_sanitize=address,undefined \
  -Db_lundef=false -Dc_args=-fsanitize=fuzzer-no-link
for name in "$@"; do
  clang -std=gnu17 -D_GNU_SOURCE -DFOLD_VERSION='"fuzz"' -g -O1 -Werror -fopenmp -ffp-contract=off -fsanitize=fuzzer,address,undefined \
    -I. -Isrc -Ilibrary "tests/fuzz/fuzz_$name.c" build-fuzz/library/libfoldproof.so*.p/*.o -Wl,--start-group build-fuzz/lib*.a -Wl,--end-group -linih -ljansson -lxxhash -lmpfr -lgmp -lm -o "build-fuzz/fuzz_$name"
  mkdir -p "build-fuzz/corpus_$name"
  samples=()
  [ ! -d "tests/fuzz/$name" ] || samples+=("tests/fuzz/$name")
  "build-fuzz/fuzz_$name" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=20 -artifact_prefix=build-fuzz/ \
    "build-fuzz/corpus_$name" ${samples[@]+"${samples[@]}"}
done
