/* problem.h: which terms each result folds. Each problem is a row of a table (problem.def).
 *
 * A result is a fold of terms: an operation (fold_op) joins them, in some order. The problem is data: a signature, as
 * einsum has them ("mk,k->m"), names the axes of each input and of the results; k is the axis that is folded. From it
 * follow how many elements an input has, where each lies, which terms a result has, and which results an element is in.
 * A term is an element, or the product of two, exact before it is joined. Oracles, orders and bounds take terms (struct
 * fold_terms); rigs, fixtures and judges ask the problem for them.
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

/* Which of the terms along k a result has: all; those up to its own place on k; those before it; or those whose key is the
 * result's m. Keys are uint32 and below the extent of m. */
enum fold_reach { FOLD_ALL, FOLD_PREFIX, FOLD_BEFORE, FOLD_BY_KEY };

enum { FOLD_FACTORS = 2, FOLD_OPERANDS = FOLD_INPUTS + 1 }; /* operands: the inputs, then the results */

struct fold_problem {
  enum fold_problem_id id;
  const char *name;  /* "sum", "dot": as fixtures, options and records say it */
  const char *about; /* what the results are */
  enum fold_op op;
  const char *signature;
  enum fold_reach reach;
  unsigned inputs, factors;
  unsigned factor[FOLD_FACTORS]; /* the input of each factor of a term */
  bool absolute;                 /* each factor is the magnitude of its element */
  /* Of each input, and of the results at place `inputs`: a mask of the axes, and the axes, the last one fastest. */
  unsigned has[FOLD_OPERANDS];
  enum fold_axis axes[FOLD_OPERANDS][FOLD_AXES];
  unsigned n_axes[FOLD_OPERANDS];
};

/* Reads a signature into the problem, whose reach is set. BAD_INPUT says what is wrong with it. */
fold_status fold_signature_parse(const char *signature, struct fold_problem *problem);
/* ENVIRONMENT, naming the first row of the table that is wrong. */
fold_status fold_problems_check(void);

const struct fold_problem *fold_problem(enum fold_problem_id id);
/* The fold of each row by one operation. */
const struct fold_problem *fold_rows_problem(enum fold_op op);
/* NULL where no problem has that name. */
const struct fold_problem *fold_problem_find(const char *name);
/* "sum, prod, max, min or dot" */
const char *fold_problem_names(char text[120]);

/* How many of the `given` rows each input has, where the inputs follow one another; one that all results share has one.
 * BAD_INPUT if they can't be divided so. The same for the values of one row. */
fold_status fold_problem_share_rows(const struct fold_problem *problem, size_t given, size_t *each);
fold_status fold_problem_share_values(const struct fold_problem *problem, size_t given, size_t *each);

/* Whether an input has that axis. */
static inline bool fold_has_axis(const struct fold_problem *problem, unsigned operand, enum fold_axis axis) {
  return problem->has[operand] >> axis & 1;
}
/* Whether each result has a row of every input to itself. */
bool fold_is_of_rows(const struct fold_problem *problem);
/* Whether, besides, each factor of its terms is an element of an input of its own: so a term can be chosen by its factors. */
bool fold_terms_are_elements(const struct fold_problem *problem);
/* Whether there is one result a row; others have several axes, or other ones. */
static inline bool fold_results_are_rows(const struct fold_problem *problem) {
  return problem->has[problem->inputs] == 1u << FOLD_M;
}
/* The axis that cuts a batch: batches where there are several, else m; batches, too, where m cuts no input. */
enum fold_axis fold_batch_axis(const struct fold_problem *problem, const struct fold_shape *shape);
const char *fold_axis_name(enum fold_axis axis); /* "batch", "m", "n", "k" */
/* The axis of that name, of n letters; FOLD_AXES: there is none. */
enum fold_axis fold_axis_find(const char *name, size_t n);
/* A mask of the axes that an input or the results have. */
unsigned fold_axes_of(const struct fold_problem *problem);
/* The extent of an axis: 1 where the problem lacks it. */
size_t fold_extent(const struct fold_problem *problem, const struct fold_shape *shape, enum fold_axis axis);
/* How many elements an input has, and how many results there are. */
size_t fold_elements(const struct fold_problem *problem, const struct fold_shape *shape, unsigned input);
size_t fold_results(const struct fold_problem *problem, const struct fold_shape *shape);
/* How many terms are joined for all results together. A running sum joins each term once. */
size_t fold_all_terms(const struct fold_problem *problem, const struct fold_shape *shape);
/* Whether a result has the terms up to its place on k. */
static inline bool fold_is_scan(const struct fold_problem *problem) {
  return problem->reach == FOLD_PREFIX || problem->reach == FOLD_BEFORE;
}
/* Whether an input holds keys. */
static inline bool fold_is_keys(const struct fold_problem *problem, unsigned input) {
  return problem->reach == FOLD_BY_KEY && input + 1 == problem->inputs;
}
/* The dtype of an input's elements in a call of `dtype`, and their size. Keys are below 2^31. */
static inline enum fold_dtype fold_input_dtype(const struct fold_problem *problem, enum fold_dtype dtype,
                                               unsigned input) {
  return fold_is_keys(problem, input) ? FOLD_I32 : dtype;
}
static inline size_t fold_input_size(const struct fold_problem *problem, enum fold_dtype dtype, unsigned input) {
  return fold_dtype_size(fold_input_dtype(problem, dtype, input));
}
/* The strides of an operand whose elements lie side by side. */
void fold_contiguous(const struct fold_problem *problem, const struct fold_shape *shape, unsigned operand,
                     ptrdiff_t stride[FOLD_AXES]);
