/* exact_mpfr.c: a second exact oracle that uses only MPFR; the fast one is checked against it.
 *
 * It is slow and simple on purpose. Sums by mpfr_sum, which is correctly rounded, into numbers wide enough that nothing is
 * rounded (each ternary value is checked), a term of two factors by one exact product; products one term at a time with an
 * a-priori error bound; max and min by mpfr_max and mpfr_min. NaN, infinities and signs of zero are MPFR's own, whose rules agree
 * with exact.c's policy; no case is told apart here, so an error in that policy's code shows.
 *
 * Memory beside the input: CHUNK numbers, whatever n is.
 */
#include <stdlib.h>

#include "base/bits.h"
#include "oracles/integers.h"
#include "oracles/truth.h"

#define CHUNK 512

/* Wide enough for any sum of 2^64 terms: for f64 its bits weigh from 2^-1074 to 2^1088, for products of two from
 * 2^-2148 to 2^2112. */
static mpfr_prec_t sum_bits(const struct fold_terms *terms) { return terms->factors > 1 ? 4352 : 2304; }

struct sums {
  size_t room; /* how many of each are initialised: a chunk's, or fewer terms */
  mpfr_t term[CHUNK], finite[CHUNK], magnitude[CHUNK], factor, part;
  mpfr_ptr terms[CHUNK], finites[CHUNK], magnitudes[CHUNK];
};

static void init_sums(struct sums *sums, const struct fold_terms *terms) {
  sums->room = terms->n < CHUNK ? terms->n : CHUNK;
  for (size_t i = 0; i < sums->room; i++) {
    sums->terms[i] = sums->term[i];
    sums->finites[i] = sums->finite[i];
    sums->magnitudes[i] = sums->magnitude[i];
    mpfr_inits2(64 * (mpfr_prec_t)terms->factors, sums->term[i], sums->finite[i], sums->magnitude[i], (mpfr_ptr)0);
  }
  mpfr_init2(sums->factor, 64);
  mpfr_init2(sums->part, sum_bits(terms));
}

static void clear_sums(struct sums *sums) {
  for (size_t i = 0; i < sums->room; i++) mpfr_clears(sums->term[i], sums->finite[i], sums->magnitude[i], (mpfr_ptr)0);
  mpfr_clears(sums->factor, sums->part, (mpfr_ptr)0);
}

/* Sets a term exactly, whatever its number of factors. */
static void set_term(const struct fold_terms *terms, struct sums *sums, size_t i, mpfr_t term) {
  fold_mpfr_set_bits(term, terms->dtype, fold_bits_load(terms->dtype, terms->factor[0], i));
  if (terms->factors == 1) return;
  fold_mpfr_set_bits(sums->factor, terms->dtype, fold_bits_load(terms->dtype, terms->factor[1], i));
  mpfr_mul(term, term, sums->factor, MPFR_RNDN);
}

/* Adds the sum of n terms to the total. The first chunk sets the total, because one that starts at +0 would lose the
 * sign of -0. */
static int add_chunk(mpfr_t total, mpfr_t part, mpfr_ptr terms[], size_t n, bool first) {
  int inexact = mpfr_sum(part, terms, n, MPFR_RNDN) != 0;
  if (first) return inexact | (mpfr_set(total, part, MPFR_RNDN) != 0); /* unseen: & */
  return inexact | (mpfr_add(total, total, part, MPFR_RNDN) != 0);
}

static fold_status sum_all(const struct fold_terms *terms, struct fold_truth *truth, mpfr_t total) {
  struct sums *sums = malloc(sizeof *sums);
  if (!sums) return fold_no_memory("for %d MPFR numbers", 3 * CHUNK);
  init_sums(sums, terms);
  mpfr_set_ui(total, 0, MPFR_RNDN);
  mpfr_set_prec(truth->abs_sum, sum_bits(terms));
  mpfr_set_ui(truth->abs_sum, 0, MPFR_RNDN);
  mpfr_set_prec(truth->finite, sum_bits(terms));
  mpfr_set_ui(truth->finite, 0, MPFR_RNDN);
  truth->finite_terms = true;
  int inexact = 0;
  for (size_t done = 0; done < truth->n; done += CHUNK) {
    size_t length = truth->n - done < CHUNK ? truth->n - done : CHUNK;
    for (size_t i = 0; i < length; i++) {
      set_term(terms, sums, done + i, sums->term[i]);
      bool finite = mpfr_number_p(sums->term[i]);
      truth->finite_terms = truth->finite_terms && finite;
      if (truth->op == FOLD_SUM && mpfr_regular_p(sums->term[i])) {
        /* |x| < 2^exp, and this is how many bits its significand needs */
        long lowest = (long)mpfr_get_exp(sums->term[i]) - (long)mpfr_min_prec(sums->term[i]);
        if (lowest < truth->lowest) truth->lowest = lowest; /* unseen: <= */
      }
      mpfr_set(sums->finite[i], sums->term[i], MPFR_RNDN);
      if (!finite) mpfr_set_ui(sums->finite[i], 0, MPFR_RNDN);
      mpfr_abs(sums->magnitude[i], sums->finite[i], MPFR_RNDN);
    }
    inexact |= add_chunk(total, sums->part, sums->terms, length, done == 0); /* unseen: &= */
    inexact |= add_chunk(truth->finite, sums->part, sums->finites, length, done == 0);
    inexact |= add_chunk(truth->abs_sum, sums->part, sums->magnitudes, length, done == 0);
  }
  clear_sums(sums);
  free(sums);
  if (!inexact) return fold_ok();
  return fold_error(FOLD_ENVIRONMENT, "MPFR rounded a sum that fits %ld bits", (long)sum_bits(terms));
}

