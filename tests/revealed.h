/* revealed.h: a subject that is a callback, and its tree as it is revealed. */
#ifndef REVEALED_H
#define REVEALED_H

#include <criterion/criterion.h>
#include <stdlib.h>

#include "oracles/exact.h"
#include "oracles/fingerprint.h"
#include "reveal/reveal.h"

/* It and what its callback computes. */
struct subject {
  struct fold_summer summer;
  const struct fold_order *order;
  enum fold_method method;
  const uint32_t *parent; /* a random tree's */
  const struct fold_tree *tree;
  struct fold_tree_arithmetic how;
  const char *aligned; /* the order of rows whose addresses are aligned */
  unsigned calls;
};

static inline struct fold_call call_of(const struct subject *s, size_t rows, void *out) {
  const struct fold_summer *m = &s->summer;
  return (struct fold_call){.dtype = m->dtype,
                            .problem = m->factors > 1 ? fold_problem(FOLD_DOT) : fold_rows_problem(FOLD_SUM),
                            .rows = rows,
                            .cols = m->n,
                            .in = {m->in[0], m->factors > 1 ? m->in[1] : NULL},
                            .out = out,
                            .launch = {.threads = 1}};
}

static inline fold_status by_order(void *context, size_t rows, void *out) {
  const struct subject *s = context;
  const struct fold_call call = call_of(s, rows, out);
  const struct fold_arithmetic how = {s->method, s->summer.accumulator, s->summer.result, FOLD_FACTORS_KEPT};
  /* The same bits (suite orders holds them to be), without a rounding that is computed. */
  if (how.method == FOLD_PLAIN && how.accumulator == fold_accumulator_of(call.dtype))
    return fold_order_replay_to(s->order, &call, how.result);
  return fold_method_replay(s->order, how, &call);
}

static inline fold_status by_tree(void *context, size_t rows, void *out) {
  const struct subject *s = context;
  const struct fold_call call = call_of(s, rows, out);
  return fold_tree_replay(s->tree, s->how, &call);
}

static inline struct fold_revealed reveal(struct subject *s, fold_sum_rows *sum, size_t n, size_t rows,
                                          enum fold_dtype dtype) {
  struct fold_revealed revealed;
  s->summer.sum = sum;
  s->summer.context = s;
  s->summer.n = n;
  s->summer.rows = rows;
  s->summer.dtype = dtype;
  if (!s->summer.factors) s->summer.factors = 1;
  for (unsigned k = 0; k < s->summer.factors; k++) s->summer.in[k] = malloc(rows * n * 8 + 8);
  const fold_status status = fold_reveal(&s->summer, &revealed);
  cr_expect_eq(status.code, FOLD_OK, "%s", status.text);
  for (unsigned k = 0; k < s->summer.factors; k++) free(s->summer.in[k]);
  return revealed;
}

static inline struct fold_revealed reveal_usual(struct subject *s, fold_sum_rows *sum, size_t n,
                                                enum fold_dtype dtype) {
  s->summer.accumulator = fold_accumulator_of(dtype);
  s->summer.result = dtype;
  return reveal(s, sum, n, 64, dtype);
}

static inline uint64_t print_of(const struct fold_revealed *revealed) {
  uint64_t print = 0;
  if (revealed->tree.n) fold_tree_fingerprint(&revealed->tree, &print);
  return print;
}

#endif
