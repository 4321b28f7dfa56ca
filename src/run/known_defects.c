/* known_defects.c: matches refutations of peers to the facts in the registry.
 *
 * A fact must not excuse what it does not describe. So the rows are looked at, not the case's name: if one row is wrong
 * in any other way, the refutation is new.
 */
#include "run/known_defects.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"

/* What the terms of a row have that could excuse a wrong result. */
struct terms {
  bool nan, infinite, subnormal, plus_zero, minus_zero, has_got;
  double least, greatest; /* magnitudes of the finite terms */
};

static struct terms terms_of(const struct fold_trial *trial, size_t row, uint64_t got) {
  const struct fold_case *c = trial->c;
  const enum fold_dtype result = fold_trial_result_dtype(trial);
  struct terms terms = {.least = INFINITY};
  for (size_t i = 0; i < c->cols; i++) {
    uint64_t bits = fold_bits_load(c->dtype, trial->truths->in[0], row * c->cols + i);
    enum fold_class class = fold_bits_class(c->dtype, bits);
    bool negative = bits & fold_format_of(c->dtype).sign;
    double magnitude = class < FOLD_INFINITE ? fabs(fold_bits_to_double(c->dtype, bits)) : NAN;
    terms.nan |= class == FOLD_NAN;
    terms.infinite |= class == FOLD_INFINITE;
    terms.subnormal |= class == FOLD_SUBNORMAL;
    terms.plus_zero |= class == FOLD_ZERO && !negative;
    terms.minus_zero |= class == FOLD_ZERO && negative;
    terms.has_got |=
        got == (result == c->dtype ? bits : fold_bits_from_double(result, fold_bits_to_double(c->dtype, bits)));
    terms.least = fmin(terms.least, magnitude);
    terms.greatest = fmax(terms.greatest, magnitude);
  }
  return terms;
}

/* Whether the error is less than `most`; false where the result or the exact one is not finite. */
static bool is_off_by_less(const struct fold_truth *truth, enum fold_dtype dtype, uint64_t got, double most) {
  if (fold_bits_class(dtype, got) >= FOLD_INFINITE || !mpfr_number_p(truth->exact)) return false;
  mpfr_t error;
  mpfr_init2(error, 256);
  fold_truth_error(error, truth, dtype, got);
  bool less = mpfr_cmp_d(error, most) < 0;
  mpfr_clear(error);
  return less;
}

/* CUB's binned accumulator. f32 has bins of 13 bits, the last three below 2^-106; the errors that were seen are below
 * 2^-65. f64 has bins of 40 bits, the last three below 2^-936; the errors are below 2^-839. */
static bool is_off_by_least_bins(const struct terms *terms, const struct fold_truth *truth, enum fold_dtype dtype,
                                 uint64_t got) {
  static const struct {
    double below, off;
  } bins[FOLD_DTYPES] = {[FOLD_F32] = {0x1p-106, 0x1p-64}, [FOLD_F64] = {0x1p-936, 0x1p-838}};
  return terms->least < bins[dtype].below && is_off_by_less(truth, dtype, got, bins[dtype].off);
}

/* CUB takes a subnormal f64's exponent for 0, and so uses bins that end at 2^-95: the part of a term below that is
 * lost. */
static bool is_off_by_wrong_bins(const struct terms *terms, const struct fold_truth *truth, enum fold_dtype dtype,
                                 uint64_t got) {
  return dtype == FOLD_F64 && terms->subnormal && is_off_by_less(truth, dtype, got, 0x1p-94 * (double)truth->n);
}

static bool is_less_from_top_bins(const struct terms *terms, const struct fold_truth *truth, enum fold_dtype dtype,
                                  uint64_t got) {
  if (dtype != FOLD_F64 || !(terms->greatest >= 0x1p864)) return false;
  if (fold_bits_class(dtype, got) >= FOLD_INFINITE || !mpfr_number_p(truth->exact)) return false;
  mpfr_t value;
  mpfr_init2(value, 64);
  fold_mpfr_set_bits(value, dtype, got);
  bool less = mpfr_cmpabs(value, truth->exact) < 0;
  mpfr_clear(value);
  return less;
}

/* Of 53 bits. */
static double sum_of_last(const struct fold_call *call, size_t result, size_t count) {
  const struct fold_terms terms = fold_call_terms(call, result);
  double sum = 0;
  for (size_t t = terms.n - count; t < terms.n; t++) sum += (double)fold_term_value(&terms, t);
  return sum;
}

/* The sum of all terms but the last `count`, of 53 bits; false: there is none. */
static bool sum_without_last(const struct fold_trial *trial, size_t result, const struct fold_truth *truth,
                             size_t count, double *sum) {
  struct fold_call call;
  if (!mpfr_number_p(truth->exact) || truth->n < count) return false;
  if (fold_truths_call(trial->truths, &call).code != FOLD_OK) return false;
  *sum = mpfr_get_d(truth->exact, MPFR_RNDN) - sum_of_last(&call, result, count);
  return true;
}

/* Of a unit. A result is rounded once; the accumulator's own error is far below the rest where its dtype is wider. */
static const double ONE_ROUNDING = 0.53125;

static bool is_rounded_before_bias(const struct fold_trial *trial, size_t result, const struct fold_truth *truth,
                                   enum fold_dtype dtype, uint64_t got) {
  double product;
  if (fold_bits_class(dtype, got) >= FOLD_INFINITE || !sum_without_last(trial, result, truth, 1, &product))
    return false;
  const double units = fold_ulp(dtype, product) + fold_ulp(dtype, fold_bits_to_double(dtype, got));
  return is_off_by_less(truth, dtype, got, ONE_ROUNDING * units);
}

