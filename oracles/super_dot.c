/* super_dot.c: products split without error into the superaccumulators of f64 (super_dot.h).
 *
 * Let x, y be finite f64, not zero, and e the sum of their exponents, so that |x y| < 2^(e + 2). The low part is a multiple of the
 * product's lowest bit, which weighs at least 2^(e - 104).
 *   -900 <= e <= 1000   nothing overflows, and the low part is a multiple of 2^-1004: both parts are numbers of f64.
 *   e < -900            both factors are below 2^175, for none is below 2^-1074; each is multiplied by 2^550 without rounding: the
 *                       products lie below 2^202 and are multiples of 2^(1100 - 2148).
 *   e > 1000            both factors are above 2^-25, for none reaches 2^1024; each is multiplied by 2^-550, exactly: the products
 *                       lie between 2^-100 and 2^948.
 */
#include "oracles/super_dot.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "oracles/exact.h"

enum { BLOCK = 1024, SERIAL_TERMS = 65536, SCALE = 1100, LEAST = -900, MOST = 1000 }; /* unseen: 65535 */

/* Products that wait to be added to the states of one scale. */
struct block {
  double sum[2 * BLOCK], abs[2 * BLOCK];
  size_t n;
};

/* For a finite number other than zero: the exponents that its highest and its lowest set bit weigh. */
struct reach {
  int high, low;
};

static struct reach reach_of(double x) {
  const uint64_t bits = fold_f64_bits(x), fraction = bits & 0xfffffffffffff;
  const int field = (int)(bits >> 52 & 0x7ff);
  if (field == 0) return (struct reach){63 - __builtin_clzll(fraction) - 1074, __builtin_ctzll(fraction) - 1074};
  return (struct reach){field - 1023, __builtin_ctzll(fraction | 1ull << 52) + field - 1075};
}

static void push(struct block *b, double part, double magnitude) {
  b->sum[b->n] = part;
  b->abs[b->n++] = magnitude;
}

/* `fits` says that f64 holds the product exactly. */
static void push_product(struct block *b, double x, double y, bool fits) {
  const double high = x * y, low = fits ? 0 : fma(x, y, -high);
  push(b, high, fabs(high));
  if (low != 0) push(b, low, high < 0 ? -low : low);
}

/* A product with an infinity, a NaN or a zero is added as it is: it needs no splitting. */
static void take(struct block b[FOLD_DOT_SCALES], double x, double y, bool fits, long *lowest) {
  if (!isfinite(x) || !isfinite(y) || x == 0 || y == 0) {
    push(&b[1], x * y, fabs(x * y));
    return;
  }
  const struct reach of_x = reach_of(x), of_y = reach_of(y);
  const int e = of_x.high + of_y.high;
  const int scale = e < LEAST ? 0 : e > MOST ? 2 : 1;
  const double by = scale == 0 ? 0x1p550 : scale == 2 ? 0x1p-550 : 1;
  if (of_x.low + of_y.low < *lowest) *lowest = of_x.low + of_y.low;
  push_product(&b[scale], x * by, y * by, fits);
}

static void empty(struct block *b, struct fold_super *sum, struct fold_super *abs) {
  fold_super_add(FOLD_F64, b->sum, b->n, sum, NULL);
  fold_super_add(FOLD_F64, b->abs, b->n, abs, NULL);
  b->n = 0;
}

/* FOLD_NO_BIT of a state that holds no product yet. */
static void start(struct fold_super_dot *state) {
  memset(state, 0, sizeof *state);
  state->lowest = FOLD_NO_BIT;
}

static void add(enum fold_dtype dtype, const void *x, const void *y, size_t first, size_t n, struct block *b,
                struct fold_super_dot *state) {
  const bool fits = 2 * fold_format_of(dtype).precision <= fold_format_of(FOLD_F64).precision;
  for (int s = 0; s < FOLD_DOT_SCALES; s++) b[s].n = 0;
  for (size_t i = first; i < first + n; i++) {
    take(b, fold_bits_to_double(dtype, fold_bits_load(dtype, x, i)),
         fold_bits_to_double(dtype, fold_bits_load(dtype, y, i)), fits, &state->lowest);
    for (int s = 0; s < FOLD_DOT_SCALES; s++)
      if (b[s].n + 2 > 2 * BLOCK) empty(&b[s], &state->sum[s], &state->abs[s]);
  }
  for (int s = 0; s < FOLD_DOT_SCALES; s++) empty(&b[s], &state->sum[s], &state->abs[s]);
}

