/* replay_dot.c: the native replay of sums of products of two factors, by dtype, in the accumulator, a product rounded or fused.
 *
 * Promised: a product is one multiplication of the accumulator, or part of one FMA, whether the machine has an instruction for it or
 * the C library computes it. Factors of narrower dtypes are widened, which is exact.
 */
#include "oracles/split.h"

#define FOLD_INTEGER(...)
#define FOLD_DTYPE(TAG, name, ...) \
  extern fold_row_run fold_row_rounded_##name, fold_row_fused_##name, fold_row_fma_##name;
#include "base/dtype.def"

static fold_row_run *const rounded[FOLD_DTYPES] = {
#define FOLD_INTEGER(...)
#define FOLD_DTYPE(TAG, name, ...) fold_row_rounded_##name,
#include "base/dtype.def"
};

fold_row_run *const fold_rows_fused[FOLD_DTYPES] = {
#define FOLD_INTEGER(...)
#define FOLD_DTYPE(TAG, name, ...) fold_row_fused_##name,
#include "base/dtype.def"
};

#ifdef __x86_64__
static fold_row_run *const by_instruction[FOLD_DTYPES] = {
#define FOLD_INTEGER(...)
#define FOLD_DTYPE(TAG, name, ...) fold_row_fma_##name,
#include "base/dtype.def"
};

static fold_row_run *fused_here(enum fold_dtype dtype) {
  return (__builtin_cpu_supports("fma") ? by_instruction : fold_rows_fused)[dtype];
}
#else
static fold_row_run *fused_here(enum fold_dtype dtype) { return fold_rows_fused[dtype]; }
#endif

double fold_rows_dot(const struct fold_row *row) {
  const bool is_fused = row->order->product == FOLD_FUSED_PRODUCT;
  return (is_fused ? fused_here(row->dtype) : rounded[row->dtype])(row);
}
