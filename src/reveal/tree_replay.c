/* tree_replay.c: replays a tree: the bits that it gives. */
#include <math.h>
#include <stdlib.h>

#include "base/bits.h"
#include "oracles/exact.h"
#include "oracles/odd.h"
#include "reveal/tree.h"

struct row {
  const struct fold_tree *tree;
  struct fold_tree_arithmetic how;
  enum fold_dtype dtype;
  const void *in, *other; /* of the row */
  double *value, *operand;
};

static double rounded(const struct row *r, double x) { return fold_bits_round(r->how.accumulator, x); }

static double factor(const struct row *r, const void *in, size_t i) {
  return fold_bits_to_double(r->dtype, fold_bits_load(r->dtype, in, i));
}

/* A term of the row. Double holds products of two f32 exactly. A join may take two products that are not rounded. */
static double term(const struct row *r, size_t i) {
  const double x = factor(r, r->in, i);
  if (r->other == NULL) return x;
  const double product = x * factor(r, r->other, i);
  return r->tree->fused && r->tree->fused[i] ? product : rounded(r, product);
}

static double join_fma(const struct row *r, size_t leaf, double partial) {
  const double x = factor(r, r->in, leaf), y = factor(r, r->other, leaf);
  if (r->how.accumulator == FOLD_F32) return fmaf((float)x, (float)y, (float)partial);
  if (r->how.accumulator == FOLD_F64) return fma(x, y, partial);
  return fold_odd_round(r->how.accumulator, fold_odd_sum((__float128)x * y, partial));
}

static double join_two(const struct row *r, uint32_t a, uint32_t b) {
  const unsigned char *fused = r->other ? r->tree->fused : NULL;
  if (fused && a < r->tree->n && fused[a]) return join_fma(r, a, r->value[b]);
  if (fused && b < r->tree->n && fused[b]) return join_fma(r, b, r->value[a]);
  return rounded(r, r->value[a] + r->value[b]);
}

static double add_once(const struct row *r, size_t n) {
  struct fold_truth truth;
  fold_truth_init(&truth);
  const fold_status status = fold_oracle_exact(FOLD_F64, FOLD_SUM, r->operand, n, 1, &truth);
  const double sum = fold_bits_to_double(r->how.accumulator, truth.rounded[r->how.accumulator]);
  fold_truth_free(&truth);
  return status.code == FOLD_OK ? sum : NAN;
}

/* Adds n operands, each cut to a multiple of 2^last. A binary128 holds their sum. */
static double add_cut(const struct row *r, size_t n, int more, bool nearest) {
  const int precision = fold_format_of(r->how.accumulator).precision;
  int top = INT_MIN;
  for (size_t i = 0; i < n; i++) {
    int e;
    if (!isfinite(r->operand[i])) return NAN;
    frexp(r->operand[i], &e);
    if (r->operand[i] != 0 && e > top) top = e;
  }
  if (top == INT_MIN) return 0;
  const int last = top - precision - more;
  __float128 sum = 0;
  for (size_t i = 0; i < n; i++) sum += trunc(ldexp(r->operand[i], -last));
  if (nearest) return rounded(r, ldexp((double)sum, last));
  /* Towards zero. The conversion to double rounds the sum of f64; for narrower accumulators it is exact. */
  double x = ldexp((double)sum, last), near = rounded(r, x);
  if (fabs(near) <= fabs(x)) return near;
  const uint64_t bits = fold_bits_from_double(r->how.accumulator, near);
  return fold_bits_to_double(
      r->how.accumulator, near > 0 ? fold_bits_down(r->how.accumulator, bits) : fold_bits_up(r->how.accumulator, bits));
}

static double join_more(const struct row *r, const uint32_t *child, size_t n) {
  for (size_t i = 0; i < n; i++) r->operand[i] = r->value[child[i]];
  const enum fold_fusing how = r->how.fusing;
  if (how == FOLD_ROUNDED_ONCE) return add_once(r, n);
  const bool nearest = how >= FOLD_CUT_0_NEAREST;
  return add_cut(r, n, (int)how - (int)(nearest ? FOLD_CUT_0_NEAREST : FOLD_CUT_0), nearest);
}

static double join(const struct row *r, size_t j) {
  const uint32_t *child = r->tree->child + r->tree->first[j];
  const size_t n = fold_tree_degree(r->tree, j);
  return n == 2 ? join_two(r, child[0], child[1]) : join_more(r, child, n);
}

/* The widest accumulator of the join and its operands. */
static enum fold_dtype widest_of(const struct fold_tree *tree, size_t j) {
  enum fold_dtype widest = (enum fold_dtype)tree->accumulator[j];
  for (uint32_t c = tree->first[j]; c < tree->first[j + 1]; c++) {
    if (tree->child[c] < tree->n) continue;
    const enum fold_dtype dtype = (enum fold_dtype)tree->accumulator[tree->child[c] - tree->n];
    if (fold_format_of(dtype).precision > fold_format_of(widest).precision) widest = dtype;
  }
  return widest;
}

static double join_mixed(const struct row *r, size_t j) {
  struct row own = *r;
  own.how.accumulator = widest_of(r->tree, j);
  return fold_bits_round((enum fold_dtype)r->tree->accumulator[j], join(&own, j));
}

static uint64_t replay_row(struct row *r) {
  const struct fold_tree *tree = r->tree;
  for (size_t i = 0; i < tree->n; i++) r->value[i] = term(r, i);
  for (size_t j = 0; j < tree->joins; j++) r->value[tree->n + j] = tree->accumulator ? join_mixed(r, j) : join(r, j);
  return fold_bits_from_double(r->how.result, r->value[fold_tree_nodes(tree) - 1]);
}

fold_status fold_tree_replay(const struct fold_tree *tree, struct fold_tree_arithmetic how,
                             const struct fold_call *call) {
  if (call->cols != tree->n || call->problem->op != FOLD_SUM)
    return fold_error(FOLD_BAD_INPUT, "a tree of %zu terms does not sum rows of %zu", tree->n, call->cols);
  struct row r = {.tree = tree, .how = how, .dtype = call->dtype};
  r.value = malloc(fold_tree_nodes(tree) * sizeof *r.value);
  r.operand = malloc((fold_tree_width(tree) + 1) * sizeof *r.operand);
  const size_t row = call->cols * fold_dtype_size(call->dtype);
  fold_status status = r.value && r.operand ? fold_ok() : fold_no_memory("for a replay");
  for (size_t k = 0; status.code == FOLD_OK && k < call->rows; k++) {
    r.in = (const unsigned char *)call->in[0] + k * row;
    r.other = call->in[1] ? (const unsigned char *)call->in[1] + k * row : NULL;
    fold_bits_store(how.result, call->out, k, replay_row(&r));
  }
  free(r.value);
  free(r.operand);
  return status;
}

const char *fold_fusing_text(enum fold_fusing fusing) {
  static const char *const texts[FOLD_FUSINGS] = {
      "their exact sum rounded once",
      "each cut to the largest one's last bit, their sum cut",
      "each cut 1 bit below the largest one's last, their sum cut",
      "each cut 2 bits below the largest one's last, their sum cut",
      "each cut 3 bits below the largest one's last, their sum cut",
      "each cut to the largest one's last bit, their sum rounded to nearest",
      "each cut 1 bit below the largest one's last, their sum rounded to nearest",
      "each cut 2 bits below the largest one's last, their sum rounded to nearest",
      "each cut 3 bits below the largest one's last, their sum rounded to nearest"};
  return texts[fusing];
}
