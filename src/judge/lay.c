/* lay.c: see lay.h. */
#include "judge/lay.h"

#include <string.h>

#include "base/bits.h"

const struct fold_layout fold_layout_contiguous = {.step = 1};

/* The axis of input k that is the i-th fastest. */
static enum fold_axis axis_at(const struct fold_problem *problem, const struct fold_layout *l, unsigned k, unsigned i) {
  const unsigned n = problem->n_axes[k];
  if (l->exchanged >> k & 1 && n > 1 && i < 2) i = 1 - i;
  return problem->axes[k][l->turned ? i : n - 1 - i];
}

static void lay_strides(const struct fold_problem *problem, const struct fold_shape *shape, const struct fold_layout *l,
                        unsigned k, ptrdiff_t stride[FOLD_AXES]) {
  size_t next = l->step;
  for (unsigned i = 0; i < problem->n_axes[k]; i++) {
    const enum fold_axis axis = axis_at(problem, l, k, i);
    stride[axis] = (ptrdiff_t)next;
    next = next * shape->at[axis] + l->gap;
    if (l->line) next = (next / l->line + 1) * l->line;
  }
}

struct fold_laid fold_laid_of(const struct fold_trial *trial, const struct fold_shape *shape,
                              const struct fold_layout *l) {
  struct fold_laid s = {.shape = *shape};
  for (unsigned k = 0; k < trial->c->problem->inputs; k++) lay_strides(trial->c->problem, shape, l, k, s.stride[k]);
  return s;
}

/* How far input k reaches. */
static size_t extent(const struct fold_trial *trial, const struct fold_laid *s, unsigned k) {
  const struct fold_problem *problem = trial->c->problem;
  struct fold_shape last = s->shape;
  if (fold_elements(problem, &s->shape, k) == 0) return 0;
  for (unsigned a = 0; a < FOLD_AXES; a++) last.at[a] -= last.at[a] > 0;
  return (size_t)fold_place(problem, k, s->stride[k], &last) + 1;
}

fold_status fold_laid_open(const struct fold_trial *trial, const struct fold_laid *s, size_t more,
                           struct fold_rig *rig) {
  const struct fold_case *c = trial->c;
  const size_t n[FOLD_INPUTS] = {extent(trial, s, 0) + more, c->problem->inputs > 1 ? extent(trial, s, 1) + more : 0};
  FOLD_TRY(fold_rig_open(rig, trial->subject->engine, c->problem, c->dtype, n, fold_results(c->problem, &s->shape)));
  rig->last = trial->rig->last; /* the same subject goes on, in other memory */
  return fold_ok();
}

/* Elements of the case alone, each at its own coordinates: line by line along the input's fastest axis. */
static void lay_lines(const struct fold_trial *trial, const struct fold_laid *s, unsigned k, const unsigned char *from,
                      unsigned char *to) {
  const struct fold_problem *problem = trial->c->problem;
  const enum fold_dtype dtype = fold_input_dtype(problem, trial->c->dtype, k);
  const enum fold_axis axis = problem->axes[k][problem->n_axes[k] - 1];
  const size_t n = fold_elements(problem, &s->shape, k), line = s->shape.at[axis];
  ptrdiff_t stride[FOLD_AXES];
  fold_contiguous(problem, &trial->c->shape, k, stride);
  for (size_t e = 0; e < n; e += line) {
    const struct fold_shape at = fold_coordinates(problem, &s->shape, k, e);
    ptrdiff_t place = fold_place(problem, k, s->stride[k], &at), own = fold_place(problem, k, stride, &at);
    for (size_t i = 0; i < line; i++, place += s->stride[k][axis], own += stride[axis])
      fold_bits_store(dtype, to, (size_t)place, fold_bits_load(dtype, from, (size_t)own));
  }
}

static void lay_input(const struct fold_trial *trial, const struct fold_laid *s, fold_beyond *more, unsigned k,
                      struct fold_rig *rig) {
  const struct fold_case *c = trial->c;
  const enum fold_dtype dtype = fold_input_dtype(c->problem, c->dtype, k);
  const unsigned char *from = fold_rig_input_at(trial->rig, k);
  unsigned char *to = fold_rig_input_at(rig, k);
  ptrdiff_t stride[FOLD_AXES];
  fold_contiguous(c->problem, &c->shape, k, stride);
  const uint64_t gap = fold_dtype_is_integer(dtype) ? UINT64_MAX : fold_format_of(dtype).nan;
  for (size_t i = 0; i < rig->in[k].n; i++) fold_bits_store(dtype, to, i, gap);
  if (!s->repeats && !s->by && s->shape.k <= c->cols) {
    lay_lines(trial, s, k, from, to);
    return;
  }
  for (size_t e = 0; e < fold_elements(c->problem, &s->shape, k); e++) {
    struct fold_shape at = fold_coordinates(c->problem, &s->shape, k, e);
    const size_t place = (size_t)fold_place(c->problem, k, s->stride[k], &at);
    if (s->repeats) at.at[fold_trial_batch_axis(trial)] = 0;
    if (s->by) at.at[s->moved] = (at.at[s->moved] + s->by) % c->shape.at[s->moved];
    const size_t own = (size_t)fold_place(c->problem, k, stride, &at);
    const bool is_own = at.k < c->cols, keys = fold_is_keys(c->problem, k); /* more terms have the first one's key */
    fold_bits_store(dtype, to, place, is_own || keys ? fold_bits_load(dtype, from, is_own ? own : 0) : more(c, k));
  }
}

fold_status fold_laid_fill(const struct fold_trial *trial, const struct fold_laid *s, fold_beyond *more,
                           struct fold_rig *rig) {
  for (unsigned k = 0; k < rig->inputs; k++) lay_input(trial, s, more, k, rig);
  return fold_rig_load(rig);
}

fold_status fold_laid_run_in(struct fold_trial *trial, struct fold_rig *rig, const struct fold_laid *s, bool strides,
                             void *got) {
  struct fold_request request = {.shape = s->shape, .poison = 0x4e}; /* unseen: 0x4d | 0x4f */
  if (strides) memcpy(request.stride, s->stride, sizeof request.stride);
  return fold_trial_run(trial, rig, &request, got);
}

fold_status fold_laid_run(struct fold_trial *trial, const struct fold_laid *s, fold_beyond *more, bool strides,
                          void *got) {
  struct fold_rig rig = {0};
  fold_status status = fold_laid_open(trial, s, 0, &rig); /* unseen: 1 */
  if (status.code == FOLD_OK) status = fold_laid_fill(trial, s, more, &rig);
  if (status.code == FOLD_OK) status = fold_laid_run_in(trial, &rig, s, strides, got);
  fold_rig_close(&rig);
  return status;
}

fold_status fold_laid_case_open(const struct fold_trial *trial, struct fold_rig *rig, struct fold_request *request) {
  const struct fold_case *c = trial->c;
  const struct fold_layout layout = {.step = 1, .gap = c->layout.gap, .exchanged = c->layout.transposed};
  const struct fold_laid s = fold_laid_of(trial, &c->shape, &layout);
  if (!trial->subject->strides) return fold_error(FOLD_UNSUPPORTED, "it takes contiguous inputs only");
  FOLD_TRY(fold_laid_open(trial, &s, 0, rig));
  *request = (struct fold_request){.shape = c->shape, .poison = FOLD_BASE_POISON};
  memcpy(request->stride, s.stride, sizeof request->stride);
  const fold_status status = fold_laid_fill(trial, &s, NULL, rig);
  if (status.code != FOLD_OK) fold_rig_close(rig);
  return status;
}
