#!/usr/bin/env bash
# test.sh: installs what is missing, builds, and runs the suites by `meson test`.
#   ci/test.sh [--sanitize] [--clang] [--opencl] [--build | MESON_TEST_OPTION...]
#   ci/test.sh --fuzz [TARGET...]: see ci/fuzz.sh
# Suites that wait for processes leave cores to others, so two more suites than cores run at once; no verdict depends on how long
# a suite takes. --build ends before the suites.
# --sanitize builds build-sanitize/ with ASan and UBSan, host only, at -O1 -g1, which halves the compiler's time and adds a tenth to
# the suites'; --clang builds build-clang/ with Clang, host only, and runs, unless suites are named, those that start no ranks.
# --opencl builds build-opencl/ with the kernel for OpenCL devices, installs PoCL, which has one on any CPU, and runs suite opencl;
# after --clang it adds that kernel and that suite to Clang's.
set -euo pipefail
cd "$(dirname "$0")/.."
[ "${1:-}" != --fuzz ] || exec ci/fuzz.sh "${@:2}"
build=build
options=()
suites=() # of those that are run where none is named; empty: all
[ -z "${CI:-}" ] || options+=(-Dwerror=true)
while :; do
  case "${1:-}" in
    --sanitize)
      build=build-sanitize
      # Instrumented code causes warnings of its own (gcc, -fsanitize); the other builds decide about warnings.
      options=(-Db_sanitize=address,undefined -Db_lundef=false -Dcuda=disabled -Doptimization=1 -Ddebug=false -Dc_args=-g1)
      # A leak in a test of Criterion's is reported when nobody reads its messages or its exit code any more: so to a file, by the process's name.
      reports=$PWD/$build/reports
      # Before gcc 14 and LLVM 17 the search for leaks can crash on thread-local memory of a loaded library (github.com/google/sanitizers/issues/1322):
      # so intercept_tls_get_addr=0.
      export ASAN_OPTIONS=detect_leaks=1:intercept_tls_get_addr=0:abort_on_error=0:log_exe_name=1:log_path=$reports/of
      export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
      ;;
    --clang)
      build=build-clang
      export CC=clang
      options+=(-Dcuda=disabled)
      suites+=(bits orders host npy text fixtures generators super super_split super_round exact product bound rig judge combine library)
      ;;
    --opencl)
      options+=(-Dopencl=enabled)
      suites+=(opencl)
      if [ $build = build ]; then
        build=build-opencl
        options+=(-Dcuda=disabled -Dmpi=disabled -Dtests=disabled)
      fi
      ;;
    *) break ;;
  esac
  shift
done
[ $# -gt 0 ] || [ ${#suites[@]} = 0 ] || set -- "${suites[@]}"
# Collectives run on ranks that mpirun starts. Open MPI's mpirun refuses root, the user in containers, unless it is told twice.
[ "$(id -u)" != 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
ci/setup.sh "$build" ${options[@]+"${options[@]}"}
[ "${1:-}" != --build ] || exit 0
run() {
  local code=0
  rm -f "$build/meson-logs/testlog.json" # of an earlier run
  meson test -C "$build" --print-errorlogs --num-processes $(($(nproc) + 2)) "$@" || code=$?
  [ $code = 0 ] || ci/failed.py "$build"
  return $code
}
[ "$build" = build-sanitize ] || { run "$@"; exit; }
rm -rf "$reports"
mkdir "$reports"
code=0
run "$@" || code=$?
! grep -l "detected memory leaks" "$reports"/of.boxfort-worker.* 2>/dev/null || code=1
[ $code = 0 ] || tail -n +1 "$reports"/of.* 2>/dev/null || true
exit $code
