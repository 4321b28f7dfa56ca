/* hunt_honest_axes.c: products of matrices, sums by key, and integers. */
#include <stdlib.h>

#include "hunt_honest.h"
#include "hunt_values.h"

enum { B, M, N, K };

/* ---- products ---- */

struct matrices {
  bool fuses;
  uint64_t block; /* columns of results that are summed at a time; 0: one */
};

static double with_product(call_of *call, const struct matrices *how, double sum, const uint64_t at[4]) {
  const int64_t(*s)[4] = call->stride;
  const double x = hunt_load(call->dtype, call->in,
                             at[B] * (uint64_t)s[0][B] + at[M] * (uint64_t)s[0][M] + at[K] * (uint64_t)s[0][K]),
               y = hunt_load(call->dtype, call->other,
                             at[B] * (uint64_t)s[1][B] + at[N] * (uint64_t)s[1][N] + at[K] * (uint64_t)s[1][K]);
  if (!how->fuses) return hunt_round(call->accumulator, sum + hunt_round(call->accumulator, x * y));
  return call->accumulator == FOLDPROOF_GUEST_F64 ? fma(x, y, sum) : (double)fmaf((float)x, (float)y, (float)sum);
}

/* Some columns of a row of results at a time, along k. */
static int multiply(call_of *call, void *context) {
  enum { MOST = 16 };
  const struct matrices *how = context;
  const uint64_t *x = call->extent, step = how->block ? how->block : 1;
  for (uint64_t b = 0; b < x[B]; b++)
    for (uint64_t i = 0; i < x[M]; i++)
      for (uint64_t j = 0; j < x[N]; j += step) {
        double sums[MOST] = {0};
        const uint64_t columns = x[N] - j < step ? x[N] - j : step;
        for (uint64_t t = 0; t < x[K]; t++)
          for (uint64_t c = 0; c < columns; c++)
            sums[c] = with_product(call, how, sums[c], (const uint64_t[4]){b, i, j + c, t});
        for (uint64_t c = 0; c < columns; c++)
          hunt_store(call->result, call->out, (b * x[M] + i) * x[N] + j + c, sums[c]);
      }
  return FOLDPROOF_GUEST_OK;
}

/* ---- sums by key ---- */

static int keyed(call_of *call, void *context) {
  const uint64_t m = call->extent[M], n = call->extent[N];
  const uint32_t *keys = call->other;
  double *sums = calloc(m * n + 1, sizeof *sums);
  (void)context;
  if (!sums) return 1;
  for (uint64_t e = 0; e < call->extent[K] * n; e++) {
    double *sum = sums + keys[e / n] * n + e % n;
    *sum = hunt_round(call->accumulator, *sum + hunt_load(call->dtype, call->in, e));
  }
  for (uint64_t e = 0; e < m * n; e++) hunt_store(call->result, call->out, e, sums[e]);
  free(sums);
  return FOLDPROOF_GUEST_OK;
}

/* ---- integers, which wrap ---- */

static int64_t load_integer(int dtype, const void *array, uint64_t i) {
  switch (dtype) {
    case FOLDPROOF_GUEST_I8: return ((const int8_t *)array)[i];
    case FOLDPROOF_GUEST_I32: return ((const int32_t *)array)[i];
    default: return ((const int64_t *)array)[i];
  }
}
static void store_integer(call_of *call, uint64_t i, uint64_t x) {
  switch (call->result) {
    case FOLDPROOF_GUEST_I8: ((int8_t *)call->out)[i] = (int8_t)x; break;
    case FOLDPROOF_GUEST_I32: ((int32_t *)call->out)[i] = (int32_t)x; break;
    default: ((int64_t *)call->out)[i] = (int64_t)x;
  }
}
static int integers(call_of *call, void *context) {
  (void)context;
  for (uint64_t r = 0; r < call->rows; r++) {
    uint64_t sum = 0;
    for (uint64_t i = r * call->cols; i < (r + 1) * call->cols; i++)
      sum += (uint64_t)load_integer(call->dtype, call->in, i) *
             (call->other ? (uint64_t)load_integer(call->dtype, call->other, i) : 1);
    store_integer(call, r, sum);
  }
  return FOLDPROOF_GUEST_OK;
}

#define PRODUCT(id, dtype, declared, text, ...)                                                                      \
  {                                                                                                                  \
    .name = "honest/" #id, .about = text, .problems = "matmul", .dtypes = dtype, .order = declared, .run = multiply, \
    .claims = "bounded,replays,run_to_run,fresh_process,batch_invariant,stride_invariant", .strides = 1,             \
    .context = &(struct matrices) {                                                                                  \
      __VA_ARGS__                                                                                                    \
    }                                                                                                                \
  }
#define KEYED(id, dtype, text)                                                                              \
  {                                                                                                         \
    .name = "honest/" #id, .about = text, .problems = "keyed", .dtypes = dtype, .order = "host/sequential", \
    .run = keyed, .claims = "bounded,replays,run_to_run,fresh_process"                                      \
  }
#define INTEGERS(id, problem, dtype, gives, text)                                                            \
  {                                                                                                          \
    .name = "honest/" #id, .about = text, .problems = problem, .dtypes = dtype, .result = gives, .wraps = 1, \
    .claims = "bounded,run_to_run,fresh_process,batch_invariant,permutation_invariant", .run = integers      \
  }
static const struct foldproof_guest_subject axes[] = {
    PRODUCT(matmul, "f32,f64", "dot/sequential", "along k in turn"),
    PRODUCT(matmul_narrow, "f16,bf16", "dot/sequential", "narrow products along k in turn"),
    PRODUCT(fused_matmul, "f32,f64", "dot/sequential_fma", "along k, fused", .fuses = true),
    PRODUCT(blocked_matmul, "f32", "dot/sequential", "8 columns at a time", .block = 8),
    KEYED(keyed, "f32,f64", "by key in turn"),
    KEYED(keyed_narrow, "f16,bf16", "narrow terms by key"),
    INTEGERS(integer_sum, "sum", "i8,i32,i64", NULL, "a sum that wraps"),
    INTEGERS(integer_dot, "dot", "i8", "i32", "products of bytes"),
};
HUNT_TABLE(axes)
