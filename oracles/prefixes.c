/* prefixes.c: see prefixes.h. */
#include "oracles/prefixes.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "oracles/truth.h"

static void restart(struct fold_prefixes *p) {
  p->n = 0;
  memset(&p->sum, 0, sizeof p->sum);
  memset(&p->abs, 0, sizeof p->abs);
  p->lowest = FOLD_NO_BIT;
}

fold_status fold_prefixes_open(struct fold_prefixes *p, const struct fold_terms *row) {
  restart(p);
  return fold_terms_line(row, &p->line, &p->room);
}

void fold_prefixes_close(struct fold_prefixes *p) { free(p->room); }

/* The greatest or least of the terms so far, and of n more. */
static uint64_t extreme_with(const struct fold_prefixes *p, const void *more, size_t n) {
  const enum fold_dtype dtype = p->line.dtype;
  uint64_t two[2];
  const uint64_t bits = fold_extreme(dtype, p->line.op, more, n);
  if (p->n == 0) return bits;
  fold_bits_store(dtype, two, 0, p->extreme);
  fold_bits_store(dtype, two, 1, bits);
  return fold_extreme(dtype, p->line.op, two, 2);
}

static void add(struct fold_prefixes *p, size_t n) {
  const enum fold_dtype dtype = p->line.dtype;
  const void *more = (const unsigned char *)p->line.factor[0] + p->n * fold_dtype_size(dtype);
  fold_super_add(dtype, more, n, &p->sum, &p->abs);
  if (p->line.op == FOLD_SUM) {
    const long lowest = fold_lowest_bit(dtype, more, n, 1);
    if (lowest < p->lowest) p->lowest = lowest;
  } else {
    p->extreme = extreme_with(p, more, n);
  }
  p->n += n;
}

fold_status fold_prefixes_truth(struct fold_prefixes *p, size_t n, struct fold_truth *truth) {
  struct fold_terms prefix = p->line;
  prefix.n = n;
  if (prefix.factors > 1 || prefix.op == FOLD_PROD) return fold_oracle_terms(&prefix, 0, truth);
  FOLD_TRY(fold_truth_start_terms(truth, &prefix));
  if (n < p->n) restart(p);
  if (n > p->n) add(p, n - p->n);
  if (prefix.op == FOLD_SUM)
    fold_truth_of_sum(truth, &p->sum, &p->abs, p->lowest);
  else
    fold_truth_of_extreme(truth, &p->abs, p->extreme);
  return fold_ok();
}
