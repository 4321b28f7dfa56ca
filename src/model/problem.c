/* problem.c: the table of problem.def, and where the elements of inputs lie. */
#include "model/problem.h"

#include <stdio.h>
#include <string.h>

/* Each input has the elements of each row, one row after the other. */
static size_t rows_elements(const struct fold_shape *shape, unsigned input) {
  (void)input;
  return shape->m * shape->k;
}
static size_t rows_place(const struct fold_shape *shape, unsigned input, size_t row, size_t col) {
  (void)input;
  return row * shape->k + col;
}

static const struct fold_problem table[FOLD_PROBLEMS] = {
#define FOLD_PROBLEM(TAG, name, OP, inputs, factors, elements, place) \
  {FOLD_##TAG, #name, FOLD_##OP, inputs, factors, elements, place},
#include "model/problem.def"
};
_Static_assert((int)FOLD_ROWS_SUM == (int)FOLD_SUM && (int)FOLD_ROWS_MIN == (int)FOLD_MIN,
               "folds of rows have their operation's number");

const struct fold_problem *fold_problem(enum fold_problem_id id) { return &table[id]; }

const struct fold_problem *fold_rows_problem(enum fold_op op) { return fold_problem((enum fold_problem_id)op); }

size_t fold_call_stride(const struct fold_call *call, enum fold_axis axis) {
  if (call->stride[0][FOLD_K]) return (size_t)call->stride[0][axis];
  return axis == FOLD_M ? call->cols : 1;
}

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
  struct fold_terms terms = {.dtype = dtype, .op = problem->op, .factors = problem->factors, .n = shape->k};
  for (unsigned f = 0; f < problem->factors; f++) {
    const unsigned k = f < problem->inputs ? f : problem->inputs - 1;
    terms.factor[f] = (const unsigned char *)inputs[k] + problem->place(shape, k, row, 0) * fold_dtype_size(dtype);
  }
  return terms;
}

struct fold_terms fold_terms_of(enum fold_dtype dtype, enum fold_op op, const void *in, size_t n) {
  return (struct fold_terms){.dtype = dtype, .op = op, .factors = 1, .factor = {in}, .n = n};
}
