/* host.h: the run functions of the host's subjects; only registry.c uses them. */
#ifndef FOLD_HOST_H
#define FOLD_HOST_H

#include "model/subject.h"

fold_run fold_host_ordered; /* the native replay of subject->order */
fold_run fold_host_determ;  /* the order of rows/par_256 by subject->width workers, a power of two up to 256 */
/* Sums by the subject's method; plain ones in its accumulator, which is f64 or the terms' dtype. */
fold_run fold_host_summed;
fold_run fold_host_blocked; /* products of matrices by tiles, in dot/sequential's order */
fold_run fold_host_keyed;
fold_run fold_host_asum;
fold_run fold_host_terms_exact; /* of any problem */
fold_run fold_host_scan;        /* plain or exact, by the method */
fold_run fold_host_scan_tiled, fold_host_scan_warps;

/* One addition in an accumulator of f32 or f64. */
static inline double fold_host_plus(enum fold_dtype accumulator, double a, double b) {
  return accumulator == FOLD_F32 ? (double)((float)a + (float)b) : a + b;
}

/* How many threads a call asks for. */
unsigned fold_host_threads(const struct fold_call *call);

/* Below this many elements a parallel region costs more than it saves. */
#define FOLD_HOST_SERIAL 65536

/* Reduces one row on `threads` threads. Returns the value before its rounding to the result. */
typedef double fold_host_row(const struct fold_subject *subject, const struct fold_call *call, const void *row,
                             unsigned threads);
/* Reduces each row of `call` by `run`: several rows at a time if there are enough of them, else each row on all
 * threads. */
void fold_host_rows(const struct fold_subject *subject, const struct fold_call *call, fold_host_row *run);

#endif
