/* exact_rows.c: the exact result of each row, rounded once, where one number a row is asked and no whole truth: no magnitudes, no
 * lowest bit, no rounding to other dtypes. exact.c has the policy for special values.
 *
 * Memory beside the input: a superaccumulator and its bins a thread; what product.c needs.
 */
#include <omp.h>
#include <string.h>

#include "base/bits.h"
#include "oracles/integers.h"
#include "oracles/super_round.h"
#include "oracles/truth.h"

static uint64_t sum_of(const struct fold_call *call, const void *row, enum fold_dtype to, unsigned threads) {
  struct fold_super sum;
  memset(&sum, 0, sizeof sum);
  fold_super_add_parallel(call->dtype, row, call->cols, &sum, NULL, threads);
  return fold_super_round(call->dtype, &sum, to);
}

static uint64_t product_of(const struct fold_call *call, const void *row, enum fold_dtype to) {
  struct fold_truth truth;
  fold_truth_init(&truth);
  truth.dtype = call->dtype;
  truth.n = call->cols;
  fold_product_enclose(row, &truth);
  const struct fold_terms terms = fold_terms_of(call->dtype, FOLD_PROD, row, call->cols);
  const uint64_t bits =
      fold_dtype_is_integer(to) ? fold_integer_wrap(to, fold_integers_fold(&terms)) : fold_mpfr_round(to, truth.exact);
  fold_truth_free(&truth);
  return bits;
}

static uint64_t rounded(enum fold_dtype terms, uint64_t bits, enum fold_dtype to) {
  mpfr_t value;
  mpfr_init2(value, 64);
  fold_mpfr_set_bits(value, terms, bits);
  const uint64_t result = fold_mpfr_round(to, value);
  mpfr_clear(value);
  return result;
}

static uint64_t extreme_of(const struct fold_call *call, const void *row, enum fold_dtype to) {
  const struct fold_format format = fold_format_of(to);
  if (call->cols == 0 && format.integer) return call->problem->op == FOLD_MAX ? format.sign : format.sign - 1;
  if (call->cols == 0) return format.beyond | (call->problem->op == FOLD_MAX ? format.sign : 0);
  const uint64_t bits = fold_extreme(call->dtype, call->problem->op, row, call->cols);
  if (fold_bits_class(call->dtype, bits) == FOLD_NAN) return format.nan;
  if (fold_dtype_is_integer(call->dtype)) return rounded(call->dtype, bits, to);
  return fold_bits_from_double(to, fold_bits_to_double(call->dtype, bits));
}

static uint64_t result_of(const struct fold_call *call, const void *row, enum fold_dtype to, unsigned threads) {
  switch (call->problem->op) {
    case FOLD_SUM: return sum_of(call, row, to, threads);
    case FOLD_PROD: return product_of(call, row, to);
    case FOLD_MAX:
    case FOLD_MIN: return extreme_of(call, row, to);
    case FOLD_OPS: break;
  }
  return 0;
}

/* With fewer terms one more thread costs more than it saves, as for the terms of one row (super.c). */
#define TERMS_A_THREAD ((size_t)1 << 16)

/* How many threads share the rows; 1 where each row is long enough for all of them. */
static size_t team_of(const struct fold_call *call, unsigned threads) {
  size_t team = threads ? threads : (size_t)omp_get_max_threads(), most = call->rows * call->cols / TERMS_A_THREAD + 1;
  if (call->problem->op == FOLD_SUM && call->cols / TERMS_A_THREAD >= team) return 1;
  if (team > most) team = most;
  if (team > call->rows) team = call->rows;
  return team > 1 ? team : 1;
}

fold_status fold_oracle_rows(const struct fold_call *call, enum fold_dtype to, unsigned threads, void *out) {
  if (call->dtype >= FOLD_DTYPES || call->problem->op >= FOLD_OPS || to >= FOLD_DTYPES)
    return fold_error(FOLD_BAD_INPUT, "the oracle has no such dtype or op");
  if (fold_dtype_is_integer(to) && !fold_dtype_is_integer(call->dtype))
    return fold_error(FOLD_BAD_INPUT, "the oracle has no results in %s of terms in %s", fold_dtype_name(to),
                      fold_dtype_name(call->dtype));
  const size_t stride = call->cols * fold_dtype_size(call->dtype), team = team_of(call, threads);
  const unsigned each = team > 1 ? 1 : threads;
  const unsigned char *in = call->in[0];
#pragma omp parallel for num_threads((int)team) if (team > 1)
  for (size_t r = 0; r < call->rows; r++) fold_bits_store(to, out, r, result_of(call, in + r * stride, to, each));
  return fold_ok();
}
