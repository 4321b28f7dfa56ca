/* ceiling.c: computes a ceiling from timed reads, and checks figures against it. */
#include "bench/ceiling.h"

#include "base/list.h"
#include "bench/bench.h"

bool fold_ceiling_take(struct fold_ceiling *ceiling, double n_bytes, double *seconds, size_t n) {
  fold_list_rise(seconds, n);
  double rate = n_bytes / fold_bench_quantile(seconds, n, 0.5), most = n_bytes / fold_bench_quantile(seconds, n, 0.1);
  if (most > ceiling->most) ceiling->most = most;
  if (!(rate > ceiling->rate)) return false;
  ceiling->rate = rate;
  return true;
}

bool fold_ceiling_allows(const struct fold_ceiling *ceiling, double n_bytes, double seconds) {
  return n_bytes / (seconds + ceiling->clock) <= ceiling->most * (1 + FOLD_CEILING_BETTER);
}
