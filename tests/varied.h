/* varied.h: compares in what the runs of a trial differed with a list that a test gives. */
#ifndef VARIED_H
#define VARIED_H

#include <criterion/criterion.h>
#include <string.h>

#include "judge/plan.h"

struct varied {
  unsigned threads, blocks, block;
  int shift, out_shift; /* in elements */
  enum fold_placement placement;
  bool nan; /* the output held NaN */
};
struct varied_runs {
  struct varied at[256];
  size_t n;
};

static inline bool varied_equals(struct varied a, struct varied b) {
  return a.threads == b.threads && a.blocks == b.blocks && a.block == b.block && a.shift == b.shift &&
         a.out_shift == b.out_shift && a.placement == b.placement && a.nan == b.nan;
}

/* Notes a run, except base runs, which differ in nothing. */
static inline void varied_note(struct varied_runs *runs, struct varied run) {
  if (!varied_equals(run, (struct varied){0}) && runs->n < 256) runs->at[runs->n++] = run;
}

static inline size_t varied_count(const struct varied *at, size_t n, struct varied run) {
  size_t count = 0;
  for (size_t i = 0; i < n; i++) count += varied_equals(at[i], run);
  return count;
}

/* The runs of plan.h for that input; the last entry is a part of a row in its place, whose copy is at an aligned
 * place. */
static inline size_t varied_of_plan(enum fold_engine engine, size_t terms, uint64_t input_hash,
                                    struct varied listed[FOLD_PLAN_MOST + 1]) {
  struct fold_variation plan[FOLD_PLAN_MOST];
  size_t n = fold_plan(engine, terms, input_hash, plan);
  for (size_t i = 0; i < n; i++)
    listed[i] = (struct varied){.threads = plan[i].launch.threads,
                                .blocks = plan[i].launch.blocks,
                                .block = plan[i].launch.block,
                                .shift = (int)plan[i].shift,
                                .out_shift = (int)plan[i].out_shift,
                                .placement = plan[i].placement,
                                .nan = plan[i].nan};
  listed[n] = (struct varied){.shift = 1};
  return n;
}

/* Checks that each listed run was made as often as it is listed, and no other. */
static inline void varied_expect(const struct varied_runs *runs, const struct varied *listed, size_t n) {
  for (size_t i = 0; i < n; i++) {
    size_t made = varied_count(runs->at, runs->n, listed[i]), want = varied_count(listed, n, listed[i]);
    cr_expect_eq(made, want, "step %zu of the list: %zu runs, want %zu", i, made, want);
  }
  for (size_t i = 0; i < runs->n; i++) {
    struct varied r = runs->at[i];
    cr_expect(varied_count(listed, n, r) > 0,
              "not listed: %u threads, %u blocks of %u, input %d, output %d further, placement %d, NaN %d", r.threads,
              r.blocks, r.block, r.shift, r.out_shift, (int)r.placement, r.nan);
  }
}

#endif