/* Rounds to nearest at each term; returns whether anything was rounded. */
static bool multiply(mpfr_prec_t precision, const void *in, const struct fold_truth *truth, mpfr_t product,
                     bool stop_when_inexact) {
  mpfr_t term;
  mpfr_init2(term, 53); /* unseen: 54 | 52 */
  mpfr_set_prec(product, precision);
  mpfr_set_ui(product, 1, MPFR_RNDN);
  bool inexact = false;
  for (size_t i = 0; i < truth->n && !(inexact && stop_when_inexact); i++) {
    fold_mpfr_set_bits(term, truth->dtype, fold_bits_load(truth->dtype, in, i));
    inexact |= mpfr_mul(product, product, term, MPFR_RNDN) != 0;
  }
  mpfr_clear(term);
  return inexact;
}

/* n factors 1 + d, |d| <= u = 2^-precision, are one factor 1 + t, |t| <= n u / (1 - n u) <= 2 n u as n u <= 1/2
 * (Higham, Lemma 3.1); relative to the computed product instead of the exact one, 4 n u is enough. */
static void widen(mpfr_prec_t precision, struct fold_truth *truth) {
  mpfr_t error;
  mpfr_init2(error, precision);
  mpfr_set_uj_2exp(error, truth->n, 2 - (intmax_t)precision, MPFR_RNDN);
  mpfr_mul(error, error, truth->exact, MPFR_RNDA);
  mpfr_set_prec(truth->exact_up, precision);
  mpfr_add(truth->exact_up, truth->exact, error, MPFR_RNDA);
  mpfr_sub(truth->exact, truth->exact, error, MPFR_RNDZ);
  mpfr_clear(error);
}

static void multiply_all(const void *in, struct fold_truth *truth) {
  for (mpfr_prec_t precision = 128; precision <= FOLD_PRODUCT_BITS; precision *= 2)
    if (!multiply(precision, in, truth, truth->exact, true)) return;
  for (mpfr_prec_t precision = 128;; precision *= 2) { /* unseen: 3 */
    multiply(precision, in, truth, truth->exact, false);
    truth->enclosed = mpfr_regular_p(truth->exact);
    if (!truth->enclosed) return;
    widen(precision, truth);
    if (fold_product_decided(truth)) return;
  }
}

static void find_extreme(const void *in, struct fold_truth *truth) {
  mpfr_t term;
  mpfr_init2(term, 64);
  mpfr_set_prec(truth->exact, 64);
  mpfr_set_inf(truth->exact, truth->op == FOLD_MAX ? -1 : 1);
  for (size_t i = 0; i < truth->n && !mpfr_nan_p(truth->exact); i++) {
    fold_mpfr_set_bits(term, truth->dtype, fold_bits_load(truth->dtype, in, i));
    if (mpfr_nan_p(term)) /* mpfr_max and mpfr_min would drop it */
      mpfr_set_nan(truth->exact);
    else
      (truth->op == FOLD_MAX ? mpfr_max : mpfr_min)(truth->exact, truth->exact, term, MPFR_RNDN);
  }
  mpfr_clear(term);
}

static fold_status exact(const struct fold_terms *terms, struct fold_truth *truth) {
  FOLD_TRY(fold_truth_start_terms(truth, terms));
  const void *in = terms->factor[0];
  mpfr_t total;
  mpfr_init2(total, sum_bits(terms));
  fold_status status = sum_all(terms, truth, total);
  if (status.code == FOLD_OK) {
    switch (terms->op) {
      case FOLD_SUM:
        mpfr_set_prec(truth->exact, sum_bits(terms));
        mpfr_set(truth->exact, total, MPFR_RNDN);
        break;
      case FOLD_PROD:
        multiply_all(in, truth);
        fold_product_range(in, truth);
        break;
      case FOLD_MAX:
      case FOLD_MIN: find_extreme(in, truth); break;
      case FOLD_OPS: break;
    }
    fold_truth_close(truth);
    if (terms->op == FOLD_PROD && fold_dtype_is_integer(terms->dtype))
      fold_product_wrap(truth, fold_integers_fold_gmp(terms));
  }
  mpfr_clear(total);
  return status;
}

fold_status fold_oracle_mpfr_terms(const struct fold_terms *terms, struct fold_truth *truth) {
  struct fold_terms line;
  void *room;
  FOLD_TRY(fold_terms_line(terms, &line, &room));
  const fold_status status = exact(&line, truth);
  free(room);
  return status;
}

fold_status fold_oracle_mpfr(enum fold_dtype dtype, enum fold_op op, const void *in, size_t n,
                             struct fold_truth *truth) {
  const struct fold_terms terms = fold_terms_of(dtype, op, in, n);
  return fold_oracle_mpfr_terms(&terms, truth);
}
