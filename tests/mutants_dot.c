/* mutants_dot.c: mutants of dot products: other products than declared, and faults in the use of the second input. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "mutants_row.h"
#include "oracles/exact.h"

typedef float dot_row(const fold_element_f32 *x, const fold_element_f32 *y, size_t n);

static fold_status rows(const struct fold_call *call, dot_row *row) {
  for (size_t r = 0; r < call->rows; r++)
    ((fold_element_f32 *)call->out)[r] = row((const fold_element_f32 *)call->in[0] + r * call->cols,
                                             (const fold_element_f32 *)call->in[1] + r * call->cols, call->cols);
  return fold_ok();
}
#define DOT(name)                                                                                   \
  static fold_status run_##name(const struct fold_subject *subject, const struct fold_call *call) { \
    (void)subject;                                                                                  \
    return rows(call, name);                                                                        \
  }

static float rounded(const fold_element_f32 *x, const fold_element_f32 *y, size_t n) {
  float sum = 0;
  for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}
DOT(rounded)

static float fused(const fold_element_f32 *x, const fold_element_f32 *y, size_t n) {
  float sum = 0;
  for (size_t i = 0; i < n; i++) sum = fmaf(x[i], y[i], sum);
  return sum;
}
DOT(fused)

static float flushed(const fold_element_f32 *x, const fold_element_f32 *y, size_t n) {
  float sum = 0;
  for (size_t i = 0; i < n; i++) {
    const float product = x[i] * y[i];
    sum += fabsf(product) < FLT_MIN ? copysignf(0, product) : product;
  }
  return sum;
}
DOT(flushed)

static float skips_zeros(const fold_element_f32 *x, const fold_element_f32 *y, size_t n) {
  float sum = 0;
  for (size_t i = 0; i < n; i++)
    if (y[i] != 0) sum += x[i] * y[i];
  return sum;
}
DOT(skips_zeros)

/* An FMA by way of f64, which rounds twice. */
static float fused_twice(const fold_element_f32 *x, const fold_element_f32 *y, size_t n) {
  float sum = 0;
  for (size_t i = 0; i < n; i++) sum = (float)((double)x[i] * y[i] + sum);
  return sum;
}
DOT(fused_twice)

static float without_last(const fold_element_f32 *x, const fold_element_f32 *y, size_t n) {
  return rounded(x, y, n > 0 ? n - 1 : 0);
}
DOT(without_last)

/* Seven of eight bits of the second factor's fraction. */
static float narrow_factor(const fold_element_f32 *x, const fold_element_f32 *y, size_t n) {
  float sum = 0;
  for (size_t i = 0; i < n; i++) sum += x[i] * fold_bf16_to_f32(fold_f32_to_bf16(y[i]));
  return sum;
}
DOT(narrow_factor)

/* A vector load past the second input's end, whose last lane is thrown away. */
static float past_other(const fold_element_f32 *x, const fold_element_f32 *y, size_t n) {
  const volatile fold_element_f32 *end = y + n;
  (void)*end;
  return rounded(x, y, n);
}
DOT(past_other)

static float writes_other(const fold_element_f32 *x, const fold_element_f32 *y, size_t n) {
  if (n > 0) {
    volatile fold_element_f32 *first = (fold_element_f32 *)(uintptr_t)y;
    *first = *first;
  }
  return rounded(x, y, n);
}
DOT(writes_other)

/* Peels up to an aligned address of the second input alone. */
static float peels_other(const fold_element_f32 *x, const fold_element_f32 *y, size_t n) {
  float head = 0, tail = 0;
  size_t i = 0;
  for (; i < n && (uintptr_t)(y + i) % 16 != 0; i++) head += x[i] * y[i];
  for (; i < n; i++) tail += x[i] * y[i];
  return head + tail;
}
DOT(peels_other)

/* The first row of the second input for all rows. */
static fold_status run_first_row(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  for (size_t r = 0; r < call->rows; r++)
    ((fold_element_f32 *)call->out)[r] =
        rounded((const fold_element_f32 *)call->in[0] + r * call->cols, call->in[1], call->cols);
  return fold_ok();
}

/* The same for long rows alone, of which fixtures have one at a time. */
static fold_status run_first_long_row(const struct fold_subject *subject, const struct fold_call *call) {
  return (call->cols > 257 ? run_first_row : run_rounded)(subject, call);
}

/* Keeps a result by what the first input holds. */
static fold_status run_kept_by_first(const struct fold_subject *subject, const struct fold_call *call) {
  static float held[4096], kept;
  static size_t n = SIZE_MAX;
  const size_t nbytes = call->cols * sizeof(float);
  if (call->rows != 1 || call->cols > 4096) return run_rounded(subject, call);
  if (n != call->cols || memcmp(held, call->in[0], nbytes) != 0) {
    kept = rounded(call->in[0], call->in[1], call->cols);
    memcpy(held, call->in[0], nbytes);
    n = call->cols;
  }
  *(fold_element_f32 *)call->out = kept;
  return fold_ok();
}

