/* draw.h: random cases for a hunt.
 *
 * Promised: case i of a round is a function of the seed, the round, i, the selected subjects, and the sizes that are given as telling;
 * so the same seed gives the same hunt on each machine.
 */
#ifndef FOLD_HUNT_DRAW_H
#define FOLD_HUNT_DRAW_H

#include "run/runner.h"

/* Sizes at which something new was seen: cases near them are drawn more often. */
enum { FOLD_TELLING_SIZES = 32 };
struct fold_telling_sizes {
  struct fold_shape at[FOLD_TELLING_SIZES]; /* the last ones */
  size_t n;                                 /* how many there were in all */
};

struct fold_draw {
  const struct fold_registry *registry;
  const struct fold_selection *selection;
  uint64_t seed;
  size_t terms;        /* that a case has at most; SIZE_MAX: no limit */
  size_t *subjects, n; /* their places in the registry */
};

/* With cases of at most so many terms; 0: no limit. BAD_INPUT where no selected subject can be hunted: those over ranks are not. */
fold_status fold_draw_open(const struct fold_registry *registry, const struct fold_selection *selection, uint64_t seed,
                           uint64_t terms, struct fold_draw *draw);
void fold_draw_close(struct fold_draw *draw);
/* Which round; and how many cases each lane has had in the rounds before its group of eight. */
struct fold_draw_place {
  uint64_t round, of_each;
};
/* Appends n cases of that round. */
fold_status fold_draw_round(const struct fold_draw *draw, const struct fold_telling_sizes *sizes,
                            const struct fold_draw_place *place, size_t n, struct fold_cases *cases);
/* Whether one of the subjects that are hunted runs on a device. */
bool fold_hunts_device(const struct fold_registry *registry, const struct fold_selection *selection);

#endif
