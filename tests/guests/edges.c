/* edges.c: sums whose values are right but at an edge of what a format holds: an infinity that is taken for the largest number, products of
 * bytes that are added in too narrow a format. test_guest_products.py expects that the default fixtures of guests refute each, and hold those
 * named right. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "foldproof_guest.h"

typedef const struct foldproof_guest_call call_of;
enum { B, M, N, K };

static float largest_for_infinity(float x) { return isinf(x) ? copysignf(FLT_MAX, x) : x; }
static float as_it_is(float x) { return x; }

static int by_key(call_of *call, void *context) {
  float (*const of)(float) = *(float (**)(float))context;
  const uint32_t *key = call->other;
  float *out = call->out;
  const uint64_t n = call->extent[N];
  memset(out, 0, call->extent[M] * n * sizeof *out);
  for (uint64_t t = 0; t < call->extent[K]; t++)
    for (uint64_t j = 0; j < n; j++) out[key[t] * n + j] += of(((const float *)call->in)[t * n + j]);
  return FOLDPROOF_GUEST_OK;
}

/* Two of the largest number are beyond a float, and so right in place of two infinities. */
static int magnitudes(call_of *call, void *context) {
  float (*const of)(float) = *(float (**)(float))context;
  for (uint64_t i = 0; i < call->rows; i++) {
    float sum = 0;
    for (uint64_t t = 0; t < call->cols; t++) sum += fabsf(of(((const float *)call->in)[i * call->cols + t]));
    ((float *)call->out)[i] = sum;
  }
  return FOLDPROOF_GUEST_OK;
}

/* The sum of two products, of which the second may be zero. */
typedef int32_t pair(int32_t first, int32_t second);
static int32_t whole(int32_t first, int32_t second) { return first + second; }
static int32_t of_16_bits(int32_t first, int32_t second) {
  const int32_t sum = first + second;
  return sum > INT16_MAX ? INT16_MAX : sum < INT16_MIN ? INT16_MIN : sum;
}

struct bytes {
  pair *add;
  int in_f32;
};

static int bytes(call_of *call, void *context) {
  const struct bytes *how = context;
  const uint64_t *x = call->extent, k = x[K];
  for (uint64_t e = 0; e < x[B] * x[M] * x[N]; e++) {
    const int8_t *a = (const int8_t *)call->in + e / x[N] * k,
                 *c = (const int8_t *)call->other + e / (x[M] * x[N]) * k * x[N];
    int32_t sum = 0;
    float narrow = 0;
    for (uint64_t t = 0; t < k; t += 2) {
      const int32_t first = a[t] * c[t * x[N] + e % x[N]],
                    second = t + 1 < k ? a[t + 1] * c[(t + 1) * x[N] + e % x[N]] : 0;
      sum += how->add(first, second);
      narrow += (float)first, narrow += (float)second;
    }
    ((int32_t *)call->out)[e] = how->in_f32 ? (int32_t)narrow : sum;
  }
  return FOLDPROOF_GUEST_OK;
}

static float (*const right)(float) = as_it_is;
static float (*const infinity_is_largest)(float) = largest_for_infinity;
static const struct bytes bytes_right = {whole, 0}, pairs_of_16_bits = {of_16_bits, 0}, bytes_in_f32 = {whole, 1};

#define EDGE(id, problem, function) \
  { .name = "edges/" problem "_" #id, .problems = problem, .run = function, .context = (void *)&id }
#define BYTES(id, problem)                                                                                \
  {                                                                                                       \
    .name = "edges/" problem "_" #id, .problems = problem, .dtypes = "i8", .result = "i32", .run = bytes, \
    .context = (void *)&id                                                                                \
  }
static const struct foldproof_guest_subject subjects[] = {
    EDGE(right, "keyed", by_key),
    EDGE(right, "asum", magnitudes),
    EDGE(infinity_is_largest, "keyed", by_key),
    EDGE(infinity_is_largest, "asum", magnitudes),
    BYTES(bytes_right, "matmul"),
    BYTES(pairs_of_16_bits, "matmul"),
    BYTES(bytes_in_f32, "matmul"),
};

const struct foldproof_guest_table *foldproof_guest(void) {
  static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof *subjects,
                                                     sizeof subjects / sizeof *subjects, subjects};
  return &table;
}
