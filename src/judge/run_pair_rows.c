/* run_pair_rows.c: one of the two runs whose bits differ (run_pair.h), as a function that sums rows, so that its tree can be revealed
 * (reveal.h). It has a rig of its own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "judge/judge.h"
#include "judge/reveal_subject.h"

/* Limits of a side: elements of its inputs, launches (a row alone makes one probe a launch), and terms added by all
 * launches. */
static const size_t MOST_ELEMENTS = 1 << 22, MOST_LAUNCHES = 1 << 14;
static const double MOST_TERMS = 0x1p28;
/* Launches that do not ask for pairs: those of test data and of units. */
enum { OTHER_LAUNCHES = 40 };

static bool is_strided(const struct fold_order_side *s) { return s->col_stride > 0; }
static size_t col_step(const struct fold_order_side *s) { return is_strided(s) ? s->col_stride : 1; }
static size_t row_step(const struct fold_order_side *s, size_t n) {
  return is_strided(s) ? s->row_stride : n + s->more;
}
static size_t first_of(const struct fold_order_side *s, size_t n) { return s->first_row * row_step(s, n) + s->skip; }
static size_t elements_of(const struct fold_order_side *s, size_t n) {
  return first_of(s, n) + (s->rows - 1) * row_step(s, n) + (n + s->more - 1) * col_step(s) + 1 + s->behind;
}

bool fold_order_side_is_short(const struct fold_order_side *s, size_t n) {
  const size_t elements = elements_of(s, n), at_once = s->alone ? 1 : s->rows;
  const size_t pairs = n * (size_t)(ilogb((double)n) + 1), proofs = 2 * FOLD_PROOF_ROWS;
  const size_t launches = OTHER_LAUNCHES + (pairs + proofs) / at_once;
  return elements <= MOST_ELEMENTS && launches <= MOST_LAUNCHES && (double)launches * (double)elements <= MOST_TERMS;
}

struct laid {
  const struct fold_trial *trial;
  const struct fold_order_side *side;
  size_t n;
  double until;
  struct fold_rig rig;
  struct fold_summer summer;
  unsigned char *got;    /* all rows' results of a run */
  char side_effect[200]; /* unseen: 201 */
};

/* The element where no probe is written. */
static uint64_t filling(const struct laid *l, unsigned input, bool behind) {
  const struct fold_order_side *s = l->side;
  const struct fold_format f = fold_format_of(l->summer.dtype);
  if (behind) return fold_bits_from_double(l->summer.dtype, s->behind_zeros ? 0 : 1);
  if (is_strided(s)) return f.nan;
  return s->more > 0 && !s->more_zeros && input == 0 ? f.sign : 0;
}

static void fill(struct laid *l) {
  const size_t all = elements_of(l->side, l->n), behind = all - l->side->behind;
  for (unsigned k = 0; k < l->rig.inputs; k++)
    for (size_t i = 0; i < all; i++)
      fold_bits_store(l->summer.dtype, fold_rig_input_at(&l->rig, k), i, filling(l, k, i >= behind));
}

/* Copies the summer's row r to where the run has it. */
static void lay_row(struct laid *l, size_t r) {
  const struct fold_order_side *s = l->side;
  const size_t size = fold_dtype_size(l->summer.dtype), row = s->alone ? s->row : r;
  const size_t at = first_of(s, l->n) + row * row_step(s, l->n);
  for (unsigned k = 0; k < l->rig.inputs; k++) {
    const unsigned char *from = (const unsigned char *)l->summer.in[k] + r * l->n * size;
    unsigned char *to = (unsigned char *)fold_rig_input_at(&l->rig, k) + at * size;
    if (col_step(s) == 1) {
      memcpy(to, from, l->n * size);
    } else {
      for (size_t i = 0; i < l->n; i++) memcpy(to + i * s->col_stride * size, from + i * size, size);
    }
  }
}

