/* plan.h: which runs of the whole case differ from the base run, and in what: its launch, where its arguments lie, and what the
 * output held before.
 *
 * A fault may need two of these at once: a misaligned array and more than one thread. So each run differs in all of them, and which
 * meets which is turned by the input's hash. In every trial of a host's, up to FOLD_PLAN_ALL terms, each number of threads meets
 * closed pages before and after the arguments, a shifted input, NaN and another poison; over the trials of all inputs every level of
 * each factor meets every level of each other one (tests/test_plan.c counts). Longer inputs run a part of it. At each end one of
 * these pages can be read; of the longest inputs, at one of both ends.
 */
#ifndef FOLD_PLAN_H
#define FOLD_PLAN_H

#include "rig.h"

#define FOLD_PLAN_ALL 4096  /* terms: each number of threads at three places */
#define FOLD_PLAN_FEW 65536 /* at two of the three; above: five numbers of threads at one place each */
#define FOLD_PLAN_MOST 24

/* All zero: the base run. */
struct fold_variation {
  struct fold_launch launch;
  ptrdiff_t shift, other_shift; /* of the input, in elements; of another one beside it */
  unsigned out_shift, scratch_shift;
  enum fold_placement placement;
  bool open;   /* the page there can be read (rig.h) */
  bool nan;    /* output and scratch held NaN */
  bool second; /* of the second input (vary.c) */
};

/* What a claim holds fixed or varies: a mask. */
enum fold_factor { FOLD_VARIES_LAUNCH = 1, FOLD_VARIES_ADDRESS = 2, FOLD_VARIES_POISON = 4 };
unsigned fold_variation_factors(const struct fold_variation *v);
/* The part of it that is of these factors, of the same input. */
struct fold_variation fold_variation_part(const struct fold_variation *v, unsigned factors);
/* "with 3 threads, 5 elements from an aligned address" */
void fold_variation_describe(const struct fold_variation *v, char text[200]);

/* How many runs; `turn` is the input's hash. */
size_t fold_plan(enum fold_engine engine, size_t terms, uint64_t turn, struct fold_variation plan[FOLD_PLAN_MOST]);

#endif
