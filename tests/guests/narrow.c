/* narrow.c: a guest of dot products that are accumulated in f16, as their terms are; wide says so and accumulates in f32, undeclared does
 * not say so. test_guest_values.py expects that the fixtures refute these alone. */
#include "foldproof_guest.h"

typedef const struct foldproof_guest_call call_of;
typedef float step(float s, _Float16 x, _Float16 y);

/* Each operation is exact before it is rounded. */
static float rounded(float s, _Float16 x, _Float16 y) { return (_Float16)((double)s + (_Float16)((double)x * y)); }
static float fused(float s, _Float16 x, _Float16 y) { return (_Float16)((__float128)x * y + s); }
static float wide(float s, _Float16 x, _Float16 y) { return s + (_Float16)((double)x * y); }

static int dot(call_of *call, void *context) {
  for (uint64_t row = 0; row < call->rows; row++) {
    const _Float16 *x = (const _Float16 *)call->in + row * call->cols,
                   *y = (const _Float16 *)call->other + row * call->cols;
    float s = 0;
    for (uint64_t i = 0; i < call->cols; i++) s = (*(step **)context)(s, x[i], y[i]);
    ((_Float16 *)call->out)[row] = (_Float16)s;
  }
  return FOLDPROOF_GUEST_OK;
}

static step *const by_rounded = rounded, *const by_fused = fused, *const by_wide = wide;
#define SUBJECT(subject, promised, declared, of)                                                              \
  {                                                                                                           \
    .name = "narrow/" subject, .problems = "dot", .dtypes = "f16", .accumulator = "terms", .order = declared, \
    .run = dot, .context = (void *)&of, .claims = promised                                                    \
  }

const struct foldproof_guest_table *foldproof_guest(void) {
  static const struct foldproof_guest_subject subjects[] = {
      SUBJECT("rounded", "bounded,replays,tree", "dot/sequential", by_rounded),
      SUBJECT("fused", "bounded,replays,tree", "dot/sequential_fma", by_fused),
      SUBJECT("wide", "bounded,replays", "dot/sequential", by_wide),
      {.name = "narrow/undeclared", .problems = "dot", .dtypes = "f16", .run = dot, .context = (void *)&by_rounded},
  };
  static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof *subjects,
                                                     sizeof subjects / sizeof *subjects, subjects};
  return &table;
}
