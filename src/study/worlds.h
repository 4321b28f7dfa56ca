/* study/worlds.h: how the number of ranks changes a sum. This is the reference study's validation: one sum and one all-reduce of
 * vectors, on the same numbers, over worlds of 1, 2, 3, 4, 5 and 8 ranks.
 *
 * Promised: each result's distance from the exact sum, beside its bound; whether its bits are those of the world with one rank, and those
 * that the subject's promise names (the replay of its order; the exact sum rounded once). `refuted` has only what a subject promises and
 * does not keep: if a library's bits change with the world, that is a finding and no refutation.
 *
 * A sum has n terms, cut over the ranks. A vector has n elements, with one term from each rank; rank r's terms are the same
 * in each world.
 */
#ifndef FOLD_STUDY_WORLDS_H
#define FOLD_STUDY_WORLDS_H

#include "study/study.h"

struct fold_worlds_case {
  enum fold_engine engine;
  enum fold_dtype dtype;
  const struct fold_generator *generator;
  uint64_t seed;
  size_t n;
};

/* One subject's sum in one world. */
struct fold_worlds_sum {
  struct fold_study_point point; /* its errors, beside the bound of its order, or of any order if none is declared */
  unsigned ranks;
  bool has_one, has_must;
  uint64_t one;  /* the bits in the world of one rank */
  uint64_t must; /* the bits that REPLAYS or CORRECTLY_ROUNDED requires, if promised */
  /* For a subject without a declared order. A run on each rank's columns alone gives that rank's own sum. join_error is
   * how far the result is from the exact sum of these R known numbers, and join_bound how far R - 1 roundings can go.
   * NaN if there is nothing to join. */
  double join_error, join_bound;
  char refuted[160]; /* empty if everything that was checked held */
};

/* How far the results of vectors are from the exact sums of their elements; all figures are rounded up. */
struct fold_worlds_errors {
  double ulps; /* the worst, in units of the last place */
  double relative, bound,
      fraction;        /* error and bound over sum |x|, where error / bound is worst; NaN where none was judged */
  size_t unjudged;     /* elements whose terms are not finite, or for which the theorem fails */
  size_t exceeded, at; /* how many elements are above their bounds, or not finite; the first of them */
  size_t examined;     /* how many were examined in MPFR: the others can't be the worst */
};
/* Examines n rows x of `ranks` terms each, and their sums `got`. */
fold_status fold_worlds_errors(struct fold_arithmetic how, enum fold_dtype dtype, uint64_t height, const void *x,
                               size_t n, size_t ranks, const void *got, struct fold_worlds_errors *errors);

/* One subject's all-reduce in one world. */
struct fold_worlds_vector {
  struct fold_worlds_case c;
  const struct fold_subject *subject;
  unsigned ranks;
  bool ran;
  uint64_t height; /* the height over ranks: of the declared order, or R - 1 if none is declared */
  uint64_t hash;   /* fold_results_hash */
  size_t differ;   /* how many elements have different bits than the canonical order over ranks gives */
  double apart;    /* the greatest distance from the canonical order's result, over sum |x| */
  struct fold_worlds_errors errors;
  char note[160];    /* why there is no result */
  char refuted[160]; /* empty if everything that was checked held */
};

struct fold_worlds_sink {
  fold_status (*sum)(void *context, const struct fold_worlds_sum *sum);
  fold_status (*vector)(void *context, const struct fold_worlds_vector *vector);
  void *context;
};

/* Runs the subjects of c->engine in each of the case's worlds, in rising order; stops early, with FOLD_OK, once *stop
 * is non-zero. A subject that does not take the case gives a result with a note. */
fold_status fold_worlds_sums(const struct fold_registry *registry, const struct fold_worlds_case *c,
                             const struct fold_worlds_sink *sink, const volatile int *stop);
fold_status fold_worlds_vectors(const struct fold_registry *registry, const struct fold_worlds_case *c,
                                const struct fold_worlds_sink *sink, const volatile int *stop);

/* Whether the subject takes the case, as a sum or as a vector. */
bool fold_worlds_takes(const struct fold_subject *subject, const struct fold_worlds_case *c, bool vector);

/* One run of a rig in a world of `ranks`, on columns [first, first + cols) of `rows` rows. FOLD_ENVIRONMENT if it left
 * results unwritten; anything else that it did against a promise goes to `refuted`, 160 bytes. `input_hash` is the
 * input's; if the run changed the input, it is laid again. */
struct fold_worlds_run {
  struct fold_rig *rig;
  const struct fold_subject *subject;
  unsigned ranks;
  size_t first, rows, cols;
  uint64_t input_hash;
  char *refuted;
};
fold_status fold_worlds_once(const struct fold_worlds_run *run, void *got);

/* Gets the findings of fold_judge_evidence; the first refutation goes to `refuted`, 160 bytes. */
struct fold_worlds_verdict {
  char *refuted;
  fold_status status; /* the status of a judge that failed */
};
void fold_worlds_take(void *verdict, const struct fold_claim *claim, const struct fold_finding *finding);

#endif
