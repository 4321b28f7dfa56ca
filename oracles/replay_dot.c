/* replay_dot.c: the native replay of sums of products of two factors: orders.inc in each accumulator, a product rounded or fused.
 *
 * Promised: a product is one multiplication of the accumulator, or part of one FMA. Factors of narrower dtypes are widened, which is
 * exact.
 */
#include <math.h>

#include "bits.h"
#include "canonical.h"
#include "paste.h"
#include "split.h"

struct factors {
  enum fold_dtype dtype;
  const void *x, *y;
  const uint32_t *place;
};

static inline double factor(const struct factors *c, const void *in, size_t i) {
  return fold_bits_to_double(c->dtype, fold_bits_load(c->dtype, in, i));
}

#define WIDE float
#define FMA fmaf
#include "replay_dot.inc"

#define WIDE double
#define FMA fma
#include "replay_dot.inc"

uint64_t fold_rows_dot(const struct fold_row *row) {
  const struct factors c = {row->dtype, row->in, row->other, row->place};
  const bool narrow = fold_accumulator_of(row->dtype) == FOLD_F32;
  return fold_bits_from_double(row->dtype, (narrow ? dot_in_float : dot_in_double)(row, &c));
}