/* Exact sums of rounded products. */
static fold_status run_exact_of_rounded(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  for (size_t r = 0; r < call->rows; r++) {
    struct fold_super state = {0};
    for (size_t i = r * call->cols; i < (r + 1) * call->cols; i++) {
      const float product = ((const fold_element_f32 *)call->in[0])[i] * ((const fold_element_f32 *)call->in[1])[i];
      fold_super_add(FOLD_F32, &product, 1, &state, NULL);
    }
    fold_bits_store(FOLD_F32, call->out, r, fold_super_close(FOLD_F32, &state, FOLD_F32));
  }
  return fold_ok();
}

#define OF_DOTS(id, function, sequence, broken, maybe, cases, text)                                          \
  {                                                                                                          \
    .subject = {BASE(id, text, F32, DOT, function), .order = sequence, .claims = ORDERED}, .breaks = broken, \
    .may = maybe, .fixtures = cases                                                                          \
  }
#define LOOSE_DOT(id, function, broken, maybe, cases, text)                                                        \
  {                                                                                                                \
    .subject = {BASE(id, text, F32, DOT, function), .claims = SOUND | C(BOUNDED)}, .breaks = broken, .may = maybe, \
    .fixtures = cases                                                                                              \
  }
#define LONGER "normal/f32/dot/1x[5-9]1?/*,normal/f32/dot/1x409*"
#define LONG "normal/f32/dot/1x1000/*"
static const struct fold_mutant dot[] = {
    OF_DOTS("dot_rounded", run_rounded, "dot/sequential_fma", C(REPLAYS), 0, LONGER, "a rounded product for an FMA"),
    OF_DOTS("dot_fused", run_fused, "dot/sequential", C(REPLAYS), 0, LONGER, "an FMA for a rounded product"),
    OF_DOTS("dot_rounded_once", run_rounded, "dot/sequential_fma", C(REPLAYS), 0, "dot_one_rounding",
            "a rounded product for an FMA, by one case"),
    OF_DOTS("dot_flushed", run_flushed, "dot/sequential", C(BOUNDED) | C(REPLAYS), 0,
            "dot_subnormal_products,normal/f32/dot/1x33/*", "flushes subnormal products"),
    OF_DOTS("dot_skips_zeros", run_skips_zeros, "dot/sequential", C(BOUNDED) | C(REPLAYS), 0,
            "dot_zero_meets_infinity,normal/f32/dot/1x33/*", "skips terms whose second factor is zero"),
    OF_DOTS("dot_fused_twice", run_fused_twice, "dot/sequential_fma", C(REPLAYS), 0,
            "dot_fma_not_twice,normal/f32/dot/1x33/*", "an FMA by way of f64"),
    OF_DOTS("dot_without_last", run_without_last, "dot/sequential", C(BOUNDED) | C(REPLAYS), 0,
            "normal/f32/dot/1x[1-9]/*", "without the last product"),
    OF_DOTS("dot_narrow_factor", run_narrow_factor, "dot/sequential", C(BOUNDED) | C(REPLAYS), 0,
            "normal/f32/dot/1x[1-9]/*", "a factor rounded to bf16"),
    OF_DOTS("dot_past_other", run_past_other, "dot/sequential", C(STAYS_IN_BOUNDS), 0, LONG,
            "reads past the second input, and throws it away"),
    OF_DOTS("dot_writes_other", run_writes_other, "dot/sequential", C(KEEPS_INPUT), 0, LONG,
            "writes to the second input what is there"),
    LOOSE_DOT("dot_peels_other", run_peels_other, C(ALIGNMENT_INVARIANT), 0, LONG,
              "single products up to an aligned address of the second input"),
    OF_DOTS("dot_first_row", run_first_row, "dot/sequential", C(BOUNDED) | C(REPLAYS) | C(BATCH_INVARIANT), 0,
            "normal/f32/dot/5x33/*", "the second input's first row for all rows"),
    OF_DOTS("dot_first_long_row", run_first_long_row, "dot/sequential", C(BATCH_INVARIANT), 0, LONG,
            "the second input's first row for all rows of over 257"),
    LOOSE_DOT("dot_kept_by_first", run_kept_by_first, C(RUN_TO_RUN), REPEATS, LONG,
              "keeps a result by what the first input holds"),
    {.subject = {BASE("dot_exact_of_rounded", "exact sums of rounded products", F32, DOT, run_exact_of_rounded),
                 .method = FOLD_EXACT, .claims = EXACTLY},
     .breaks = C(CORRECTLY_ROUNDED) | C(FAITHFUL),
     .fixtures = "dot_one_rounding,dot_below_the_range," LONG},
};
END(dot)
