/* plan.h: the runs of the whole case that differ from the base run: by launch, by where the arguments lie, and by what
 * the output held before.
 *
 * A fault may need two of these at once, such as a misaligned array and more than one thread. So each run differs in
 * all of them, and the input's hash decides which levels meet. In each trial on the host, up to FOLD_PLAN_ALL terms,
 * each of a trial's eight numbers of threads meets closed pages before and after the arguments, a shifted input, NaN and another poison.
 * Over the trials of all inputs every level of each factor meets every level of each other factor (tests/test_plan.c
 * counts). Longer inputs run a part of the plan. In one run at each end the closed page can be read (rig.h); for the
 * longest inputs, in one run at one of the ends.
 */
#ifndef FOLD_PLAN_H
#define FOLD_PLAN_H

#include "rig/rig.h"

#define FOLD_PLAN_ALL 4096 /* up to so many terms: each number of threads at three places */
#define FOLD_PLAN_FEW \
  65536 /* up to so many: at two of the three; above: five of the eight numbers, 1 always among them, at one place each */
#define FOLD_PLAN_MOST 24

/* All zero: the base run. */
struct fold_variation {
  struct fold_launch launch;
  ptrdiff_t shift, other_shift; /* of the first input, in elements; of the other one */
  unsigned out_shift, scratch_shift;
  enum fold_placement placement;
  bool nan;    /* output and scratch held NaN */
  bool second; /* a run of the second input (vary.h) */
};

/* What a claim holds fixed or varies: a mask. */
enum fold_factor { FOLD_VARIES_LAUNCH = 1, FOLD_VARIES_ADDRESS = 2, FOLD_VARIES_POISON = 4 };
unsigned fold_variation_factors(const struct fold_variation *v);
/* The same variation, but only in these factors; the input stays. */
struct fold_variation fold_variation_part(const struct fold_variation *v, unsigned factors);
/* "with 3 threads, 5 elements from an aligned address". An input of that many bytes ends with its page, if it is at a page's end: so
 * they say how far its first byte is from a multiple of 64. */
void fold_variation_describe(const struct fold_variation *v, size_t bytes, char text[200]);

/* Makes the plan; returns how many runs it has. `turn` is the input's hash. */
size_t fold_plan(enum fold_engine engine, size_t terms, uint64_t turn, struct fold_variation plan[FOLD_PLAN_MOST]);

#endif
