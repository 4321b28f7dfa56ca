/* problem.c: the table of problems.
 *
 * What is to come, and how it is said in these columns (m, n, k as BLAS has them):
 *
 *   problem           results   inputs            terms of a result                       needs besides
 *   matrix product    m n       A m x k, B k x n  A[i, t] B[t, j], t < k; alpha and beta   a shape of its own: leading
 *                               (C m x n)         are factors of the result's closing      dimensions, batches; place by i, j
 *   scan of rows      r c       r x c             the first j + 1 elements of row i       as many results as elements
 *   sums by key       keys      values, keys      the values whose key is the result's    an index list in fold_terms
 *   scattered sum     slots     values, places    the values that go to that place        the same
 *   reduce-scatter    n / R     n a rank          element i of each rank                  results of each rank differ
 *   all-reduce        n         n a rank          element i of each rank                  nothing: rows x ranks, stored by rank
 *   argmax            rows      rows x cols       the elements of the row                 a result's dtype of its own; op
 *   mean              rows      rows x cols       the elements of the row                 a closing: one division by cols
 */
#include "problem.h"

#include <stdio.h>
#include <string.h>

static size_t rows_elements(const struct fold_shape *shape, unsigned input) {
  (void)input;
  return shape->rows * shape->cols;
}
static size_t rows_place(const struct fold_shape *shape, unsigned input, size_t row, size_t col) {
  (void)input;
  return row * shape->cols + col;
}

/* The elements of a row, or their products with those of the other input's row. */
#define ROWS rows_elements, rows_place
static const struct fold_problem table[FOLD_PROBLEMS] = {
    {FOLD_ROWS_SUM, "sum", FOLD_SUM, 1, ROWS}, {FOLD_ROWS_PROD, "prod", FOLD_PROD, 1, ROWS},
    {FOLD_ROWS_MAX, "max", FOLD_MAX, 1, ROWS}, {FOLD_ROWS_MIN, "min", FOLD_MIN, 1, ROWS},
    {FOLD_DOT, "dot", FOLD_SUM, 2, ROWS},
};

const struct fold_problem *fold_problem(enum fold_problem_id id) { return &table[id]; }

const struct fold_problem *fold_problem_find(const char *name) {
  for (size_t i = 0; i < FOLD_PROBLEMS; i++)
    if (strcmp(table[i].name, name) == 0) return &table[i];
  return NULL;
}

const char *fold_problem_names(char text[120]) {
  size_t n = 0;
  text[0] = '\0';
  for (size_t i = 0; i < FOLD_PROBLEMS && n < 120; i++) {
    const char *before = i == 0 ? "" : i + 1 < FOLD_PROBLEMS ? ", " : " or ";
    n += (size_t)snprintf(text + n, 120 - n, "%s%s", before, table[i].name);
  }
  return text;
}

fold_status fold_problem_share(const struct fold_problem *problem, size_t given, const char *what, size_t *each) {
  *each = given / problem->inputs;
  if (given % problem->inputs == 0) return fold_ok();
  return fold_error(FOLD_BAD_INPUT, "%zu %s: %s takes %u inputs of as many %s each, one after the other", given, what,
                    problem->name, problem->inputs, what);
}

struct fold_terms fold_problem_terms(const struct fold_problem *problem, enum fold_dtype dtype,
                                     const struct fold_shape *shape, const void *const inputs[FOLD_INPUTS],
                                     size_t row) {
  struct fold_terms terms = {.dtype = dtype, .op = problem->op, .factors = problem->inputs, .n = shape->cols};
  for (unsigned k = 0; k < problem->inputs; k++)
    terms.factor[k] = (const unsigned char *)inputs[k] + problem->place(shape, k, row, 0) * fold_dtype_size(dtype);
  return terms;
}

struct fold_terms fold_terms_of(enum fold_dtype dtype, enum fold_op op, const void *in, size_t n) {
  return (struct fold_terms){.dtype = dtype, .op = op, .factors = 1, .factor = {in}, .n = n};
}
