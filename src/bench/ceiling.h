/* ceiling.h: how fast memory can be read, and which figures are faster than that allows. Needs no GPU.
 *
 * The ceiling is measured by plain reads in several shapes, in turn. Its rate is the median of the best shape; figures are compared with
 * that. Its spread serves as a margin: `most` is the rate of the faster reads (the fastest tenth) of any shape. A subject did not read its
 * input only if even its slower runs are faster than `most`, by more than the clock's error and a hundredth: another kernel may read in
 * a better sequence than any of ours. (On an H100 two of the tuned row kernels read 0.15% faster than the faster of our reads.)
 */
#ifndef FOLD_CEILING_H
#define FOLD_CEILING_H

#include <stdbool.h>
#include <stddef.h>

#include "model/subject.h"

/* What a GPU multiplies with; zeros: not known. */
struct fold_units {
  int major, minor, sms; /* compute capability, multiprocessors */
  double hertz;          /* their highest clock */
};

struct fold_ceiling {
  double rate, most; /* bytes a second; 0 before any read, NaN where it is not known */
  double clock;      /* seconds by which a time may be off */
  struct fold_units units;
};

/* The time between two CUDA events is right to half a microsecond (cudaEventElapsedTime, CUDA Runtime API). */
#define FOLD_CEILING_EVENTS 0.5e-6

/* By how much of `most` a kernel may be faster. */
#define FOLD_CEILING_BETTER 0.01

/* Adds n > 0 reads of n_bytes each in one shape, and sorts their seconds. Returns whether it is the best shape so
 * far. */
bool fold_ceiling_take(struct fold_ceiling *ceiling, double n_bytes, double *seconds, size_t n);
/* Whether so many bytes can be read in so many seconds; false for NaN. */
bool fold_ceiling_allows(const struct fold_ceiling *ceiling, double n_bytes, double seconds);
/* How many multiplications and additions a second the fastest of these units have for a subject's terms; NaN: not known. */
double fold_units_flop(const struct fold_units *units, const struct fold_subject *subject, enum fold_dtype dtype);

#endif
