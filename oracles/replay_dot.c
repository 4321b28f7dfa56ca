/* replay_dot.c: the native replay of sums of products of two factors: orders.inc in each accumulator, a product rounded or fused.
 *
 * Promised: a product is one multiplication of the accumulator, or part of one FMA. Factors of narrower dtypes are widened, which is
 * exact.
 */
#include <math.h>

#include "bits.h"
#include "canonical.h"
#include "split.h"

struct factors {
  enum fold_dtype dtype;
  const void *x, *y;
  const uint32_t *place;
};

static inline double factor(const struct factors *c, const void *in, size_t i) {
  return fold_bits_to_double(c->dtype, fold_bits_load(c->dtype, in, i));
}

/* Exact: a factor is a number of the accumulator. */
static inline float x_float(const struct factors *c, size_t i) { return (float)factor(c, c->x, i); }
static inline float y_float(const struct factors *c, size_t i) { return (float)factor(c, c->y, i); }
static inline double x_double(const struct factors *c, size_t i) { return factor(c, c->x, i); }
static inline double y_double(const struct factors *c, size_t i) { return factor(c, c->y, i); }

#define NODE float
#define CONTEXT const struct factors
#define ZERO(c) 0.0f
#define LEAF(c, i) (x_float(c, i) * y_float(c, i))
#define JOIN(c, a, b) ((a) + (b))
#define PLACE(c, k) (c)->place[k]
#define SWEEP
#define NAME(x) x##_rounded_float
#include "orders.inc"

#define NODE float
#define CONTEXT const struct factors
#define ZERO(c) 0.0f
#define LEAF(c, i) (x_float(c, i) * y_float(c, i))
#define JOIN(c, a, b) ((a) + (b))
#define TAKE(c, a, i) fmaf(x_float(c, i), y_float(c, i), a)
#define PLACE(c, k) (c)->place[k]
#define SWEEP
#define NAME(x) x##_fused_float
#include "orders.inc"

#define NODE double
#define CONTEXT const struct factors
#define ZERO(c) 0.0
#define LEAF(c, i) (x_double(c, i) * y_double(c, i))
#define JOIN(c, a, b) ((a) + (b))
#define PLACE(c, k) (c)->place[k]
#define SWEEP
#define NAME(x) x##_rounded_double
#include "orders.inc"

#define NODE double
#define CONTEXT const struct factors
#define ZERO(c) 0.0
#define LEAF(c, i) (x_double(c, i) * y_double(c, i))
#define JOIN(c, a, b) ((a) + (b))
#define TAKE(c, a, i) fma(x_double(c, i), y_double(c, i), a)
#define PLACE(c, k) (c)->place[k]
#define SWEEP
#define NAME(x) x##_fused_double
#include "orders.inc"

static double fold_in_f32(const struct fold_row *row, const struct factors *c) {
  if (row->order->product == FOLD_FUSED_PRODUCT)
    return fold_fused_float(row->order, row->split, c, row->n, row->threads);
  return fold_rounded_float(row->order, row->split, c, row->n, row->threads);
}

static double fold_in_f64(const struct fold_row *row, const struct factors *c) {
  if (row->order->product == FOLD_FUSED_PRODUCT)
    return fold_fused_double(row->order, row->split, c, row->n, row->threads);
  return fold_rounded_double(row->order, row->split, c, row->n, row->threads);
}

uint64_t fold_rows_dot(const struct fold_row *row) {
  const struct factors c = {row->dtype, row->in, row->other, row->place};
  const bool narrow = fold_accumulator_of(row->dtype) == FOLD_F32;
  return fold_bits_from_double(row->dtype, narrow ? fold_in_f32(row, &c) : fold_in_f64(row, &c));
}
