/* probe.c: masks, and the answers to them.
 *
 * M = 1.5 x 2^m lies in the middle of its binade, where neighbours are 2^(m - p + 1) apart in an accumulator of p bits. It absorbs s units
 * of 2^u, in whatever portions they come, if s 2^u < 2^(m - p); where a node of several operands keeps EXTRA bits below the last one, if
 * s 2^u < 2^(m - p - EXTRA). They are counted exactly if s is at most 2^p, and 2^q for a result of q
 * bits. Both limit how many units a row may have; the terms are cut into parts of that size, and a pair takes one row for each part.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "reveal/reveal.h"

/* The exponents of mask and unit. Where the range of the format allows it, the mask is far below its greatest number,
 * the unit is far above its subnormal numbers (which some machines flush), and the two are further apart than the
 * longest accumulators keep. */
static int mask_of(struct fold_format f) { return f.emax > 100 ? f.emax - f.emax / 16 : f.emax; }
static int unit_of(struct fold_format f) { return f.emin < -100 ? f.emin / 2 : fold_format_least(f); }

static int greater(int a, int b) { return a > b ? a : b; }
static int smaller(int a, int b) { return a < b ? a : b; }

enum { EXTRA = 3 }; /* as FOLD_CUT_3 */

fold_status fold_masks_of(enum fold_dtype dtype, enum fold_dtype accumulator, enum fold_dtype result,
                          struct fold_masks *masks) {
  const struct fold_format t = fold_format_of(dtype), a = fold_format_of(accumulator), r = fold_format_of(result);
  masks->mask = smaller(mask_of(t), mask_of(a));
  masks->unit = greater(unit_of(t), greater(fold_format_least(a), fold_format_least(r)));
  const int swallowed = masks->mask - a.precision - EXTRA - masks->unit, counted = smaller(a.precision, r.precision);
  masks->most = 0;
  if (swallowed > 0) masks->most = ((size_t)1 << smaller(swallowed, 30)) - 1;
  if (masks->most > (size_t)1 << smaller(counted, 30)) masks->most = (size_t)1 << smaller(counted, 30);
  if (masks->most > 0) return fold_ok();
  return fold_error(FOLD_UNSUPPORTED,
                    "a term of %s is at most 2^%d times another, and %s keeps %d bits: sums show no order",
                    fold_dtype_name(dtype), masks->mask - masks->unit, fold_dtype_name(accumulator), a.precision);
}

/* The first term of part k. */
static size_t part_first(const struct fold_prober *p, size_t k) { return k * p->masks.most; }
static size_t part_last(const struct fold_prober *p, size_t k) {
  const size_t last = (k + 1) * p->masks.most;
  return last < p->summer->n ? last : p->summer->n;
}

/* A set of n terms takes n pairs, each of n / most rows of n elements. That is n^3 / most elements if one row can't
 * count all terms, and a tree takes a few times as many. A length that would take hours is refused. */
#define MOST_ELEMENTS 0x1p36

static fold_status check_length(const struct fold_prober *p) {
  const struct fold_summer *s = p->summer;
  const size_t most = p->masks.most, longest = (size_t)cbrt(MOST_ELEMENTS * (double)most);
  if (s->n <= most || s->n <= longest) return fold_ok();
  return fold_error(FOLD_UNSUPPORTED,
                    "a row of %s counts at most %zu units, so that each pair of %zu terms takes %zu rows: at most %zu "
                    "terms can be revealed",
                    fold_dtype_name(s->dtype), most, s->n, (s->n + most - 1) / most, longest);
}

fold_status fold_prober_open(struct fold_prober *p, const struct fold_summer *s) {
  *p = (struct fold_prober){.summer = s};
  FOLD_TRY(fold_masks_of(s->dtype, s->accumulator, s->result, &p->masks));
  FOLD_TRY(check_length(p));
  const size_t size = fold_dtype_size(s->dtype);
  p->parts = (s->n + p->masks.most - 1) / p->masks.most;
  p->unit = calloc(p->parts * s->n + 1, size);
  p->out = malloc((s->rows + 1) * sizeof *p->out);
  if (p->unit == NULL || p->out == NULL) return fold_no_memory("to reveal %zu terms", s->n);
  const uint64_t unit = fold_bits_from_double(s->dtype, ldexp(1, p->masks.unit));
  for (size_t k = 0; k < p->parts; k++)
    for (size_t i = part_first(p, k); i < part_last(p, k); i++)
      fold_bits_store(s->dtype, p->unit + k * s->n * size, i, unit);
  if (s->factors > 1)
    for (size_t i = 0; i < s->rows * s->n; i++)
      fold_bits_store(s->dtype, s->in[1], i, fold_bits_from_double(s->dtype, 1));
  return fold_ok();
}

void fold_prober_close(struct fold_prober *p) {
  free(p->unit);
  free(p->out);
}

/* How many units came out of a probed row; NAN if the result is not a count. */
static double count_of(const struct fold_prober *p, size_t row, size_t most) {
  const struct fold_summer *s = p->summer;
  const double sum = fold_bits_to_double(s->result, fold_bits_load(s->result, p->out, fold_probed_row(s, row)));
  const double count = ldexp(sum, -p->masks.unit);
  return count >= 0 && count <= (double)most && count == floor(count) ? count : NAN;
}

