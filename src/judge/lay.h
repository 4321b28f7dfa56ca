/* lay.h: a case's terms laid in memory of their own: in part, in another order of an axis, or with strides. Wherever no term
 * lies there is NaN. */
#ifndef FOLD_LAY_H
#define FOLD_LAY_H

#include "judge/judge.h"

/* A case's terms laid elsewhere: its shape, and each input's strides. */
struct fold_laid {
  struct fold_shape shape;
  ptrdiff_t stride[FOLD_INPUTS][FOLD_AXES];
  bool repeats; /* each slice has the terms of the case's first one */
  /* Along this axis the arrays begin with the case's element `by`, and go on behind the last with the first. */
  enum fold_axis moved;
  size_t by;
};

/* How an array is laid that is not contiguous: elements `step` apart; along each further axis a gap of `gap` elements, or
 * up to a multiple of `line`; the axes in the order of its problem, or turned round; of input k the last two are exchanged
 * where bit k of `exchanged` is set. */
struct fold_layout {
  size_t step, gap, line;
  bool turned;
  unsigned exchanged;
};
extern const struct fold_layout fold_layout_contiguous;

/* The element that input k holds behind the terms of each of the case's rows. */
typedef uint64_t fold_beyond(const struct fold_case *c, unsigned k);

struct fold_laid fold_laid_of(const struct fold_trial *trial, const struct fold_shape *shape,
                              const struct fold_layout *l);
/* Opens a rig of that shape, with so many more elements in each input; fills it; runs in it, with strides or, where the
 * arrays are contiguous, without. */
fold_status fold_laid_open(const struct fold_trial *trial, const struct fold_laid *s, size_t more,
                           struct fold_rig *rig);
fold_status fold_laid_fill(const struct fold_trial *trial, const struct fold_laid *s, fold_beyond *more,
                           struct fold_rig *rig);
fold_status fold_laid_run_in(struct fold_trial *trial, struct fold_rig *rig, const struct fold_laid *s, bool strides,
                             void *got);
/* All of that, with elements of `more` behind the case's terms. */
fold_status fold_laid_run(struct fold_trial *trial, const struct fold_laid *s, fold_beyond *more, bool strides,
                          void *got);

/* Opens a rig with the inputs as the case says that they lie, and sets the request of a run on all of them. UNSUPPORTED for a
 * subject that takes contiguous inputs only. */
fold_status fold_laid_case_open(const struct fold_trial *trial, struct fold_rig *rig, struct fold_request *request);

#endif
