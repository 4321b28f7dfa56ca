/* bench/absent.c: takes the place of the bench's CUDA part in a build without CUDA, and reports that it is missing. */
#include "bench/race.h"

static fold_status absent(void) { return fold_error(FOLD_UNSUPPORTED, "this build has no CUDA"); }

fold_status fold_bench_ceiling(size_t nbytes, unsigned iterations, struct fold_ceiling *ceiling, const char **shape) {
  (void)nbytes, (void)iterations, (void)ceiling, (void)shape;
  return absent();
}

fold_status fold_bench_race_ready(enum fold_engine engine) { return (void)engine, absent(); }

fold_status fold_bench_race(const struct fold_bench_options *options, const struct fold_bench_shape *shape,
                            const struct fold_ceiling *ceiling, struct fold_timing *timing, size_t n,
                            const volatile int *stop) {
  (void)options, (void)shape, (void)ceiling, (void)timing, (void)n, (void)stop;
  return absent();
}