static unsigned char *row_of(const struct fold_prober *p, size_t row) {
  const struct fold_summer *s = p->summer;
  return (unsigned char *)s->in[0] + fold_probed_row(s, row) * s->n * fold_dtype_size(s->dtype);
}

static void write_masks(const struct fold_prober *p, size_t row, const struct fold_pair *pair) {
  const enum fold_dtype dtype = p->summer->dtype;
  fold_bits_store(dtype, row_of(p, row), pair->i, fold_bits_from_double(dtype, ldexp(1.5, p->masks.mask)));
  fold_bits_store(dtype, row_of(p, row), pair->j, fold_bits_from_double(dtype, -ldexp(1.5, p->masks.mask)));
}

static void write_probe(const struct fold_prober *p, size_t row, size_t part, const struct fold_pair *pair) {
  const size_t nbytes = p->summer->n * fold_dtype_size(p->summer->dtype);
  memcpy(row_of(p, row), p->unit + part * nbytes, nbytes);
  if (pair) write_masks(p, row, pair);
}

/* Runs probes first to last. Probe k is part k % parts of pair k / parts; if pairs is NULL, rows hold only units. All
 * launches are full: rows without a probe keep what they held. */
static fold_status launch(struct fold_prober *p, const struct fold_pair *pairs, size_t first, size_t last) {
  for (size_t k = first; k < last; k++) write_probe(p, k - first, k % p->parts, pairs ? &pairs[k / p->parts] : NULL);
  p->launches++;
  return p->summer->sum(p->summer->context, p->summer->rows, p->out);
}

static size_t units_of(const struct fold_prober *p, size_t part, const struct fold_pair *pair) {
  const size_t first = part_first(p, part), last = part_last(p, part);
  return last - first - (pair->i >= first && pair->i < last) - (pair->j >= first && pair->j < last);
}

static void take_answer(const struct fold_prober *p, struct fold_pair *pair, size_t part, size_t row) {
  const size_t units = units_of(p, part, pair);
  const double count = count_of(p, row, units);
  if (part == 0) pair->size = 2;
  if (!(count >= 0))
    pair->size = FOLD_NOT_A_COUNT;
  else if (pair->size != FOLD_NOT_A_COUNT)
    pair->size += (uint32_t)(units - (size_t)count);
}

fold_status fold_prober_ask(struct fold_prober *p, struct fold_pair *pairs, size_t n) {
  const size_t all = n * p->parts, rows = fold_probed_rows(p->summer);
  for (size_t first = 0; first < all; first += rows) {
    const size_t last = all - first < rows ? all : first + rows;
    FOLD_TRY(launch(p, pairs, first, last));
    for (size_t k = first; k < last; k++) take_answer(p, &pairs[k / p->parts], k % p->parts, k - first);
  }
  p->probes += n;
  return fold_ok();
}

fold_status fold_prober_ask_among(struct fold_prober *p, uint32_t i, uint32_t j, const struct fold_pair *among,
                                  size_t n, size_t *kept) {
  const struct fold_summer *s = p->summer;
  const uint64_t unit = fold_bits_from_double(s->dtype, ldexp(1, p->masks.unit));
  *kept = 0;
  for (size_t first = 0, last; first < n; first = last) {
    last = n - first < p->masks.most ? n : first + p->masks.most;
    memset(row_of(p, 0), 0, s->n * fold_dtype_size(s->dtype));
    for (size_t k = first; k < last; k++) fold_bits_store(s->dtype, row_of(p, 0), among[k].j, unit);
    write_masks(p, 0, &(struct fold_pair){i, j, 0});
    p->launches++;
    p->probes++;
    FOLD_TRY(s->sum(s->context, s->rows, p->out));
    const double count = count_of(p, 0, last - first);
    *kept += count >= 0 ? (size_t)count : 0;
  }
  return fold_ok();
}

static fold_status answer(void *prober, struct fold_pair *pairs, size_t n) { return fold_prober_ask(prober, pairs, n); }
static fold_status answer_among(void *prober, uint32_t i, uint32_t j, const struct fold_pair *among, size_t n,
                                size_t *kept) {
  return fold_prober_ask_among(prober, i, j, among, n, kept);
}
struct fold_asker fold_prober_asker(struct fold_prober *p) {
  return (struct fold_asker){answer, answer_among, p, p->summer->n};
}

fold_status fold_prober_count(struct fold_prober *p, bool *right, char why[200]) {
  const size_t rows = fold_probed_rows(p->summer);
  *right = true;
  for (size_t first = 0; first < p->parts && *right; first += rows) {
    const size_t last = p->parts - first < rows ? p->parts : first + rows;
    FOLD_TRY(launch(p, NULL, first, last));
    for (size_t k = first; k < last && *right; k++) {
      const size_t units = part_last(p, k) - part_first(p, k);
      const double count = count_of(p, k - first, units);
      *right = count == (double)units;
      if (!*right)
        snprintf(why, 200, "of the %zu equal terms x[%zu] to x[%zu], the others zero, %g are in the sum", units,
                 part_first(p, k), part_last(p, k) - 1, count);
    }
  }
  return fold_ok();
}
