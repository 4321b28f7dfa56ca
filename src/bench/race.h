/* bench/race.h: the timing loops on a CUDA device and on the host, after their subjects were judged. Private to the bench. */
#ifndef FOLD_BENCH_RACE_H
#define FOLD_BENCH_RACE_H

#include "bench/bench.h"

/* Times the subjects of timing[n] in turn and fills in the figures. Those that a judge refuted or found broken, and
 * those that can't run here, are left out; the latter get a note. */
fold_status fold_bench_race_ready(enum fold_engine engine);
fold_status fold_bench_race(const struct fold_bench_options *options, const struct fold_bench_shape *shape,
                            const struct fold_ceiling *ceiling, struct fold_timing *timing, size_t n,
                            const volatile int *stop);

/* Times the subjects of timing[n] with options->threads threads. All take turns with plain reads of the same
 * inputs, the best of which is the ceiling. */
fold_status fold_bench_host_race(const struct fold_bench_options *options, const struct fold_bench_shape *shape,
                                 const struct fold_ceiling *none, struct fold_timing *timing, size_t n,
                                 const volatile int *stop);

#endif
