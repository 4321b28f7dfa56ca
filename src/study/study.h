/* study.h: errors of each method by size, data, dtype and operation, against the exact result.
 *
 * Promised: a point is one subject on one input. Its error is computed in MPFR and rounded away from zero; theoretical bounds stand beside
 * it. Nothing is judged here (judge.h), and statistical curves are named as such. The command study prints points and writes
 * them as records, and the report page draws those.
 */
#ifndef FOLD_STUDY_H
#define FOLD_STUDY_H

#include <stdio.h>

#include "fixtures/generator.h"
#include "judge/judge.h"
#include "oracles/exact.h"

/* One input, and a mask (1u << fold_engine) of the engines whose subjects run on it. */
struct fold_study_case {
  const struct fold_generator *generator;
  enum fold_dtype dtype;
  enum fold_op op;
  size_t n;
  uint64_t seed;
  unsigned engines;
};

/* One subject on one input. Numbers are NaN if there is none. */
struct fold_study_point {
  struct fold_study_case c;
  const struct fold_subject *subject;
  bool ran;             /* got holds a result */
  uint64_t got, want;   /* patterns of dtype; want is the exact result rounded once */
  uint64_t height;      /* of the declared order; if none is declared n - 1, which no order exceeds */
  double exact;         /* the nearest double, infinite beyond its range; NaN if there is none */
  double abs_sum;       /* sum |x| */
  double condition;     /* sum |x| / |sum x| */
  double error;         /* |got - exact| */
  double ulps;          /* the same in units of the last place of `want` */
  double relative;      /* the error over sum |x|; for other operations over |exact| */
  double bound;         /* fold_bound, rounded up; 0 for max and min, which round nothing */
  double probabilistic; /* statistics, never an assertion: study/measure.c */
  char note[160];       /* why something is missing */
};

/* All points of a run, in sequence. */
struct fold_study {
  struct fold_study_point *at;
  size_t n, capacity;
  size_t broken; /* how many points failed because of the environment */
};

/* Gets each point as it is made; `progress` may be NULL. */
struct fold_study_sink {
  fold_status (*point)(void *context, const struct fold_study_point *point);
  void (*progress)(void *context, size_t elements_done, size_t elements, const char *what);
  void *context;
};

/* Runs the subjects of `registry` on each case; stops early, with FOLD_OK, once *stop is non-zero. A subject that does
 * not take a case, or lacks memory for it, gives a point with a note; the input itself must fit. */
fold_status fold_study_run(const struct fold_registry *registry, const struct fold_study_case *cases, size_t n_cases,
                           struct fold_study *study, const struct fold_study_sink *sink, const volatile int *stop);
void fold_study_free(struct fold_study *study);

/* The point for that case, engine and subject's name; NULL if there is none. */
const struct fold_study_point *fold_study_find(const struct fold_study *study, const struct fold_study_case *c,
                                               enum fold_engine engine, const char *subject);

/* Computes the figures of point->got from the truth. */
void fold_study_measure(struct fold_study_point *point, const struct fold_truth *truth);

/* ---- for people ---- */

/* (a + b) + c against a + (b + c) in each dtype. */
void fold_study_print_associativity(FILE *out);
/* What (a + b) + c and a + (b + c) give in dtype, each addition rounded to it. */
void fold_study_associate(enum fold_dtype dtype, const double abc[3], double *left, double *right);

#endif