/* The coordinates of an operand's element by its number where they lie side by side; 0 on axes that it lacks. */
struct fold_shape fold_coordinates(const struct fold_problem *problem, const struct fold_shape *shape, unsigned operand,
                                   size_t element);
/* Where an operand's element with these coordinates lies. */
ptrdiff_t fold_place(const struct fold_problem *problem, unsigned operand, const ptrdiff_t stride[FOLD_AXES],
                     const struct fold_shape *at);
/* The first result that has an element of an input, which holds no keys, in a term of its own; the last result if none has.
 * `keys`: of a keyed sum. */
size_t fold_first_result_of(const struct fold_problem *problem, const struct fold_shape *shape, unsigned input,
                            size_t element, const uint32_t *keys);

/* "row 3"; of results along several axes "result 711 (m 2, k 201)". */
const char *fold_result_name(const struct fold_problem *problem, const struct fold_shape *shape, size_t result,
                             char text[120]);
/* The stride of an operand of a call, whether it is contiguous or not. */
void fold_call_strides(const struct fold_call *call, unsigned operand, ptrdiff_t stride[FOLD_AXES]);
size_t fold_call_stride(const struct fold_call *call, enum fold_axis axis); /* of the first input */
/* The call of a part alone, in the same arrays. */
struct fold_call fold_call_part(const struct fold_call *call, const struct fold_block *part);

/* The terms of each slot of a keyed sum: those of slot s are place[first[s]] up to place[first[s + 1] - 1], in rising order. */
struct fold_slots {
  size_t *first;
  uint32_t *place;
};
/* The same call with its slots, if it is a keyed sum in host memory; `slots` is to be freed. BAD_INPUT names the first key
 * that is no slot. */
fold_status fold_call_sorted(const struct fold_call *call, struct fold_slots *slots, struct fold_call *sorted);
void fold_slots_free(struct fold_slots *slots);
/* How many terms a result of a call has, which is sorted. */
size_t fold_terms_in(const struct fold_call *call, size_t result);

/* The terms of one result. Factor i of term t is element (index ? index[t] : t) * step[i] from factor[i] on. */
struct fold_terms {
  enum fold_dtype dtype; /* of each factor */
  enum fold_op op;       /* what joins the terms */
  unsigned factors;      /* 1, or 2: each term is their product */
  const void *factor[FOLD_FACTORS];
  ptrdiff_t step[FOLD_FACTORS];
  size_t n;
  const uint32_t *index; /* NULL: terms that follow each other */
  bool absolute;         /* each factor is the element's magnitude */
};

/* The terms of result number `result` of a call in host memory, which is sorted. */
struct fold_terms fold_call_terms(const struct fold_call *call, size_t result);
/* The n elements of an array, joined by op. */
struct fold_terms fold_terms_of(enum fold_dtype dtype, enum fold_op op, const void *in, size_t n);
/* The same terms side by side, each factor an element: where they lie, or copied to *room, which the caller frees. */
fold_status fold_terms_line(const struct fold_terms *terms, struct fold_terms *line, void **room);

#ifdef __cplusplus
}
#endif
#endif