static fold_status sum(void *context, size_t rows, void *out) {
  struct laid *l = context;
  const struct fold_order_side *s = l->side;
  const struct fold_variation *how = &s->how;
  const size_t size = fold_dtype_size(l->summer.result);
  const size_t first = first_of(s, l->n);
  struct fold_request request = {.first = {first, first},
                                 .rows = s->rows,
                                 .cols = l->n + s->more,
                                 .launch = how->launch,
                                 .placement = how->placement,
                                 .out_shift = how->out_shift,
                                 .scratch_shift = how->scratch_shift,
                                 .poison = how->nan ? 0xff : FOLD_BASE_POISON};
  char left[80] = ""; /* leaves_no_trace tells it */
  for (unsigned k = 0; k < l->rig.inputs; k++) {
    request.stride[k][FOLD_M] = (ptrdiff_t)s->row_stride;
    request.stride[k][FOLD_K] = (ptrdiff_t)s->col_stride;
  }
  if (fold_now() > l->until) return fold_error(FOLD_BAD_INPUT, "it took longer than --order-time allows");
  for (size_t r = 0; r < rows; r++) lay_row(l, r);
  FOLD_TRY(fold_reveal_run(&l->rig, l->trial->subject, &request, l->got, l->side_effect, left));
  memcpy(out, l->got + (s->alone ? s->row * size : 0), rows * size);
  return fold_ok();
}

static fold_status open_rig(struct laid *l) {
  const struct fold_trial *trial = l->trial;
  const size_t all = elements_of(l->side, l->n), n[FOLD_INPUTS] = {all, all};
  FOLD_TRY(fold_rig_open(&l->rig, trial->subject->engine, trial->c->problem, trial->c->dtype, n, l->side->rows));
  l->rig.last = trial->rig->last; /* the same subject goes on, in other memory */ /* unseen: ; */
  FOLD_TRY(fold_rig_load(&l->rig));
  if (l->side->how.shift || l->side->how.other_shift)
    FOLD_TRY(fold_rig_move_apart(&l->rig, l->side->how.shift, l->side->how.other_shift));
  fill(l);
  return fold_ok();
}

static fold_status open_laid(struct laid *l) {
  struct fold_summer *summer = &l->summer;
  const struct fold_trial *trial = l->trial;
  *summer = (struct fold_summer){.sum = sum,
                                 .context = l,
                                 .n = l->n,
                                 .rows = l->side->alone ? 1 : l->side->rows,
                                 .dtype = trial->c->dtype,
                                 .accumulator = fold_subject_accumulator(trial->subject, trial->c->dtype),
                                 .result = fold_subject_result(trial->subject, trial->c->dtype),
                                 .factors = trial->c->problem->factors};
  struct fold_masks masks;
  FOLD_TRY(fold_masks_of(summer->dtype, summer->accumulator, summer->result, &masks));
  bool is_there = (l->got = malloc(l->side->rows * sizeof(uint64_t)));
  for (unsigned k = 0; k < trial->rig->inputs; k++)
    is_there &= (summer->in[k] = calloc(summer->rows * l->n, fold_dtype_size(summer->dtype))) != NULL;
  if (!is_there) return fold_no_memory("to ask for an order of %zu terms", l->n);
  return open_rig(l);
}

fold_status fold_order_side_reveal(const struct fold_trial *trial, const struct fold_order_side *side, size_t n,
                                   double until, struct fold_revealed *revealed) {
  struct laid l = {.trial = trial, .side = side, .n = n, .until = until};
  struct fold_traces left;
  *revealed = (struct fold_revealed){.kind = FOLD_REVEALED_NO_TREE};
  fold_status status = open_laid(&l);
  if (status.code == FOLD_OK) {
    status = fold_reveal_launches(&l.summer, revealed);
    fold_rig_look_at_state(&l.rig, &left); /* puts right the threads, which make the next inputs */
  }
  if (l.rig.ops) fold_rig_close(&l.rig);
  for (unsigned k = 0; k < FOLD_INPUTS; k++) free(l.summer.in[k]);
  free(l.got);
  return status;
}
