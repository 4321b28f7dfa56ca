/* factors.c: sums of products whose factors are rounded to a narrower format before they are multiplied, as matrix units do; some say so
 * (factor_dtype), some have other faults besides. test_factor_dtype.py says which the default fixtures refute. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "foldproof_guest.h"

typedef float rounding(float x);
struct way {
  rounding *round;
  uint64_t lost; /* so many last terms, of more than 4 */
};

static uint32_t bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
static float of_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
/* Without so many bits of the fraction: toward zero; to nearest, ties to even. Infinities and NaN stay. */
static float cut(float x, unsigned bits) { return isfinite(x) ? of_bits(bits_of(x) >> bits << bits) : x; }
static float near(float x, unsigned bits) {
  const uint32_t b = bits_of(x);
  return isfinite(x) ? of_bits((b + ((1u << (bits - 1)) - 1) + (b >> bits & 1)) >> bits << bits) : x;
}
static float kept(float x) { return x; }
static float tf32_cut(float x) { return cut(x, 13); }
static float tf32_near(float x) { return near(x, 13); }
static float bf16_near(float x) { return near(x, 16); }
static float f16_near(float x) { return (float)(_Float16)x; }

enum { B, M, N, K };

/* Of sumsq both factors are `in`'s. */
static int run(const struct foldproof_guest_call *call, void *context) {
  const struct way *way = context;
  const uint64_t *x = call->extent, all = x[B] * x[M] * x[N], k = x[K] - (x[K] > 4 ? way->lost : 0);
  const float *first = call->in, *second = call->other ? call->other : call->in;
  const int64_t *s = call->stride[0], *z = call->other ? call->stride[1] : call->stride[0];
  float *out = call->out;
  for (uint64_t e = 0; e < all; e++) {
    const uint64_t b = e / (x[M] * x[N]), i = e / x[N] % x[M], j = e % x[N];
    const float *a = first + b * (uint64_t)s[B] + i * (uint64_t)s[M];
    const float *c = second + b * (uint64_t)z[B] + i * (uint64_t)z[M] + j * (uint64_t)z[N];
    float sum = 0;
    for (uint64_t t = 0; t < k; t++) sum += way->round(a[t * (uint64_t)s[K]]) * way->round(c[t * (uint64_t)z[K]]);
    out[e] = sum;
  }
  return FOLDPROOF_GUEST_OK;
}

#define WAY(id, rounds, terms) static struct way id = {rounds, terms};
WAY(as_they_are, kept, 0)
WAY(cut_to_tf32, tf32_cut, 0)
WAY(near_tf32, tf32_near, 0)
WAY(near_bf16, bf16_near, 0)
WAY(near_f16, f16_near, 0)
WAY(tf32_loses_one, tf32_near, 1)
WAY(f16_loses_one, f16_near, 1)
#define SUBJECT(text, way, dtype, ...)                                                                 \
  {                                                                                                    \
    .name = "factors/" text, .problems = "dot,sumsq,matvec,matmul", .factor_dtype = dtype, .run = run, \
    .context = &(way), __VA_ARGS__                                                                     \
  }
static const struct foldproof_guest_subject subjects[] = {
    SUBJECT("right_tf32", cut_to_tf32, "tf32", ),
    SUBJECT("right_tf32_near", near_tf32, "tf32", ),
    SUBJECT("right_tf32_kept", as_they_are, "tf32", ),
    SUBJECT("right_bf16", near_bf16, "bf16", ),
    SUBJECT("right_f16", near_f16, "f16", ),
    SUBJECT("right", as_they_are, NULL, ),
    SUBJECT("right_in_order", cut_to_tf32, "tf32", .order = "dot/sequential"),
    SUBJECT("says_nothing", cut_to_tf32, NULL, ),
    SUBJECT("bf16_as_tf32", near_bf16, "tf32", ),
    SUBJECT("f16_as_tf32", near_f16, "tf32", ),
    SUBJECT("tf32_loses_one", tf32_loses_one, "tf32", ),
    SUBJECT("f16_loses_one", f16_loses_one, "f16", ),
    SUBJECT("bf16_loses_one", tf32_loses_one, "bf16", )};
static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof *subjects,
                                                   sizeof subjects / sizeof *subjects, subjects};
const struct foldproof_guest_table *foldproof_guest(void) { return &table; }
