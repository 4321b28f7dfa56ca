/* exact.h: what a reduction must give: the exact result, and its one rounding to each dtype.
 *
 * Two oracles answer alike and share nothing but MPFR's closing: `exact` (superaccumulators, fast) and `mpfr`
 * (mpfr_sum alone, the judge of the fast one). The policy for special values is the one table in exact.c.
 */
#ifndef FOLD_EXACT_H
#define FOLD_EXACT_H

#include <limits.h>
#include <mpfr.h>

#include "fold.h"
#include "problem.h"
#include "super.h"

/* The truth about one row. Init before use; free after. */
struct fold_truth {
  enum fold_dtype dtype; /* of the terms */
  enum fold_op op;
  size_t n;
  unsigned factors; /* of a term */
  mpfr_t exact;     /* sum: exact; product: exact or, when `enclosed`, rounded towards zero; max, min: the term */
  mpfr_t exact_up;  /* product when `enclosed`: the same rounded away from zero; else equal to exact */
  bool enclosed;    /* the product was too long to hold: exact and exact_up enclose it, and round alike in each dtype */
  uint64_t rounded[FOLD_DTYPES]; /* nearest even, one rounding, subnormals included; the policy for special values */
  mpfr_t abs_sum;                /* exact sum of |x| over the finite terms */
  mpfr_t finite;                 /* sum only: the exact sum of the finite terms */
  double condition;  /* of a sum |x| / |sum x|: infinity when it cancels to zero, NaN when not finite; 1 of others */
  bool finite_terms; /* no NaN, no infinity among the terms */
  /* Product only: partial products of any subset lie in [2^least_exponent, largest], the latter the product of the terms >= 1, rounded
   * up. Zero terms do not count. */
  double least_exponent;
  mpfr_t largest;
  /* Sum only: the finite terms are multiples of 2^lowest, and not all of them of twice that; FOLD_NO_BIT when they are all
   * zero. fold_oracle_close, which sees no terms, takes the dtype's smallest subnormal. */
  long lowest;
};
#define FOLD_NO_BIT LONG_MAX

void fold_truth_init(struct fold_truth *truth);
void fold_truth_free(struct fold_truth *truth);

/* Fills `truth` for n terms of dtype by superaccumulator (sum), interval product in MPFR, or a scan (max, min). */
fold_status fold_oracle_exact(enum fold_dtype dtype, enum fold_op op, const void *in, size_t n, unsigned threads,
                              struct fold_truth *truth);
/* The same by MPFR alone. */
fold_status fold_oracle_mpfr(enum fold_dtype dtype, enum fold_op op, const void *in, size_t n,
                             struct fold_truth *truth);

/* The same two of terms; of more than one factor only sums. */
fold_status fold_oracle_terms(const struct fold_terms *terms, unsigned threads, struct fold_truth *truth);
fold_status fold_oracle_mpfr_terms(const struct fold_terms *terms, struct fold_truth *truth);

/* A sum's truth from the states of its n terms and of their magnitudes (fold_super_add): for sums that are nowhere whole. */
fold_status fold_oracle_close(enum fold_dtype dtype, const struct fold_super *sum, const struct fold_super *abs,
                              size_t n, struct fold_truth *truth);

/* The weight, as an exponent of two, of the lowest bit set in any finite term; FOLD_NO_BIT where none is. On `threads` threads
 * (0: as many as there are). */
long fold_lowest_bit(enum fold_dtype dtype, const void *in, size_t n, unsigned threads);

/* |got - exact| of a finite result in dtype, rounded away from zero; an enclosed product counts its farther end. */
void fold_truth_error(mpfr_t error, const struct fold_truth *truth, enum fold_dtype dtype, uint64_t got);
/* a / b, 0 where a is; rounded up. */
double fold_ratio_up(mpfr_srcptr a, mpfr_srcptr b);
/* That error in units of the last place, in dtype, of the exact result; rounded up. */
double fold_truth_ulps(mpfr_srcptr error, const struct fold_truth *truth, enum fold_dtype dtype);

/* Closing: a state's exact value (precision is raised as needed), and its correctly rounded pattern in `to`. */
void fold_super_value(enum fold_dtype dtype, const struct fold_super *state, mpfr_t value);
uint64_t fold_super_close(enum fold_dtype dtype, const struct fold_super *state, enum fold_dtype to);

/* Rounds an MPFR number once to dtype: nearest even, subnormals, overflow to infinity; zero keeps its sign. */
uint64_t fold_mpfr_round(enum fold_dtype dtype, mpfr_srcptr value);
/* Sets `value` exactly to the number that a pattern stands for. */
void fold_mpfr_set_bits(mpfr_t value, enum fold_dtype dtype, uint64_t bits);
/* All decimal digits of a finite number ("-1.25", "3.5e-320"; plain up to 40 digits); malloc'ed, NULL when memory is short. */
char *fold_mpfr_decimal(mpfr_srcptr value);

#endif
