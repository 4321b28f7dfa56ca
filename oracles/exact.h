/* exact.h: what a reduction must give: the exact result, and its one rounding to each dtype.
 *
 * Two oracles answer alike and share nothing but MPFR's closing: `exact` (superaccumulators, fast) and `mpfr`
 * (mpfr_sum alone, the judge of the fast one). The policy for special values is the one table in exact.c.
 */
#ifndef FOLD_EXACT_H
#define FOLD_EXACT_H

#include <limits.h>
#include <mpfr.h>

#include "base/fold.h"
#include "model/problem.h"
#include "oracles/super.h"

/* The truth about one row. Init before use; free after. */
struct fold_truth {
  enum fold_dtype dtype; /* of the terms */
  enum fold_op op;
  size_t n;
  unsigned factors; /* how many factors each term has */
  mpfr_t exact;     /* sum: exact; product: exact or, when `enclosed`, rounded towards zero; max, min: the term */
  mpfr_t exact_up;  /* product when `enclosed`: the same rounded away from zero; else equal to exact */
  bool enclosed;    /* the product was too long to hold: exact and exact_up enclose it, and round alike in each dtype */
  /* Nearest even, one rounding, subnormals included; the policy for special values. In an integer dtype, which terms that are integers
   * alone have: modulo 2^bits. */
  uint64_t rounded[FOLD_DTYPES];
  mpfr_t abs_sum;    /* exact sum of |x| over the finite terms */
  mpfr_t finite;     /* sum only: the exact sum of the finite terms */
  double condition;  /* sum |x| / |sum x|: infinity if terms cancel to 0, NaN if it is not finite; 1 if op is no sum */
  bool finite_terms; /* no NaN, no infinity among the terms */
  /* Product only: the magnitude of each partial product, of whatever terms, lies in [2^least_exponent, largest].
   * `largest` is the product of the terms >= 1, rounded up. Zero terms do not count. */
  double least_exponent;
  mpfr_t largest;
  /* Sum only: the greatest exponent such that all finite terms are multiples of 2^lowest; FOLD_NO_BIT if they are all
   * zero. fold_oracle_close, which sees no terms, takes that of the dtype's smallest subnormal. */
  long lowest;
};
#define FOLD_NO_BIT LONG_MAX

void fold_truth_init(struct fold_truth *truth);
void fold_truth_free(struct fold_truth *truth);

/* Fills `truth` for n terms of dtype by superaccumulator (sum), interval product in MPFR, or a scan (max, min). */
fold_status fold_oracle_exact(enum fold_dtype dtype, enum fold_op op, const void *in, size_t n, unsigned threads,
                              struct fold_truth *truth);
/* The exact results of a call in host memory, each rounded once to `to`: the same bits as truth.rounded[to], where nothing else of
 * the truth is asked. One pass over the terms of a result, or of a scan's row. `out` receives fold_results() of them. */
fold_status fold_oracle_results(const struct fold_call *call, enum fold_dtype to, unsigned threads, void *out);
/* Fills `truth` by MPFR alone. */
fold_status fold_oracle_mpfr(enum fold_dtype dtype, enum fold_op op, const void *in, size_t n,
                             struct fold_truth *truth);

/* The same two oracles for general terms; terms of two factors can only be summed. */
fold_status fold_oracle_terms(const struct fold_terms *terms, unsigned threads, struct fold_truth *truth);
fold_status fold_oracle_mpfr_terms(const struct fold_terms *terms, struct fold_truth *truth);

/* The truth about a sum from two states of its n terms (fold_super_add), one of the terms and one of their magnitudes:
 * for sums whose terms are never all in one place. */
fold_status fold_oracle_close(enum fold_dtype dtype, const struct fold_super *sum, const struct fold_super *abs,
                              size_t n, struct fold_truth *truth);

/* The exponent of two that the lowest set bit in any finite term weighs; FOLD_NO_BIT if no bit is set. On `threads`
 * threads (0: as many as there are). */
long fold_lowest_bit(enum fold_dtype dtype, const void *in, size_t n, unsigned threads);

/* Whether such terms have results of that dtype: no float has an integer for its sum. */
bool fold_truth_reaches(const struct fold_truth *truth, enum fold_dtype to);
/* Whether the exact result of integer terms is an integer of so many bits, in two's complement: else `rounded` has wrapped. The
 * maximum and minimum of no terms are. */
bool fold_truth_is_within(const struct fold_truth *truth, int bits);

/* |got - exact| of a finite result in dtype, rounded away from zero; for an enclosed product, the distance to the
 * farther end. */
void fold_truth_error(mpfr_t error, const struct fold_truth *truth, enum fold_dtype dtype, uint64_t got);
/* a / b, rounded up; 0 if a is 0. */
double fold_ratio_up(mpfr_srcptr a, mpfr_srcptr b);
/* An error in units of the last place that the exact result has in dtype; rounded up. */
double fold_truth_ulps(mpfr_srcptr error, const struct fold_truth *truth, enum fold_dtype dtype);

/* A state's exact value (the precision of `value` is raised as needed); and the value correctly rounded to `to`, as a
 * pattern. */
void fold_super_value(enum fold_dtype dtype, const struct fold_super *state, mpfr_t value);
uint64_t fold_super_close(enum fold_dtype dtype, const struct fold_super *state, enum fold_dtype to);

/* Rounds an MPFR number once to dtype: nearest even, subnormals, overflow to infinity; zero keeps its sign. */
uint64_t fold_mpfr_round(enum fold_dtype dtype, mpfr_srcptr value);
/* Sets `value` exactly to the number that a pattern stands for. */
void fold_mpfr_set_bits(mpfr_t value, enum fold_dtype dtype, uint64_t bits);
/* All decimal digits of a finite number ("-1.25", "3.5e-320"; plain up to 40 digits); malloc'ed, NULL when memory is short. */
char *fold_mpfr_decimal(mpfr_srcptr value);

#endif
