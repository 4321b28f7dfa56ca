/* problem.c: the table of problem.def: its signatures, and where the elements of inputs and the terms of results lie. */
#include "model/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"

static struct fold_problem table[FOLD_PROBLEMS] = {
#define FOLD_PROBLEM(TAG, text, OP, signature_, REACH, factors_, about_) \
  {.id = FOLD_##TAG, .name = #text, .about = about_, .op = FOLD_##OP, .signature = signature_, .reach = FOLD_##REACH},
#include "model/problem.def"
};
static const char *const factors_of[FOLD_PROBLEMS] = {
#define FOLD_PROBLEM(TAG, name, OP, signature, REACH, factors, about) factors,
#include "model/problem.def"
};
_Static_assert((int)FOLD_ROWS_SUM == (int)FOLD_SUM && (int)FOLD_ROWS_MIN == (int)FOLD_MIN,
               "folds of rows have their operation's number");

/* ---- signatures ---- */

static const char axis_letters[FOLD_AXES + 1] = "bmnk";

const char *fold_axis_name(enum fold_axis axis) {
  static const char *const names[FOLD_AXES] = {"batch", "m", "n", "k"};
  return names[axis];
}

enum fold_axis fold_axis_find(const char *name, size_t n) {
  enum fold_axis axis = 0;
  while (axis < FOLD_AXES && (strlen(fold_axis_name(axis)) != n || strncmp(fold_axis_name(axis), name, n) != 0)) axis++;
  return axis;
}

/* The letters of one operand, up to the text's next ',' or '-' or its end. */
static fold_status parse_operand(const char *signature, const char **text, struct fold_problem *p, unsigned operand) {
  p->n_axes[operand] = p->has[operand] = 0;
  for (; **text && **text != ',' && **text != '-'; ++*text) {
    const char *letter = strchr(axis_letters, **text);
    if (letter == NULL)
      return fold_error(FOLD_BAD_INPUT, "signature \"%.60s\": '%c' is no axis; axes are b, m, n and k", signature,
                        **text);
    const unsigned axis = (unsigned)(letter - axis_letters);
    if (p->has[operand] >> axis & 1)
      return fold_error(FOLD_BAD_INPUT, "signature \"%.60s\": an operand has axis %c twice", signature, **text);
    p->has[operand] |= 1u << axis;
    p->axes[operand][p->n_axes[operand]++] = (enum fold_axis)axis;
  }
  return fold_ok();
}

static fold_status check_axes(const char *signature, const struct fold_problem *p) {
  unsigned given = 0;
  for (unsigned k = 0; k < p->inputs; k++) given |= p->has[k];
  if (p->reach == FOLD_BY_KEY) {
    const bool keys = p->inputs > 1 && p->has[p->inputs - 1] == 1u << FOLD_K;
    if (!keys || given >> FOLD_M & 1 || !fold_has_axis(p, p->inputs, FOLD_M))
      return fold_error(FOLD_BAD_INPUT,
                        "signature \"%.60s\": a keyed sum's last input is \"k\", and m is its results' alone",
                        signature);
    given |= 1u << FOLD_M; /* the keys */
  }
  if (!(given >> FOLD_K & 1)) return fold_error(FOLD_BAD_INPUT, "signature \"%.60s\": no input has axis k", signature);
  if (p->has[p->inputs] & ~given)
    return fold_error(FOLD_BAD_INPUT, "signature \"%.60s\": the results have an axis that no input has", signature);
  if (given & ~p->has[p->inputs] & ~(1u << FOLD_K))
    return fold_error(FOLD_BAD_INPUT, "signature \"%.60s\": only k is folded, so the results have all other axes",
                      signature);
  const bool is_scan = fold_is_scan(p);
  if (is_scan && !fold_has_axis(p, p->inputs, FOLD_K))
    return fold_error(FOLD_BAD_INPUT, "signature \"%.60s\": the results of a scan have axis k", signature);
  if (!is_scan && fold_has_axis(p, p->inputs, FOLD_K))
    return fold_error(FOLD_BAD_INPUT, "signature \"%.60s\": the results have axis k, which is folded", signature);
  return fold_ok();
}

fold_status fold_signature_parse(const char *signature, struct fold_problem *problem) {
  const char *text = signature;
  unsigned operand = 0;
  FOLD_TRY(parse_operand(signature, &text, problem, operand));
  while (*text == ',') {
    if (++operand >= FOLD_INPUTS)
      return fold_error(FOLD_BAD_INPUT, "signature \"%.60s\": more than %d inputs", signature, FOLD_INPUTS);
    text++;
    FOLD_TRY(parse_operand(signature, &text, problem, operand));
  }
  problem->inputs = operand + 1;
  if (strncmp(text, "->", 2) != 0)
    return fold_error(FOLD_BAD_INPUT, "signature \"%.60s\": \"->\" is missing before the axes of the results",
                      signature);
  text += 2;
  FOLD_TRY(parse_operand(signature, &text, problem, problem->inputs));
  if (*text) return fold_error(FOLD_BAD_INPUT, "signature \"%.60s\": it goes on after the results", signature);
  return check_axes(signature, problem);
}

static fold_status parse_row(struct fold_problem *p, const char *factors) {
  FOLD_TRY(fold_signature_parse(p->signature, p));
  char plain[8] = "";
  p->absolute = sscanf(factors, "|%7[0-9]|", plain) == 1;
  if (p->absolute) factors = plain;
  p->factors = (unsigned)strlen(factors);
  if (p->factors == 0 || p->factors > FOLD_FACTORS)
    return fold_error(FOLD_ENVIRONMENT, "%u factors in a term", p->factors);
  for (unsigned f = 0; f < p->factors; f++) {
    p->factor[f] = (unsigned)(factors[f] - '0');
    if (p->factor[f] >= p->inputs) return fold_error(FOLD_ENVIRONMENT, "a factor of input %u", p->factor[f]);
    if (fold_is_keys(p, p->factor[f])) return fold_error(FOLD_ENVIRONMENT, "keys are no factor");
    if (!fold_has_axis(p, p->factor[f], FOLD_K)) return fold_error(FOLD_ENVIRONMENT, "a factor without axis k");
  }
  return fold_ok();
}

/* Before main, so that all threads find the same table. fold_problems_check reports a row that is wrong. */
__attribute__((constructor)) static void parse_table(void) {
  for (unsigned i = 0; i < FOLD_PROBLEMS; i++) (void)parse_row(&table[i], factors_of[i]);
}

fold_status fold_problems_check(void) {
  for (unsigned i = 0; i < FOLD_PROBLEMS; i++) {
    struct fold_problem again = table[i];
    const fold_status status = parse_row(&again, factors_of[i]);
    if (status.code != FOLD_OK) return fold_error(FOLD_ENVIRONMENT, "problem %s: %.900s", table[i].name, status.text);
  }
  return fold_ok();
}

const struct fold_problem *fold_problem(enum fold_problem_id id) { return &table[id]; }

const struct fold_problem *fold_rows_problem(enum fold_op op) { return fold_problem((enum fold_problem_id)op); }

const struct fold_problem *fold_problem_find(const char *name) {
  for (size_t i = 0; i < FOLD_PROBLEMS; i++)
    if (strcmp(table[i].name, name) == 0) return &table[i];
  return NULL;
}

const char *fold_problem_names(char text[120]) {
  size_t n = 0;
  for (size_t i = 0; i < FOLD_PROBLEMS && n < 120; i++) {
    const char *before = i == 0 ? "" : i + 1 < FOLD_PROBLEMS ? ", " : " or ";
    n += (size_t)snprintf(text + n, 120 - n, "%s%s", before, table[i].name);
  }
  return text;
}

fold_status fold_problem_share_rows(const struct fold_problem *problem, size_t given, size_t *each) {
  size_t shared = 0;
  for (unsigned k = 0; k < problem->inputs; k++) shared += !fold_has_axis(problem, k, FOLD_M);
  const size_t with = problem->inputs - shared;
  *each = given < shared ? 0 : (given - shared) / with;
  if (given >= shared && (given - shared) % with == 0) return fold_ok();
  if (shared == 0)
    return fold_error(FOLD_BAD_INPUT, "%zu rows: %s takes %u inputs of as many rows each, one after the other", given,
                      problem->name, problem->inputs);
  return fold_error(FOLD_BAD_INPUT, "%zu rows: %s takes the rows of %s, then one row that all share", given,
                    problem->name, with > 1 ? "its inputs" : "a matrix");
}

fold_status fold_problem_share_values(const struct fold_problem *problem, size_t given, size_t *each) {
  *each = given / problem->inputs;
  if (given % problem->inputs == 0) return fold_ok();
  return fold_error(FOLD_BAD_INPUT, "%zu values: %s takes %u inputs of as many values each, one after the other", given,
                    problem->name, problem->inputs);
}

/* ---- places ---- */

static size_t count(const struct fold_problem *problem, const struct fold_shape *shape, unsigned operand) {
  size_t n = 1;
  for (unsigned i = 0; i < problem->n_axes[operand]; i++) n *= shape->at[problem->axes[operand][i]];
  return n;
}

bool fold_is_of_rows(const struct fold_problem *problem) {
  const unsigned row = 1u << FOLD_M | 1u << FOLD_K;
  bool all = fold_results_are_rows(problem);
  for (unsigned k = 0; k < problem->inputs; k++) all &= problem->has[k] == row;
  return all;
}

bool fold_terms_are_elements(const struct fold_problem *problem) {
  return fold_is_of_rows(problem) && problem->factors == problem->inputs && !problem->absolute;
}

enum fold_axis fold_batch_axis(const struct fold_problem *problem, const struct fold_shape *shape) {
  const bool batches = fold_has_axis(problem, problem->inputs, FOLD_B) && shape->b != 1;
  return batches || problem->reach == FOLD_BY_KEY ? FOLD_B : FOLD_M;
}

unsigned fold_axes_of(const struct fold_problem *problem) {
  unsigned axes = 0;
  for (unsigned k = 0; k <= problem->inputs; k++) axes |= problem->has[k];
  return axes;
}

size_t fold_extent(const struct fold_problem *problem, const struct fold_shape *shape, enum fold_axis axis) {
  return fold_axes_of(problem) >> axis & 1 ? shape->at[axis] : 1;
}

size_t fold_elements(const struct fold_problem *problem, const struct fold_shape *shape, unsigned input) {
  return input < problem->inputs ? count(problem, shape, input) : 0;
}

size_t fold_results(const struct fold_problem *problem, const struct fold_shape *shape) {
  return count(problem, shape, problem->inputs);
}

size_t fold_all_terms(const struct fold_problem *problem, const struct fold_shape *shape) {
  if (problem->reach == FOLD_BY_KEY) return fold_elements(problem, shape, 0);
  return fold_results(problem, shape) * (problem->reach == FOLD_ALL ? shape->k : 1);
}

void fold_contiguous(const struct fold_problem *problem, const struct fold_shape *shape, unsigned operand,
                     ptrdiff_t stride[FOLD_AXES]) {
  ptrdiff_t next = 1;
  memset(stride, 0, FOLD_AXES * sizeof *stride);
  for (unsigned i = problem->n_axes[operand]; i-- > 0;) {
    const enum fold_axis axis = problem->axes[operand][i];
    stride[axis] = next;
    next *= (ptrdiff_t)shape->at[axis];
  }
}

struct fold_shape fold_coordinates(const struct fold_problem *problem, const struct fold_shape *shape, unsigned operand,
                                   size_t element) {
  struct fold_shape at = {.at = {0}};
  for (unsigned i = problem->n_axes[operand]; i-- > 0;) {
    const enum fold_axis axis = problem->axes[operand][i];
    at.at[axis] = element % shape->at[axis];
    element /= shape->at[axis];
  }
  return at;
}

ptrdiff_t fold_place(const struct fold_problem *problem, unsigned operand, const ptrdiff_t stride[FOLD_AXES],
                     const struct fold_shape *at) {
  ptrdiff_t place = 0;
  for (unsigned i = 0; i < problem->n_axes[operand]; i++) {
    const enum fold_axis axis = problem->axes[operand][i];
    place += stride[axis] * (ptrdiff_t)at->at[axis];
  }
  return place;
}

size_t fold_first_result_of(const struct fold_problem *problem, const struct fold_shape *shape, unsigned input,
                            size_t element, const uint32_t *keys) {
  struct fold_shape at = fold_coordinates(problem, shape, input, element);
  if (problem->reach == FOLD_BY_KEY) at.m = keys[at.k];
  ptrdiff_t stride[FOLD_AXES];
  fold_contiguous(problem, shape, problem->inputs, stride);
  if (problem->reach == FOLD_BEFORE && at.k + 1 < shape->k) at.k++;
  return (size_t)fold_place(problem, problem->inputs, stride, &at);
}

const char *fold_result_name(const struct fold_problem *problem, const struct fold_shape *shape, size_t result,
                             char text[120]) {
  const unsigned results = problem->inputs;
  const struct fold_shape at = fold_coordinates(problem, shape, results, result);
  const bool is_row = fold_results_are_rows(problem);
  size_t n = (size_t)snprintf(text, 120, "%s %zu", is_row ? "row" : "result", result);
  if (is_row) return text;
  const char *before = " (";
  for (unsigned i = 0; i < problem->n_axes[results]; i++) {
    const enum fold_axis axis = problem->axes[results][i];
    if (axis == FOLD_B && shape->b == 1) continue;
    n += (size_t)snprintf(text + n, 120 - n, "%s%c %zu", before, axis_letters[axis], at.at[axis]);
    before = ", ";
  }
  snprintf(text + n, 120 - n, ")");
  return text;
}

/* ---- calls ---- */

static bool is_contiguous(const ptrdiff_t stride[FOLD_AXES]) {
  for (unsigned a = 0; a < FOLD_AXES; a++)
    if (stride[a]) return false;
  return true;
}

void fold_call_strides(const struct fold_call *call, unsigned operand, ptrdiff_t stride[FOLD_AXES]) {
  const ptrdiff_t *given = call->stride[operand < call->problem->inputs ? operand : FOLD_INPUTS];
  memcpy(stride, given, sizeof call->stride[0]);
  if (is_contiguous(given)) fold_contiguous(call->problem, &call->shape, operand, stride);
}

size_t fold_call_stride(const struct fold_call *call, enum fold_axis axis) {
  ptrdiff_t stride[FOLD_AXES];
  fold_call_strides(call, 0, stride);
  return (size_t)stride[axis];
}

struct fold_call fold_call_part(const struct fold_call *call, const struct fold_block *part) {
  const struct fold_problem *problem = call->problem;
  struct fold_call some = *call;
  some.shape = part->extent;
  for (unsigned k = 0; k < problem->inputs; k++) {
    ptrdiff_t *stride = some.stride[k];
    fold_call_strides(call, k, stride);
    some.in[k] = (const unsigned char *)call->in[k] +
                 fold_place(problem, k, stride, &part->first) * (ptrdiff_t)fold_input_size(problem, call->dtype, k);
  }
  return some;
}

/* ---- terms ---- */

static fold_status check_keys(const uint32_t *keys, size_t n, size_t slots) {
  for (size_t t = 0; t < n; t++)
    if (keys[t] >= slots)
      return fold_error(FOLD_BAD_INPUT, "key %zu is %u, and there are %zu slots", t, keys[t], slots);
  return fold_ok();
}

/* Sorts by counting, which keeps the order of equal keys. */
fold_status fold_call_sorted(const struct fold_call *call, struct fold_slots *slots, struct fold_call *sorted) {
  const size_t n = call->shape.k, m = call->shape.m;
  *slots = (struct fold_slots){0};
  *sorted = *call;
  if (call->problem->reach != FOLD_BY_KEY || call->slots) return fold_ok();
  const uint32_t *keys = call->in[call->problem->inputs - 1];
  FOLD_TRY(check_keys(keys, n, m));
  slots->first = calloc(m + 2, sizeof *slots->first);
  slots->place = malloc((n + 1) * sizeof *slots->place);
  if (!slots->first || !slots->place) {
    fold_slots_free(slots);
    return fold_no_memory("to sort %zu terms by %zu keys", n, m);
  }
  size_t *next = slots->first + 1; /* while places are filled in, slot s's next place */
  for (size_t t = 0; t < n; t++) next[keys[t] + 1]++;
  for (size_t s = 0; s < m; s++) next[s + 1] += next[s];
  for (size_t t = 0; t < n; t++) slots->place[next[keys[t]]++] = (uint32_t)t;
  sorted->slots = slots;
  return fold_ok();
}

void fold_slots_free(struct fold_slots *slots) {
  free(slots->first);
  free(slots->place);
  *slots = (struct fold_slots){0};
}

size_t fold_terms_in(const struct fold_call *call, size_t result) {
  const struct fold_problem *problem = call->problem;
  if (problem->reach == FOLD_ALL) return call->shape.k;
  const struct fold_shape at = fold_coordinates(problem, &call->shape, problem->inputs, result);
  if (problem->reach == FOLD_BY_KEY) return call->slots->first[at.m + 1] - call->slots->first[at.m];
  return problem->reach == FOLD_PREFIX ? at.k + 1 : at.k;
}

struct fold_terms fold_call_terms(const struct fold_call *call, size_t result) {
  const struct fold_problem *problem = call->problem;
  struct fold_shape at = fold_coordinates(problem, &call->shape, problem->inputs, result);
  struct fold_terms terms = {.dtype = call->dtype,
                             .op = problem->op,
                             .factors = problem->factors,
                             .absolute = problem->absolute,
                             .n = fold_terms_in(call, result)};
  if (problem->reach == FOLD_BY_KEY) terms.index = call->slots->place + call->slots->first[at.m];
  at.k = 0;
  for (unsigned f = 0; f < problem->factors; f++) {
    ptrdiff_t stride[FOLD_AXES];
    fold_call_strides(call, problem->factor[f], stride);
    terms.factor[f] = (const unsigned char *)call->in[problem->factor[f]] +
                      fold_place(problem, problem->factor[f], stride, &at) * (ptrdiff_t)fold_dtype_size(call->dtype);
    terms.step[f] = stride[FOLD_K];
  }
  return terms;
}

struct fold_terms fold_terms_of(enum fold_dtype dtype, enum fold_op op, const void *in, size_t n) {
  return (struct fold_terms){.dtype = dtype, .op = op, .factors = 1, .factor = {in}, .step = {1}, .n = n};
}

static void take_magnitudes(enum fold_dtype dtype, void *x, size_t n) {
  const uint64_t sign = fold_format_of(dtype).sign;
  for (size_t i = 0; i < n; i++) fold_bits_store(dtype, x, i, fold_bits_load(dtype, x, i) & ~sign);
}

fold_status fold_terms_line(const struct fold_terms *terms, struct fold_terms *line, void **room) {
  const size_t size = fold_dtype_size(terms->dtype), each = terms->n * size;
  unsigned char *to = NULL;
  *line = *terms;
  line->index = NULL;
  line->absolute = false;
  *room = NULL;
  for (unsigned f = 0; f < terms->factors; f++) {
    if (!terms->index && !terms->absolute && (terms->step[f] == 1 || terms->n <= 1)) continue;
    if (to == NULL) *room = to = malloc(FOLD_FACTORS * each + 1);
    if (to == NULL) return fold_no_memory("for %zu terms", terms->n);
    const unsigned char *from = terms->factor[f];
    for (size_t t = 0; t < terms->n; t++)
      memcpy(to + t * size, from + (ptrdiff_t)((terms->index ? terms->index[t] : t) * size) * terms->step[f], size);
    if (terms->absolute) take_magnitudes(terms->dtype, to, terms->n);
    line->factor[f] = to;
    line->step[f] = 1;
    to += each;
  }
  return fold_ok();
}
