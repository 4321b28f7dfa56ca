/* products.c: products of matrices, and of a matrix and a vector, with faults that authors of such kernels make. test_guest_products.py
 * expects that the default fixtures of guests refute each, and hold those named right. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "foldproof_guest.h"

typedef const struct foldproof_guest_call call_of;

/* One result: its place, where its terms lie, and what a fault changes of it. */
struct result {
  call_of *call;
  uint64_t b, i, j, k, m, n; /* of b x m x n results of k terms */
  const float *a, *c;        /* the matrices of its batch */
  int64_t a_row, a_step, c_step, c_column;
  uint64_t first, again,
      twice;     /* terms are [first, k), and the last `again` of them, and term `twice` of `twice > 0` once more */
  uint64_t mask; /* of places in the first matrix */
  float start, scale;
  bool unwritten, half;
  uint64_t hidden, shift; /* the last `hidden` terms have the second factor `shift` terms before */
  bool (*skips)(const struct result *r, uint64_t t);
};
typedef void fault(struct result *r);

static float first_factor(const struct result *r, uint64_t t) {
  return r->a[(r->i * (uint64_t)r->a_row + t * (uint64_t)r->a_step) & r->mask];
}
static float second_factor(const struct result *r, uint64_t t) {
  const uint64_t from = t + r->hidden >= r->k ? t - r->shift : t;
  return r->c[from * (uint64_t)r->c_step + r->j * (uint64_t)r->c_column];
}
static float with_term(const struct result *r, float sum, uint64_t t) {
  if (r->skips && r->skips(r, t)) return sum;
  const float product = first_factor(r, t) * second_factor(r, t);
  return r->half ? (float)(_Float16)(sum + product) : sum + product;
}
static float value(const struct result *r) {
  float sum = r->start;
  for (uint64_t t = r->first; t < r->k; t++) sum = with_term(r, sum, t);
  for (uint64_t t = r->k - r->again; t < r->k; t++) sum = with_term(r, sum, t);
  if (r->twice && r->twice < r->k) sum = with_term(r, sum, r->twice);
  return sum * r->scale;
}

enum { B, M, N, K };

static int run(call_of *call, void *context) {
  const uint64_t *x = call->extent, all = x[B] * x[M] * x[N];
  float *out = call->out;
  for (uint64_t e = 0; e < all; e++) {
    const int64_t(*s)[4] = call->stride;
    struct result r = {
        .call = call, .b = e / (x[M] * x[N]), .i = e / x[N] % x[M], .j = e % x[N], .k = x[K], .m = x[M], .n = x[N]};
    r.a = (const float *)call->in + (int64_t)r.b * s[0][B], r.c = (const float *)call->other + (int64_t)r.b * s[1][B];
    r.a_row = s[0][M], r.a_step = s[0][K], r.c_step = s[1][K], r.c_column = s[1][N];
    r.mask = UINT64_MAX, r.scale = 1;
    if (r.k) (*(fault **)context)(&r);
    if (!r.unwritten) out[e] = value(&r);
  }
  return FOLDPROOF_GUEST_OK;
}

/* Whether each of the 16 terms of t's tile has a first factor of zero. */
static bool in_zero_tile(const struct result *r, uint64_t t) {
  const uint64_t first = t / 16 * 16;
  for (uint64_t i = first; i < first + 16; i++)
    if (i >= r->k || first_factor(r, i) != 0) return false;
  return true;
}
/* The term after such a tile. */
static bool after_zero_tile(const struct result *r, uint64_t t) {
  return t >= 16 && t % 16 == 0 && in_zero_tile(r, t - 16);
}
static bool times_zero(const struct result *r, uint64_t t) { return first_factor(r, t) == 0; }
static bool of_subnormal(const struct result *r, uint64_t t) { return fabsf(second_factor(r, t)) < 0x1p-126f; }
static bool middle_third(const struct result *r, uint64_t t) { return t >= r->k / 3 && t < r->k / 3 * 2; }

