/* blocked.c: products of matrices by tiles of m, n and k, as libraries compute them. A tile of results goes on from one tile of k to the
 * next, in rising index, so that its bits are those of dot/sequential, whatever the tiles are. */
#include <stdlib.h>

#include "base/bits.h"
#include "kernels/host/host.h"

enum { TILE_M = 16, TILE_N = 32, TILE_K = 64 };

/* Tiles of the inputs, and of the results before they are rounded. */
struct tiles {
  double a[TILE_M][TILE_K], b[TILE_K][TILE_N], sum[TILE_M][TILE_N];
};

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Copies elements of an input to rows of `width`: `part` has one batch, and the axis that the input lacks is 1 long. */
static void take(const struct fold_call *call, unsigned input, const struct fold_block *part, size_t width,
                 double *to) {
  const struct fold_shape first = part->first, n = part->extent;
  const size_t rows = input == 0 ? n.m : n.k, columns = input == 0 ? n.k : n.n;
  ptrdiff_t stride[FOLD_AXES];
  fold_call_strides(call, input, stride);
  const ptrdiff_t down = stride[input == 0 ? FOLD_M : FOLD_K], across = stride[input == 0 ? FOLD_K : FOLD_N],
                  origin = fold_place(call->problem, input, stride, &first);
  for (size_t r = 0; r < rows; r++)
    for (size_t c = 0; c < columns; c++) {
      const ptrdiff_t at = origin + (ptrdiff_t)r * down + (ptrdiff_t)c * across;
      to[r * width + c] = fold_bits_to_double(call->dtype, fold_bits_load(call->dtype, call->in[input], (size_t)at));
    }
}

/* A product of two f32 is exact in f64, and a sum of two rounds in f64 and then to f32 as it does at once: f64 has more than twice the
 * digits of f32, and two. */
static void add_products(struct tiles *t, const struct fold_shape *n, bool narrow) {
  for (size_t i = 0; i < n->m; i++)
    for (size_t k = 0; k < n->k; k++)
      for (size_t j = 0; j < n->n; j++) {
        const double product = t->a[i][k] * t->b[k][j];
        t->sum[i][j] = narrow ? (double)(float)(t->sum[i][j] + (double)(float)product) : t->sum[i][j] + product;
      }
}

/* The results of a block, whose terms are all those of the call. */
static void multiply(const struct fold_subject *subject, const struct fold_call *call, const struct fold_block *of,
                     struct tiles *t) {
  const enum fold_dtype result = fold_subject_result(subject, call->dtype);
  const bool narrow = fold_subject_accumulator(subject, call->dtype) == FOLD_F32;
  struct fold_block part = *of;
  *t = (struct tiles){0};
  for (part.first.k = 0; part.first.k < call->shape.k; part.first.k += TILE_K) {
    part.extent.k = least(TILE_K, call->shape.k - part.first.k);
    take(call, 0, &part, TILE_K, *t->a);
    take(call, 1, &part, TILE_N, *t->b);
    add_products(t, &part.extent, narrow);
  }
  for (size_t i = 0; i < of->extent.m; i++)
    for (size_t j = 0; j < of->extent.n; j++)
      fold_bits_store(result, call->out,
                      (of->first.b * call->shape.m + of->first.m + i) * call->shape.n + of->first.n + j,
                      fold_bits_from_double(result, t->sum[i][j]));
}

fold_status fold_host_blocked(const struct fold_subject *subject, const struct fold_call *call) {
  const struct fold_shape s = call->shape;
  const size_t down = (s.m + TILE_M - 1) / TILE_M, across = (s.n + TILE_N - 1) / TILE_N, all = s.b * down * across;
  const bool small = all == 0 || s.k < FOLD_HOST_SERIAL / (all * TILE_M); /* unseen: > | <= */
  bool is_short = false;
#pragma omp parallel num_threads(small ? 1 : fold_host_threads(call))
  {
    struct tiles *t = malloc(sizeof *t);
    if (!t) is_short = true;
#pragma omp for
    for (size_t tile = 0; tile < all; tile++) {
      const struct fold_shape first = {
          .b = tile / across / down, .m = tile / across % down * TILE_M, .n = tile % across * TILE_N};
      const struct fold_shape n = {.b = 1, .m = least(TILE_M, s.m - first.m), .n = least(TILE_N, s.n - first.n)};
      if (t) multiply(subject, call, &(struct fold_block){first, n}, t);
    }
    free(t); /* unseen: drop */
  }
  return is_short ? fold_no_memory("for tiles of matrices") : fold_ok();
}
