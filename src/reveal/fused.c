/* fused.c: which products an FMA joins.
 *
 * Let e be the accumulator's last bit of 1. Then (1 + e)(1 + e) is 1 + 2e + e^2, and rounded 1 + 2e. Such a product at term k is added
 * to -(1 + 2e) at a term of the other operand of k's node: that leaves e^2 if an FMA joined the product, and 0 if it was rounded. All
 * other terms are zero. If the accumulator holds products of two terms exactly, there is nothing to find out.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "reveal/reveal.h"

/* For each term the lowest term of the node that it is joined to; FOLD_TREE_NONE if its join has several other
 * operands. */
static uint32_t *partners(const struct fold_tree *tree) {
  uint32_t *lowest = malloc(fold_tree_nodes(tree) * sizeof *lowest), *partner = malloc(tree->n * sizeof *partner);
  for (size_t k = 0; partner && k < tree->n; k++) partner[k] = FOLD_TREE_NONE;
  for (size_t k = 0; lowest && k < tree->n; k++) lowest[k] = (uint32_t)k;
  for (size_t j = 0; lowest && partner && j < tree->joins; j++) {
    const uint32_t *child = tree->child + tree->first[j];
    lowest[tree->n + j] = lowest[child[0]];
    for (int c = 0; c < 2 && fold_tree_degree(tree, j) == 2; c++)
      if (child[c] < tree->n) partner[child[c]] = lowest[child[!c]];
  }
  free(lowest);
  return partner;
}

static void write_row(const struct fold_summer *s, size_t row, uint32_t k, uint32_t partner) {
  const double e = ldexp(1, 1 - fold_format_of(s->accumulator).precision);
  const size_t nbytes = s->n * fold_dtype_size(s->dtype);
  void *x = (unsigned char *)s->in[0] + row * nbytes, *y = (unsigned char *)s->in[1] + row * nbytes;
  memset(x, 0, nbytes);
  memset(y, 0, nbytes);
  if (partner == FOLD_TREE_NONE) return;
  fold_bits_store(s->dtype, x, k, fold_bits_from_double(s->dtype, 1 + e));
  fold_bits_store(s->dtype, y, k, fold_bits_from_double(s->dtype, 1 + e));
  fold_bits_store(s->dtype, x, partner, fold_bits_from_double(s->dtype, -1 - 2 * e));
  fold_bits_store(s->dtype, y, partner, fold_bits_from_double(s->dtype, 1));
}

fold_status fold_tree_ask_fused(const struct fold_summer *s, struct fold_tree *tree, uint64_t *launches) {
  if (s->factors < 2 || 2 * fold_format_of(s->dtype).precision <= fold_format_of(s->accumulator).precision || s->n < 2)
    return fold_ok();
  uint32_t *partner = partners(tree);
  unsigned char *out = malloc(s->rows * 8);
  tree->fused = calloc(tree->n, 1);
  fold_status status = partner && out && tree->fused ? fold_ok() : fold_no_memory("for %zu terms", s->n);
  for (size_t first = 0, rows = fold_probed_rows(s); first < s->n && status.code == FOLD_OK; first += rows) {
    const size_t n = s->n - first < rows ? s->n - first : rows;
    for (size_t k = 0; k < n; k++) write_row(s, fold_probed_row(s, k), (uint32_t)(first + k), partner[first + k]);
    status = s->sum(s->context, s->rows, out);
    ++*launches;
    for (size_t k = 0; k < n && status.code == FOLD_OK; k++)
      tree->fused[first + k] =
          fold_bits_class(s->result, fold_bits_load(s->result, out, fold_probed_row(s, k))) != FOLD_ZERO;
  }
  free(partner);
  free(out);
  return status;
}