static void merge(struct fold_super_dot *into, const struct fold_super_dot *from) {
  for (int s = 0; s < FOLD_DOT_SCALES; s++) {
    fold_super_merge(FOLD_F64, &into->sum[s], &from->sum[s]);
    fold_super_merge(FOLD_F64, &into->abs[s], &from->abs[s]);
  }
  if (from->lowest < into->lowest) into->lowest = from->lowest;
}

static bool holds_none(const struct fold_super_dot *state) {
  return state->abs[0].terms == 0 && state->abs[1].terms == 0 && state->abs[2].terms == 0;
}

fold_status fold_super_dot_add(enum fold_dtype dtype, const void *x, const void *y, size_t n, unsigned threads,
                               struct fold_super_dot *state) {
  size_t team = threads ? threads : (size_t)omp_get_max_threads(), most = n / SERIAL_TERMS + 1;
  if (team > most) team = most; /* unseen: ! */
  struct {
    struct block block[FOLD_DOT_SCALES];
    struct fold_super_dot state;
  } *part = malloc(team * sizeof *part);
  if (!part) return fold_no_memory("for an exact dot product");
  if (holds_none(state)) start(state);
#pragma omp parallel for num_threads((int)team)
  for (size_t t = 0; t < team; t++) {
    size_t first = n / team * t + (t < n % team ? t : n % team), length = n / team + (t < n % team);
    start(&part[t].state);
    add(dtype, x, y, first, length, part[t].block, &part[t].state);
  }
  for (size_t t = 0; t < team; t++) merge(state, &part[t].state);
  free(part);
  return fold_ok();
}

/* The sum of the three, each put back in its place. Any sum of 2^64 products lies between 2^-2148 and 2^2112. */
static void gather(const struct fold_super states[FOLD_DOT_SCALES], mpfr_t value) {
  mpfr_t part;
  mpfr_init2(part, 53); /* unseen: 54 */
  mpfr_set_prec(value, 4352);
  mpfr_set_ui(value, 0, MPFR_RNDN);
  for (int s = 0; s < FOLD_DOT_SCALES; s++) {
    fold_super_value(FOLD_F64, &states[s], part);
    mpfr_mul_2si(part, part, SCALE * (s - 1), MPFR_RNDN);
    mpfr_add(value, value, part, MPFR_RNDN);
  }
  mpfr_clear(part);
}

/* A sum that is zero is -0 where every product was. */
void fold_super_dot_value(const struct fold_super_dot *state, mpfr_t value) {
  int64_t terms = 0, others = 0;
  for (int s = 0; s < FOLD_DOT_SCALES; s++) {
    terms += state->sum[s].terms;
    others += state->sum[s].other_than_negative_zero;
  }
  gather(state->sum, value);
  if (mpfr_zero_p(value)) mpfr_set_zero(value, terms > 0 && others == 0 ? -1 : 1);
}

/* What is not finite, or not a number, is counted in the middle scale alone. */
static void gather_finite(const struct fold_super states[FOLD_DOT_SCALES], mpfr_t value) {
  struct fold_super finite[FOLD_DOT_SCALES];
  memcpy(finite, states, sizeof finite);
  finite[1].nan = finite[1].positive_infinity = finite[1].negative_infinity = 0;
  gather(finite, value);
}

void fold_super_dot_finite(const struct fold_super_dot *state, mpfr_t value) { gather_finite(state->sum, value); }

bool fold_super_dot_magnitude(const struct fold_super_dot *state, mpfr_t value) {
  gather_finite(state->abs, value);
  return !state->abs[1].nan && !state->abs[1].positive_infinity;
}

uint64_t fold_super_dot_close(const struct fold_super_dot *state, enum fold_dtype to) {
  mpfr_t value;
  mpfr_init2(value, 53); /* unseen: 52 */
  fold_super_dot_value(state, value);
  uint64_t bits = fold_mpfr_round(to, value);
  mpfr_clear(value);
  return bits;
}
