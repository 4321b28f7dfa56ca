/* compensated.c: Kahan's and Neumaier's sums, in the dtype's accumulator, rising index, rounded once to dtype.
 *
 * Kahan (1965) feeds the last addition's error back into the next term; Neumaier (1974) sums the errors beside and adds
 * them at the end. Both start at +0. Once a sum is not finite the compensation means nothing (infinity - infinity): it
 * is set to 0 and stays so, hence the result is what the plain sums give: an infinity, or NaN for a NaN or for both
 * infinities.
 */
#include <math.h>

#include "host.h"
#include "native.h"

#define KAHAN(name, type)                             \
  static inline void name(type *s, type *c, type x) { \
    type y = x - *c, t = *s + y;                      \
    *c = isfinite(t) ? (t - *s) - y : 0;              \
    *s = t;                                           \
  }
KAHAN(kahan_float, float)
KAHAN(kahan_double, double)

#define NEUMAIER(name, type, fabs_)                                                     \
  static inline void name(type *s, type *c, type x) {                                   \
    type t = *s + x;                                                                    \
    *c = !isfinite(t) ? 0 : *c + (fabs_(*s) >= fabs_(x) ? (*s - t) + x : (x - t) + *s); \
    *s = t;                                                                             \
  }
NEUMAIER(neumaier_float, float, fabsf)
NEUMAIER(neumaier_double, double, fabs)

/* The two sums of one dtype: a row to its pattern. */
#define ROWS(dtype, type)                                                            \
  static uint64_t kahan_##dtype(const void *row, size_t n) {                         \
    const fold_element_##dtype *x = row;                                             \
    type s = 0, c = 0;                                                               \
    for (size_t i = 0; i < n; i++) kahan_##type(&s, &c, fold_load_##dtype(x[i]));    \
    return fold_close_##dtype(s);                                                    \
  }                                                                                  \
  static uint64_t neumaier_##dtype(const void *row, size_t n) {                      \
    const fold_element_##dtype *x = row;                                             \
    type s = 0, c = 0;                                                               \
    for (size_t i = 0; i < n; i++) neumaier_##type(&s, &c, fold_load_##dtype(x[i])); \
    return fold_close_##dtype(s + c);                                                \
  }
ROWS(f16, float)
ROWS(bf16, float)
ROWS(f32, float)
ROWS(f64, double)

typedef uint64_t compensated_row(const void *row, size_t n);

static uint64_t kahan_row(const struct fold_subject *subject, const struct fold_call *call, const void *in,
                          unsigned threads) {
  static compensated_row *const rows[FOLD_DTYPES] = {
      [FOLD_F16] = kahan_f16, [FOLD_BF16] = kahan_bf16, [FOLD_F32] = kahan_f32, [FOLD_F64] = kahan_f64};
  (void)subject, (void)threads;
  return rows[call->dtype](in, call->cols);
}

static uint64_t neumaier_row(const struct fold_subject *subject, const struct fold_call *call, const void *in,
                             unsigned threads) {
  static compensated_row *const rows[FOLD_DTYPES] = {
      [FOLD_F16] = neumaier_f16, [FOLD_BF16] = neumaier_bf16, [FOLD_F32] = neumaier_f32, [FOLD_F64] = neumaier_f64};
  (void)subject, (void)threads;
  return rows[call->dtype](in, call->cols);
}

static fold_status sums(const struct fold_subject *subject, const struct fold_call *call, fold_host_row *row) {
  if (call->op != FOLD_SUM) return fold_error(FOLD_UNSUPPORTED, "%s: sums only", subject->name);
  fold_host_rows(subject, call, row);
  return fold_ok();
}

fold_status fold_host_kahan(const struct fold_subject *subject, const struct fold_call *call) {
  return sums(subject, call, kahan_row);
}

fold_status fold_host_neumaier(const struct fold_subject *subject, const struct fold_call *call) {
  return sums(subject, call, neumaier_row);
}
