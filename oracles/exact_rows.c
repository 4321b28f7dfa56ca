/* exact_rows.c: the exact results of a call, each rounded once, where one number a result is asked and no whole truth: no magnitudes,
 * no lowest bit, no rounding to other dtypes. exact.c and exact_dot.c have the policy for special values.
 *
 * Memory beside the input: a superaccumulator and its bins a thread; what product.c needs; terms that do not lie side by side are
 * copied, those of one result a thread.
 */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "oracles/integers.h"
#include "oracles/prefixes.h"
#include "oracles/super_dot.h"
#include "oracles/super_round.h"
#include "oracles/truth.h"

static uint64_t sum_of(const struct fold_terms *line, enum fold_dtype to, unsigned threads) {
  struct fold_super sum;
  memset(&sum, 0, sizeof sum);
  fold_super_add_parallel(line->dtype, line->factor[0], line->n, &sum, NULL, threads);
  return fold_super_round(line->dtype, &sum, to);
}

static uint64_t integer_dot_of(const struct fold_terms *line, enum fold_dtype to) {
  mpfr_t sum, magnitudes;
  mpfr_inits2(64, sum, magnitudes, (mpfr_ptr)0);
  fold_integers_dot(line, sum, magnitudes);
  const uint64_t bits = fold_mpfr_round(to, sum);
  mpfr_clears(sum, magnitudes, (mpfr_ptr)0);
  return bits;
}

static fold_status dot_of(const struct fold_terms *line, enum fold_dtype to, unsigned threads, uint64_t *bits) {
  struct fold_super_dot state;
  memset(&state, 0, sizeof state);
  FOLD_TRY(fold_super_dot_add(line->dtype, line->factor[0], line->factor[1], line->n, threads, &state));
  *bits = fold_super_dot_close(&state, to);
  return fold_ok();
}

static uint64_t product_of(const struct fold_terms *line, enum fold_dtype to) {
  struct fold_truth truth;
  fold_truth_init(&truth);
  truth.dtype = line->dtype;
  truth.n = line->n;
  fold_product_enclose(line->factor[0], &truth);
  const uint64_t bits =
      fold_dtype_is_integer(to) ? fold_integer_wrap(to, fold_integers_fold(line)) : fold_mpfr_round(to, truth.exact);
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

static uint64_t extreme_of(const struct fold_terms *line, enum fold_dtype to) {
  const struct fold_format format = fold_format_of(to);
  if (line->n == 0 && format.integer) return line->op == FOLD_MAX ? format.sign : format.sign - 1;
  if (line->n == 0) return format.beyond | (line->op == FOLD_MAX ? format.sign : 0);
  const uint64_t bits = fold_extreme(line->dtype, line->op, line->factor[0], line->n);
  if (fold_bits_class(line->dtype, bits) == FOLD_NAN) return format.nan;
  if (fold_dtype_is_integer(line->dtype)) return rounded(line->dtype, bits, to);
  return fold_bits_from_double(to, fold_bits_to_double(line->dtype, bits));
}

static fold_status bits_of(const struct fold_terms *line, enum fold_dtype to, unsigned threads, uint64_t *bits) {
  const bool integers = fold_dtype_is_integer(line->dtype);
  if (line->factors > 1 && !integers) return dot_of(line, to, threads, bits);
  switch (line->op) {
    case FOLD_SUM: *bits = line->factors > 1 ? integer_dot_of(line, to) : sum_of(line, to, threads); break;
    case FOLD_PROD: *bits = product_of(line, to); break;
    case FOLD_MAX:
    case FOLD_MIN: *bits = extreme_of(line, to); break;
    case FOLD_OPS: break;
  }
  return fold_ok();
}

/* What is asked of a call that is sorted. */
struct asked {
  const struct fold_call *call;
  enum fold_dtype to;
  void *out;
};

static fold_status put_result(const struct asked *a, size_t r, unsigned threads) {
  const struct fold_terms terms = fold_call_terms(a->call, r);
  struct fold_terms line;
  void *room;
  uint64_t bits = 0;
  FOLD_TRY(fold_terms_line(&terms, &line, &room));
  const fold_status status = bits_of(&line, a->to, threads, &bits);
  free(room);
  if (status.code == FOLD_OK) fold_bits_store(a->to, a->out, r, bits);
  return status;
}

/* All results of a scan's row, in one pass. */
static fold_status put_prefixes(const struct asked *a, size_t row, unsigned threads) {
  const size_t k = a->call->shape.k, first = row * k;
  struct fold_terms terms = fold_call_terms(a->call, first);
  struct fold_prefixes prefixes;
  struct fold_truth truth;
  (void)threads;
  terms.n = k;
  FOLD_TRY(fold_prefixes_open(&prefixes, &terms));
  fold_truth_init(&truth);
  fold_status status = fold_ok();
  for (size_t j = 0; j < k && status.code == FOLD_OK; j++) {
    status = fold_prefixes_truth(&prefixes, fold_terms_in(a->call, first + j), &truth);
    if (status.code == FOLD_OK) fold_bits_store(a->to, a->out, first + j, truth.rounded[a->to]);
  }
  fold_truth_free(&truth);
  fold_prefixes_close(&prefixes);
  return status;
}

/* With fewer terms one more thread costs more than it saves, as for the terms of one row (super.c). */
#define TERMS_A_THREAD ((size_t)1 << 16)

/* How many threads share `n` results, or rows of a scan; 1 where each is long enough for all of them. */
static size_t team_of(const struct fold_call *call, size_t n, unsigned threads) {
  size_t team = threads ? threads : (size_t)omp_get_max_threads(),
         most = fold_all_terms(call->problem, &call->shape) / TERMS_A_THREAD + 1;
  const bool rows = fold_is_of_rows(call->problem);
  if (rows && call->problem->op == FOLD_SUM && call->shape.k / TERMS_A_THREAD >= team) return 1;
  if (team > most) team = most;
  if (team > n) team = n;
  return team > 1 ? team : 1;
}

/* The first failure that a thread reports is the one returned. */
static fold_status put_all(const struct asked *a, unsigned threads) {
  const bool scan = fold_is_scan(a->call->problem);
  const size_t results = fold_results(a->call->problem, &a->call->shape);
  const size_t n = scan && results > 0 ? results / a->call->shape.k : results, team = team_of(a->call, n, threads);
  const unsigned each = team > 1 ? 1 : threads;
  fold_status first = fold_ok();
#pragma omp parallel for num_threads((int)team) if (team > 1)
  for (size_t r = 0; r < n; r++) {
    const fold_status status = (scan ? put_prefixes : put_result)(a, r, each);
    if (status.code != FOLD_OK) {
#pragma omp critical(fold_exact_failure)
      if (first.code == FOLD_OK) first = status;
    }
  }
  return first;
}

fold_status fold_oracle_results(const struct fold_call *call, enum fold_dtype to, unsigned threads, void *out) {
  if (call->dtype >= FOLD_DTYPES || call->problem->op >= FOLD_OPS || to >= FOLD_DTYPES)
    return fold_error(FOLD_BAD_INPUT, "the oracle has no such dtype or op");
  if (fold_dtype_is_integer(to) && !fold_dtype_is_integer(call->dtype))
    return fold_error(FOLD_BAD_INPUT, "the oracle has no results in %s of terms in %s", fold_dtype_name(to),
                      fold_dtype_name(call->dtype));
  struct fold_slots slots;
  struct fold_call sorted;
  FOLD_TRY(fold_call_sorted(call, &slots, &sorted));
  const fold_status status = put_all(&(struct asked){&sorted, to, out}, threads);
  fold_slots_free(&slots);
  return status;
}
