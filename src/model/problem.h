/* problem.h: which terms each result folds. Each problem is a row of a table (problem.def).
 *
 * A result is a fold of terms: an operation (fold_op) joins them, in some order. A problem says what the inputs are,
 * how many results they give, and which terms belong to each. A term is an element, or the product of one element of
 * each input, or the square of an input's, exact before it is joined. Oracles, orders and bounds take terms (struct
 * fold_terms); rigs, fixtures and judges ask the problem for them. The shape is rows x cols: `rows` results of `cols`
 * terms each.
 */
#ifndef FOLD_PROBLEM_H
#define FOLD_PROBLEM_H

#include "base/fold.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The problems; the folds of rows by one operation have the operation's number. */
enum fold_problem_id {
#define FOLD_PROBLEM(TAG, ...) FOLD_##TAG,
#include "model/problem.def"
  FOLD_PROBLEMS
};

/* The terms of one result, by index. */
struct fold_terms {
  enum fold_dtype dtype; /* of each factor */
  enum fold_op op;       /* what joins them */
  unsigned factors;      /* 1, or 2: term i is the product of element i of each */
  const void *factor[FOLD_INPUTS];
  size_t n;
};

struct fold_problem {
  enum fold_problem_id id;
  const char *name; /* "sum", "dot": as fixtures, options and records say it */
  enum fold_op op;
  unsigned inputs, factors; /* of a term; where these are more, the last input has the rest */
  size_t (*elements)(const struct fold_shape *shape, unsigned input);
  /* The element of that input that belongs to term `col` of result `row`. So a block of a case's rows and columns is a
   * case of its own, which begins at these places. */
  size_t (*place)(const struct fold_shape *shape, unsigned input, size_t row, size_t col);
};

const struct fold_problem *fold_problem(enum fold_problem_id id);
/* The fold of each row by one operation. */
const struct fold_problem *fold_rows_problem(enum fold_op op);
/* The stride of a call's inputs, of rows and contiguous ones too. */
size_t fold_call_stride(const struct fold_call *call, enum fold_axis axis);
/* NULL where no problem has that name. */
const struct fold_problem *fold_problem_find(const char *name);
/* "sum, prod, max, min or dot" */
const char *fold_problem_names(char text[120]);

/* How many of the `given` rows (or values: `what`) each input gets, where the inputs follow one another. BAD_INPUT if
 * they can't be divided equally. */
fold_status fold_problem_share(const struct fold_problem *problem, size_t given, const char *what, size_t *each);

/* The terms of result `row`, of inputs as they lie in host memory. */
struct fold_terms fold_problem_terms(const struct fold_problem *problem, enum fold_dtype dtype,
                                     const struct fold_shape *shape, const void *const inputs[FOLD_INPUTS], size_t row);
/* The n elements of an array, joined by op. */
struct fold_terms fold_terms_of(enum fold_dtype dtype, enum fold_op op, const void *in, size_t n);

#ifdef __cplusplus
}
#endif
#endif