#define FAULT(id, ...)                  \
  static void id##_(struct result *r) { \
    const uint64_t k = r->k;            \
    (void)k;                            \
    __VA_ARGS__                         \
  }                                     \
  static fault *const id = id##_;

FAULT(right, )
/* The last tile of k. */
FAULT(lost_at_129, r->k -= k == 129;)
FAULT(lost_at_1000, r->k -= k == 1000 ? 8 : 0;)
FAULT(lost_at_4097, r->k -= k == 4097;)
FAULT(lost_at_17408, r->k -= k == 17408 ? 128 : 0;)
FAULT(lost_over_20000, r->k -= k > 20000 ? k % 64 : 0;)
FAULT(tail_doubled, r->again = k > 4 ? k % 4 : 0;)
FAULT(tail_misplaced, r->hidden = k > 8 ? k % 8 : 0; r->shift = r->hidden;)
FAULT(border_doubled, r->twice = k > 65 ? 64 : 0;)
FAULT(first_lost_where_odd, r->first = k % 2 && k > 100;)
FAULT(third_of_split_lost, if (k > 4096) r->skips = middle_third;)
/* Places and sizes. */
FAULT(leading_is_k, r->a_row = (int64_t)k;)
FAULT(second_leading_is_n, if (r->c_column == 1) r->c_step = (int64_t)r->n;)
FAULT(transpose_ignored, if (r->c_column > 1) r->c_column = 1, r->c_step = (int64_t)r->n;)
FAULT(second_transposed_if_square, if (k == r->n) r->c_step = 1, r->c_column = (int64_t)k;)
FAULT(first_transposed_if_square, if (k == r->m && r->m > 16) r->a_step = (int64_t)k, r->a_row = 1;)
FAULT(batch_strides_of_results, r->a += (int64_t)r->b * ((int64_t)(r->m * r->n) - r->call->stride[0][B]);)
FAULT(second_of_first_batch, r->c = r->call->other;)
FAULT(last_batch_again, if (r->b == 2) r->a -= r->call->stride[0][B];)
FAULT(batch_8, if (r->b == 8) r->c -= r->call->stride[1][B];)
FAULT(place_of_16_bits, r->mask = 0xffff;)
FAULT(column_of_8_bits, r->j &= 0xff;)
FAULT(row_of_8_bits, r->i &= 0xff;)
FAULT(edge_of_n_unwritten, r->unwritten = r->n > 16 && r->j >= r->n / 16 * 16;)
FAULT(edge_of_m_of_row_before, r->i -= r->m > 4 && r->i >= r->m / 4 * 4;)
FAULT(row_100, r->k -= r->i == 100;)
FAULT(column_60, r->k -= r->j == 60;)
FAULT(column_tiles_of_batches, if (r->call->extent[B] > 1 && r->j >= 128) r->j -= 128;)
FAULT(row_tiles_of_batches, if (r->call->extent[B] > 1 && r->i >= 256) r->i -= 256;)
FAULT(wrong_at_n_17, r->k -= r->n == 17;)
FAULT(wrong_at_n_59, r->k -= r->n == 59;)
FAULT(wrong_at_m_77, r->k -= r->m == 77;)
FAULT(wrong_from_1000_columns, r->k -= r->n > 1000 && r->j == r->n - 1;)
FAULT(one_row_is_vector, if (r->m == 1) r->c_step = 1, r->c_column = (int64_t)k;)
FAULT(corner_of_large, r->unwritten = r->m * r->n > 65536 && r->i == r->m - 1 && r->j == r->n - 1;)
/* Values. */
FAULT(begins_with_output, r->start = ((const float *)r->call->out)[(r->b * r->m + r->i) * r->n + r->j];)
FAULT(scale_ignored, r->scale = k > 256 ? 2 : 1;)
FAULT(scale_twice, r->scale = r->n > 8 && r->j >= r->n / 8 * 8 ? .5f : 1;)
FAULT(sums_of_f16, r->half = k >= 64;)
FAULT(after_tile_of_zeros, r->skips = after_zero_tile;)
FAULT(zeros_skipped, r->skips = times_zero;)
FAULT(subnormals_skipped, r->skips = of_subnormal;)

