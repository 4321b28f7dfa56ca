/* study.h: errors of each method by size, data, dtype and operation, against the exact result.
 *
 * Promised: a point is one subject on one input, its error computed in MPFR and rounded away from zero; beside it what theory
 * says. Nothing is judged here (judge.h), and statistical curves are named as such. The command study prints points and writes
 * them as records; the report page draws those.
 */
#ifndef FOLD_STUDY_H
#define FOLD_STUDY_H

#include <stdio.h>

#include "exact.h"
#include "generator.h"
#include "judge.h"

/* One input, and the engines whose subjects see it (mask of 1u << fold_engine). */
struct fold_study_case {
  const struct fold_generator *generator;
  enum fold_dtype dtype;
  enum fold_op op;
  size_t n;
  uint64_t seed;
  unsigned engines;
};

/* One subject on one input. Numbers are NaN where there is none. */
struct fold_study_point {
  struct fold_study_case c;
  const struct fold_subject *subject;
  bool ran;             /* got holds a result */
  uint64_t got, want;   /* patterns of dtype; want is the exact result rounded once */
  uint64_t height;      /* of the declared order; n - 1, which bounds any, where none is declared */
  double exact;         /* nearest double, infinite past its range; NaN for none */
  double abs_sum;       /* sum |x| */
  double condition;     /* sum |x| / |sum x| */
  double error;         /* |got - exact| */
  double ulps;          /* the same in units of the last place of `want` */
  double relative;      /* the same over sum |x|; for the other operations over |exact| */
  double bound;         /* fold_bound, rounded up; 0 for max and min, which round nothing */
  double probabilistic; /* statistics, never an assertion: study_measure.c */
  char note[160];       /* why something is missing */
};

/* All that a run made, in its sequence. */
struct fold_study {
  struct fold_study_point *at;
  size_t n, capacity;
  size_t broken; /* points that the environment failed */
};

/* Takes each point as it is made; `progress` may be NULL. */
struct fold_study_sink {
  fold_status (*point)(void *context, const struct fold_study_point *point);
  void (*progress)(void *context, size_t elements_done, size_t elements, const char *what);
  void *context;
};

/* Runs the subjects of `registry` on each case; stops early, with OK, once *stop is non-zero. A subject that does not
 * do a case, or has no memory for it, leaves a point with a note; the input itself must fit. */
fold_status fold_study_run(const struct fold_registry *registry, const struct fold_study_case *cases, size_t n_cases,
                           struct fold_study *study, const struct fold_study_sink *sink, const volatile int *stop);
void fold_study_free(struct fold_study *study);

/* The point of (case, engine, subject's name), or NULL. */
const struct fold_study_point *fold_study_find(const struct fold_study *study, const struct fold_study_case *c,
                                               enum fold_engine engine, const char *subject);

/* Fills the numbers of point->got against the truth. */
void fold_study_measure(struct fold_study_point *point, const struct fold_truth *truth);

/* ---- for people ---- */

/* (a + b) + c against a + (b + c) in each dtype. */
void fold_study_print_associativity(FILE *out);
/* What (a + b) + c and a + (b + c) give in dtype, each addition rounded to it. */
void fold_study_associate(enum fold_dtype dtype, const double abc[3], double *left, double *right);

#endif
