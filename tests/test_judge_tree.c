/* test_judge_tree.c: the words in which the claim `tree` is refuted. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "judge/judge.h"
#include "reveal/reveal.h"

/* How the subject adds: one way each, the last ones two ways. */
enum way { FORWARD, BACKWARD, IN_DOUBLE, FUSED, LAST_LOST, BY_PLACE, BY_BATCH };
static enum way way;

static float sum(const float *x, const float *y, size_t n, enum way how) {
  float s = 0;
  double wide = 0;
  for (size_t k = 0; k < n - (how == LAST_LOST); k++) {
    const size_t i = how == BACKWARD ? n - 1 - k : k;
    const double product = y ? (double)x[i] * y[i] : x[i];
    const volatile float rounded = (float)product;
    s = how == FUSED ? fmaf(x[i], y[i], s) : s + rounded;
    wide += product;
  }
  return how == IN_DOUBLE ? (float)wide : s;
}

static fold_status add(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  for (size_t r = 0; r < call->rows; r++) {
    const float *x = (const float *)call->in[0] + r * call->cols,
                *y = call->in[1] ? (const float *)call->in[1] + r * call->cols : NULL;
    const bool back = (way == BY_PLACE && r % 2) || (way == BY_BATCH && call->rows > 8);
    ((float *)call->out)[r] = sum(x, y, call->cols, way < BY_PLACE ? way : back ? BACKWARD : FORWARD);
  }
  return fold_ok();
}

static struct fold_finding judge(enum way how, const char *order, enum fold_problem_id problem, unsigned accumulator,
                                 size_t cols) {
  const struct fold_subject subject = {.name = "adds",
                                       .dtypes = 1u << FOLD_F32,
                                       .problems = 1u << FOLD_SUM | 1u << FOLD_DOT,
                                       .order = order,
                                       .accumulator = accumulator,
                                       .run = add};
  const struct fold_case c = {.dtype = FOLD_F32, .problem = fold_problem(problem), .rows = 1, .cols = cols};
  struct fold_trial trial = {.subject = &subject, .c = &c};
  struct fold_finding finding = {0};
  way = how;
  fold_judge_tree(&trial, &finding);
  return finding;
}

/* The declared order, and the reason; NULL: it holds. */
Test(judge_tree, what_is_wrong_about_a_tree_is_told) {
  static const struct {
    enum way how;
    const char *order;
    enum fold_problem_id problem;
    unsigned accumulator;
    const char *reason;
  } rows[] = {
      {FORWARD, "host/sequential", FOLD_ROWS_SUM, FOLD_OF_TERMS, NULL},
      {BACKWARD, "host/reverse", FOLD_ROWS_SUM, FOLD_OF_TERMS, NULL},
      {BACKWARD, "host/sequential", FOLD_ROWS_SUM, FOLD_OF_TERMS,
       "not the tree of host/sequential of 9 terms, but of host/reverse, rows/single_back: the subtrees of x[7] and "
       "x[8] "
       "meet elsewhere"},
      {FORWARD, "dot/sequential", FOLD_DOT, FOLD_OF_TERMS, NULL},
      {FUSED, "dot/sequential_fma", FOLD_DOT, FOLD_OF_TERMS, NULL},
      {FORWARD, "dot/sequential_fma", FOLD_DOT, FOLD_OF_TERMS,
       "the tree of dot/sequential_fma, but different products enter by an FMA"},
      {FUSED, "dot/sequential", FOLD_DOT, FOLD_OF_TERMS,
       "the tree of dot/sequential, but different products enter by an FMA"},
      {IN_DOUBLE, "dot/sequential_fma", FOLD_DOT, FOLD_ALWAYS(FOLD_F64), NULL}, /* products are exact there */
      {IN_DOUBLE, "host/sequential", FOLD_ROWS_SUM, FOLD_OF_TERMS,
       "its tree gives these bits in an accumulator of f64, and not of f32"},
      {BY_PLACE, "host/sequential", FOLD_ROWS_SUM, FOLD_OF_TERMS, "its order depends on the row's place in a batch: "},
      {BY_BATCH, "host/sequential", FOLD_ROWS_SUM, FOLD_OF_TERMS,
       "its order depends on the batch: some batches of up to 64 rows have different bits"},
      {LAST_LOST, "host/sequential", FOLD_ROWS_SUM, FOLD_OF_TERMS, "no tree was revealed: no tree: "},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const struct fold_finding f = judge(rows[i].how, rows[i].order, rows[i].problem, rows[i].accumulator, 9);
    cr_expect_eq(f.verdict, rows[i].reason ? FOLD_REFUTED : FOLD_HELD, "row %zu: %s", i, f.reason);
    cr_expect(!rows[i].reason || strncmp(f.reason, rows[i].reason, strlen(rows[i].reason)) == 0, "row %zu: %s", i,
              f.reason);
    cr_expect(f.verdict != FOLD_HELD || f.comparisons >= FOLD_PROOF_ROWS + 8, "row %zu: %zu comparisons", i,
              f.comparisons);
  }
}

Test(judge_tree, without_an_order_or_a_term_nothing_is_held) {
  struct fold_finding f = judge(FORWARD, NULL, FOLD_ROWS_SUM, FOLD_OF_TERMS, 9);
  cr_expect_eq(f.verdict, FOLD_SKIPPED);
  cr_expect_str_eq(f.reason, "it declares no order");
  cr_expect_eq(judge(FORWARD, "host/sequential", FOLD_ROWS_SUM, FOLD_OF_TERMS, 0).verdict, FOLD_SKIPPED);
}