static bool is_without_tail(const struct fold_trial *trial, size_t result, const struct fold_truth *truth,
                            enum fold_dtype dtype, uint64_t got) {
  const size_t tail = truth->n % 64;
  double left;
  if (tail == 0 || fold_bits_class(dtype, got) >= FOLD_INFINITE) return false;
  if (fold_dtype_size(trial->c->dtype) != 2 || !sum_without_last(trial, result, truth, tail, &left)) return false;
  return fabs(fold_bits_to_double(dtype, got) - left) < ONE_ROUNDING * fold_ulp(dtype, left);
}

static bool explains(const struct fold_fact *fact, const struct fold_trial *trial, size_t row, uint64_t got,
                     const struct fold_truth *truth) {
  enum fold_dtype dtype = fold_trial_result_dtype(trial);
  if (fact->lapses & FOLD_ROUNDS_BEFORE_BIAS && is_rounded_before_bias(trial, row, truth, dtype, got)) return true;
  if (fact->lapses & FOLD_LOSES_TAIL && is_without_tail(trial, row, truth, dtype, got)) return true;
  if (trial->c->problem->factors > 1) return false; /* the others are about rows of terms */
  struct terms terms = terms_of(trial, row, got);
  enum fold_class is = fold_bits_class(dtype, got), exact = fold_bits_class(dtype, truth->rounded[dtype]);
  if (fact->lapses & FOLD_LOSES_NAN && terms.nan && terms.has_got && is != FOLD_NAN) return true;
  if (fact->lapses & FOLD_LOSES_SIGN && terms.plus_zero && terms.minus_zero && is == FOLD_ZERO && exact == FOLD_ZERO)
    return true;
  if (fact->lapses & FOLD_LOSES_INFINITY && terms.infinite && exact == FOLD_INFINITE && is == FOLD_NAN) return true;
  if (fact->lapses & FOLD_LOSES_SUBNORMALS && dtype == FOLD_F32 && exact == FOLD_SUBNORMAL && is == FOLD_ZERO)
    return true;
  if (fact->lapses & FOLD_LEAST_BINS && is_off_by_least_bins(&terms, truth, dtype, got)) return true;
  if (fact->lapses & FOLD_WRONG_BINS && is_off_by_wrong_bins(&terms, truth, dtype, got)) return true;
  return fact->lapses & FOLD_TOP_BINS && is_less_from_top_bins(&terms, truth, dtype, got);
}

/* Counts the rows of `results` that are wrong by the claim. False if the fact does not explain one of them, or if an
 * exact result can't be computed. */
static bool explains_all(const struct fold_fact *fact, struct fold_trial *trial, enum fold_claim_id claim,
                         const void *results, size_t *wrong) {
  enum fold_dtype dtype = fold_trial_result_dtype(trial);
  struct fold_evidence evidence = fold_trial_evidence(trial);
  for (size_t row = 0; row < fold_case_results(trial->c); row++) {
    const struct fold_truth *truth;
    if (fold_truths_row(trial->truths, row, &truth).code != FOLD_OK) return false;
    uint64_t got = fold_bits_load(dtype, results, row);
    if (fold_bits_same(dtype, got, truth->rounded[dtype])) continue;
    if (claim == FOLD_BOUNDED && !fold_refutes_row(&evidence, row)) continue;
    if (!explains(fact, trial, row, got, truth)) return false;
    ++*wrong;
  }
  return true;
}

const struct fold_fact *fold_known(struct fold_trial *trial, const struct fold_claim *claim,
                                   const struct fold_finding *finding) {
  size_t n;
  const struct fold_fact *facts = fold_facts(&n);
  if (!trial->subject->peer || finding->verdict != FOLD_REFUTED) return NULL;
  for (size_t i = 0; i < n; i++) {
    size_t wrong = 0;
    if (strcmp(facts[i].subject, trial->subject->name) != 0 || !(facts[i].claims >> claim->id & 1)) continue;
    if (!(facts[i].ops >> trial->c->problem->op & 1) || !explains_all(&facts[i], trial, claim->id, trial->got, &wrong))
      continue;
    /* A permuted max or min has the same exact result, so its rows are judged as those of the base run are. */
    if (claim->id == FOLD_PERMUTATION_INVARIANT && !explains_all(&facts[i], trial, claim->id, trial->other, &wrong))
      continue;
    if (wrong > 0) return &facts[i];
  }
  return NULL;
}

/* "Open MPI v4.1.6": the series is all but the last number. False for a text that ends otherwise. */
static bool patch_of(const char *version, size_t *series, unsigned long *patch) {
  const char *dot = strrchr(version, '.');
  char *end;
  if (dot == NULL || dot[1] < '0' || dot[1] > '9') return false;
  *series = (size_t)(dot - version);
  *patch = strtoul(dot + 1, &end, 10);
  return *end == '\0';
}

static bool spans(const struct fold_versions *span, const char *version) {
  size_t series, first_series, last_series;
  unsigned long patch, first, last;
  if (strcmp(version, span->first) == 0 || strcmp(version, span->last) == 0) return true;
  if (!patch_of(version, &series, &patch) || !patch_of(span->first, &first_series, &first) ||
      !patch_of(span->last, &last_series, &last))
    return false;
  return series == first_series && strncmp(version, span->first, series) == 0 && first < patch && patch < last;
}

bool fold_known_in(const struct fold_fact *fact, const char *version) {
  for (size_t i = 0; i < sizeof fact->seen / sizeof *fact->seen && fact->seen[i].first; i++)
    if (spans(&fact->seen[i], version)) return true;
  return false;
}
