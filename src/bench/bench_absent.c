/* bench_absent.c: the bench of a build without CUDA: it says so. */
#include "bench.h"

static fold_status absent(void) { return fold_error(FOLD_UNSUPPORTED, "this build has no CUDA"); }

/* Says so too where FOLDPROOF_REQUIRE_GPUS makes that a failure. */
fold_status fold_bench_ready(void) { return fold_engine_ready(FOLD_CUDA); }

fold_status fold_bench_ceiling(size_t nbytes, unsigned iterations, double *bytes_per_second, const char **shape) {
  (void)nbytes, (void)iterations, (void)bytes_per_second, (void)shape;
  return absent();
}

fold_status fold_bench_shape(const struct fold_registry *registry, const struct fold_bench_options *options,
                             const struct fold_bench_shape *shape, double ceiling, struct fold_timing *timing,
                             size_t *n, const volatile int *stop) {
  (void)registry, (void)options, (void)shape, (void)ceiling, (void)timing, (void)stop;
  *n = 0;
  return absent();
}
