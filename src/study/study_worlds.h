/* study_worlds.h: what the number of ranks does to a sum: the report's validation, one sum and one all-reduce of
 * vectors over worlds of 1, 2, 3, 4, 5 and 8 ranks, on the same numbers.
 *
 * Promised: each result's distance from the exact sum, beside its bound; whether its bits are those of the world of
 * one, and those that the subject's promise names (the replay of its order; the exact sum rounded once). What a subject
 * promises and does not keep is in `refuted`, and only that: that a library's bits change with the world is a finding.
 *
 * A sum: n terms, cut over the ranks. A vector: n elements, a term of each on every rank; rank r's terms are the same
 * in each world.
 */
#ifndef FOLD_STUDY_WORLDS_H
#define FOLD_STUDY_WORLDS_H

#include "study.h"

struct fold_worlds_case {
  enum fold_engine engine;
  enum fold_dtype dtype;
  const struct fold_generator *generator;
  uint64_t seed;
  size_t n;
};

/* One subject's sum in one world. */
struct fold_worlds_sum {
  struct fold_study_point point; /* its errors, against the bound of its order; of any order where none is declared */
  unsigned ranks;
  bool has_one, has_must;
  uint64_t one;  /* in the world of one rank */
  uint64_t must; /* what REPLAYS or CORRECTLY_ROUNDED asks for, if promised */
  /* Of a subject without a declared order, that each rank's own sum is known from a run on its columns alone: how far
   * joining R known numbers went from their exact sum, and how far R - 1 roundings may go. NaN where there is nothing
   * to join. */
  double join_error, join_bound;
  char refuted[160]; /* empty: all that was looked at held */
};

/* How far the results of vectors are from the exact sums of their elements. All rounded up. */
struct fold_worlds_errors {
  double ulps; /* the worst in units of the last place */
  double relative, bound,
      fraction;        /* error and bound over sum |x|, where error / bound is worst; NaN where none was judged */
  size_t unjudged;     /* elements whose terms are not finite, or for which the theorem fails */
  size_t exceeded, at; /* how many are above their bounds, or not finite; the first of them */
  size_t examined;     /* in MPFR: the others can't be the worst */
};
/* Of x, n rows of `ranks` terms, and their sums `got`. */
fold_status fold_worlds_errors(struct fold_arithmetic how, enum fold_dtype dtype, uint64_t height, const void *x,
                               size_t n, size_t ranks, const void *got, struct fold_worlds_errors *errors);

/* One subject's all-reduce in one world. */
struct fold_worlds_vector {
  struct fold_worlds_case c;
  const struct fold_subject *subject;
  unsigned ranks;
  bool ran;
  uint64_t height; /* over ranks: of the declared order, R - 1 where none is */
  uint64_t hash;   /* fold_results_hash */
  size_t differ;   /* elements with different bits than the canonical order over ranks has */
  double apart;    /* the greatest distance from it over sum |x| */
  struct fold_worlds_errors errors;
  char note[160];    /* why there is no result */
  char refuted[160]; /* empty: all that was looked at held */
};

struct fold_worlds_sink {
  fold_status (*sum)(void *context, const struct fold_worlds_sum *sum);
  fold_status (*vector)(void *context, const struct fold_worlds_vector *vector);
  void *context;
};

/* Runs the subjects of c->engine in each of its worlds, rising; stops early, with OK, once *stop is non-zero. A subject
 * that does not do the case leaves a result with a note. */
fold_status fold_worlds_sums(const struct fold_registry *registry, const struct fold_worlds_case *c,
                             const struct fold_worlds_sink *sink, const volatile int *stop);
fold_status fold_worlds_vectors(const struct fold_registry *registry, const struct fold_worlds_case *c,
                                const struct fold_worlds_sink *sink, const volatile int *stop);

/* Whether subjects of sums, or of vectors, take the case. */
bool fold_worlds_takes(const struct fold_subject *subject, const struct fold_worlds_case *c, bool vector);

/* A run of a rig in a world of `ranks`, columns [first, first + cols) of `rows` rows. ENVIRONMENT where it left results
 * unwritten; what it did else against a promise goes to `refuted`, 160 bytes. `input_hash` is the input's, which is
 * laid anew where the run changed it. */
struct fold_worlds_run {
  struct fold_rig *rig;
  const struct fold_subject *subject;
  unsigned ranks;
  size_t first, rows, cols;
  uint64_t input_hash;
  char *refuted;
};
fold_status fold_worlds_once(const struct fold_worlds_run *run, void *got);

/* Takes what a judge found (fold_judge_evidence): the first refutation goes to `refuted`, 160 bytes. */
struct fold_worlds_verdict {
  char *refuted;
  fold_status status; /* of a judge that failed */
};
void fold_worlds_take(void *verdict, const struct fold_claim *claim, const struct fold_finding *finding);

#endif
