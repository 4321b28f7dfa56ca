/* bench_figures.c: what timed runs amount to, and when that can't be. Needs no GPU. */
#include <math.h>

#include "bench.h"

/* The q quantile of n > 0 sorted seconds. */
static double quantile(const double *sorted, size_t n, double q) { return sorted[(size_t)lround(q * (double)(n - 1))]; }

void fold_bench_figures(struct fold_timing *t, const double *sorted, size_t n, double ceiling) {
  t->median = quantile(sorted, n, 0.5);
  t->p10 = quantile(sorted, n, 0.1);
  t->p90 = quantile(sorted, n, 0.9);
  t->bytes_per_second = t->bytes / t->median;
  t->of_ceiling = t->bytes_per_second / ceiling;
  /* Both are medians of one run: what lies above by no more than the subject's own spread is the ceiling itself. NaN is
   * no figure to believe. */
  t->implausible = !(t->bytes / t->p90 <= ceiling);
}
