/* bench/figures.c: computes figures from timed runs, and says which are implausible. Needs no GPU. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"

void fold_judged_count(struct fold_judged *j, const char *claim, const struct fold_finding *finding) {
  j->count[finding->verdict]++;
  if (finding->verdict != FOLD_HELD) snprintf(j->note, sizeof j->note, "%s: %.*s", claim, 150, finding->reason);
}

void fold_judged_take(void *judged, const struct fold_claim *claim, const struct fold_finding *finding) {
  fold_judged_count(judged, claim->name, finding);
}

bool fold_judged_may_run(const struct fold_judged *j) { return !j->count[FOLD_REFUTED] && !j->count[FOLD_BROKEN]; }

const char *fold_judged_verdict(const struct fold_judged *j) {
  if (fold_judged_may_run(j)) return j->count[FOLD_HELD] ? fold_verdict_name(FOLD_HELD) : "not judged";
  return fold_verdict_name(j->count[FOLD_REFUTED] ? FOLD_REFUTED : FOLD_BROKEN);
}

double fold_bench_quantile(const double *sorted, size_t n, double q) {
  return sorted[(size_t)lround(q * (double)(n - 1))];
}

void fold_bench_figures(struct fold_timing *t, const double *sorted, size_t n, const struct fold_ceiling *ceiling) {
  t->median = fold_bench_quantile(sorted, n, 0.5);
  t->p10 = fold_bench_quantile(sorted, n, 0.1);
  t->p90 = fold_bench_quantile(sorted, n, 0.9);
  t->bytes_per_second = t->bytes / t->median;
  t->of_ceiling = t->bytes_per_second / ceiling->rate;
  /* A rate above the ceiling by no more than both spreads counts as the ceiling itself. NaN is implausible. */
  t->implausible = !fold_ceiling_allows(ceiling, t->bytes, t->p90);
}