#define PRODUCT(id, problem, strided) \
  { .name = "products/" problem "_" #id, .problems = problem, .run = run, .strides = strided, .context = (void *)&id }
static const struct foldproof_guest_subject subjects[] = {
    PRODUCT(right, "matmul", 1),
    PRODUCT(right, "matvec", 1),
    PRODUCT(lost_at_129, "matmul", 0),
    PRODUCT(lost_at_1000, "matmul", 0),
    PRODUCT(lost_at_4097, "matmul", 0),
    PRODUCT(lost_at_17408, "matmul", 0),
    PRODUCT(lost_over_20000, "matmul", 0),
    PRODUCT(tail_doubled, "matmul", 0),
    PRODUCT(tail_misplaced, "matmul", 0),
    PRODUCT(border_doubled, "matmul", 0),
    PRODUCT(first_lost_where_odd, "matmul", 0),
    PRODUCT(third_of_split_lost, "matmul", 0),
    PRODUCT(leading_is_k, "matmul", 1),
    PRODUCT(second_leading_is_n, "matmul", 1),
    PRODUCT(transpose_ignored, "matmul", 1),
    PRODUCT(second_transposed_if_square, "matmul", 0),
    PRODUCT(first_transposed_if_square, "matmul", 0),
    PRODUCT(batch_strides_of_results, "matmul", 0),
    PRODUCT(second_of_first_batch, "matmul", 0),
    PRODUCT(last_batch_again, "matmul", 0),
    PRODUCT(batch_8, "matmul", 0),
    PRODUCT(place_of_16_bits, "matmul", 0),
    PRODUCT(column_of_8_bits, "matmul", 0),
    PRODUCT(row_of_8_bits, "matmul", 0),
    PRODUCT(edge_of_n_unwritten, "matmul", 0),
    PRODUCT(edge_of_m_of_row_before, "matmul", 0),
    PRODUCT(row_100, "matmul", 0),
    PRODUCT(column_60, "matmul", 0),
    PRODUCT(column_tiles_of_batches, "matmul", 0),
    PRODUCT(row_tiles_of_batches, "matmul", 0),
    PRODUCT(wrong_at_n_17, "matmul", 0),
    PRODUCT(wrong_at_n_59, "matmul", 0),
    PRODUCT(wrong_at_m_77, "matmul", 0),
    PRODUCT(wrong_from_1000_columns, "matmul", 0),
    PRODUCT(one_row_is_vector, "matmul", 0),
    PRODUCT(corner_of_large, "matmul", 0),
    PRODUCT(begins_with_output, "matmul", 0),
    PRODUCT(scale_ignored, "matmul", 0),
    PRODUCT(scale_twice, "matmul", 0),
    PRODUCT(sums_of_f16, "matmul", 0),
    PRODUCT(after_tile_of_zeros, "matmul", 0),
    PRODUCT(zeros_skipped, "matmul", 0),
    PRODUCT(subnormals_skipped, "matmul", 0),
    PRODUCT(lost_at_1000, "matvec", 0),
    PRODUCT(lost_at_17408, "matvec", 0),
    PRODUCT(tail_doubled, "matvec", 0),
    PRODUCT(leading_is_k, "matvec", 1),
    PRODUCT(edge_of_m_of_row_before, "matvec", 0),
    PRODUCT(place_of_16_bits, "matvec", 0),
    PRODUCT(row_100, "matvec", 0),
    PRODUCT(wrong_at_m_77, "matvec", 0),
    PRODUCT(begins_with_output, "matvec", 0),
    PRODUCT(after_tile_of_zeros, "matvec", 0),
};

const struct foldproof_guest_table *foldproof_guest(void) {
  static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof *subjects,
                                                     sizeof subjects / sizeof *subjects, subjects};
  return &table;
}
