/* plain_data.c: see plain_data.h. */
#include "hunt/plain_data.h"

#include <math.h>

#include "base/bits.h"
#include "fixtures/family.h"
#include "fixtures/literal.h"

/* What the elements of the first input are: of the result's own line along k, and of others. */
struct plain {
  double on_line, others;
  double special, last; /* at a place of the line, and at its last place; 0: the same as on_line */
  bool squared;         /* the last term's other factor is `last`, too; else all other factors are 1 */
};

static double value_at(const struct plain *plain, bool on_line, size_t k, size_t place, size_t extent) {
  if (!on_line) return plain->others;
  if (plain->special != 0 && k == place) return plain->special;
  return plain->last != 0 && k + 1 == extent ? plain->last : plain->on_line;
}

/* Whether an element is of a term of the result, as far as axes other than k say. */
static bool is_on_line(const struct fold_problem *problem, const struct fold_shape *of, const struct fold_shape *at) {
  bool same = true;
  for (unsigned a = 0; a < FOLD_AXES; a++)
    if (a != FOLD_K && fold_has_axis(problem, 0, (enum fold_axis)a) &&
        fold_has_axis(problem, problem->inputs, (enum fold_axis)a))
      same &= of->at[a] == at->at[a];
  return same;
}

static fold_status make(const struct fold_case *from, const struct fold_shape *of, const struct plain *plain,
                        size_t place, struct fold_case *to) {
  FOLD_TRY(fold_case_copy(from, to));
  const size_t first = fold_case_elements(from, 0), factors = fold_case_factors(from), extent = from->shape.k;
  for (size_t i = 0; i < first; i++) {
    const struct fold_shape at = fold_coordinates(from->problem, &from->shape, 0, i);
    const double value = value_at(plain, is_on_line(from->problem, of, &at), at.k, place, extent);
    to->literal[i] = fold_bits_from_double(from->dtype, value);
  }
  for (size_t i = first; i < factors; i++) {
    const struct fold_shape at = fold_coordinates(from->problem, &from->shape, 1, i - first);
    const bool same = plain->squared && at.k + 1 == extent;
    to->literal[i] = fold_bits_from_double(from->dtype, same ? plain->last : 1);
  }
  return fold_ok();
}

static fold_status add(const struct fold_case *from, const struct fold_shape *of, const struct plain *plain,
                       size_t place, struct fold_cases *cases) {
  struct fold_case c;
  FOLD_TRY(make(from, of, plain, place, &c));
  return fold_cases_append(cases, &c);
}

/* A term that is lost beside one of so many powers of two more, if that is in the range; else 0. */
static double small_term(enum fold_dtype dtype, int large) {
  const struct fold_format f = fold_format_of(dtype);
  const int exponent = large <= f.emax ? 0 : f.emax - large;
  return fold_dtype_is_integer(dtype) || exponent < fold_format_least(f) ? 0 : ldexp(1, exponent);
}

/* The values of sums: such as show a term that is lost, how a result is rounded, and in which order terms are added. */
static fold_status add_sums(const struct fold_case *from, const struct fold_shape *of, int large, size_t place,
                            struct fold_cases *cases) {
  const int digits = fold_format_of(from->dtype).precision;
  const double small = small_term(from->dtype, large), most = ldexp(small, large);
  /* A tie that is rounded up to the next power of two; and a square that is not exact, next to its rounded value. */
  const double below_one = 1 - ldexp(1, -digits), inexact = 1 + ldexp(1, -(digits + 1) / 2);
  const struct plain rounded[] = {{0, 0, below_one, 1, false}, {0, 0, -1, inexact, true}};
  const struct plain ordered[] = {
      {small, 0, most, 0, false}, {small, small, most, 0, false}, {small, 0, most, -most, false}};
  for (size_t i = 0; i < sizeof rounded / sizeof *rounded; i++) FOLD_TRY(add(from, of, &rounded[i], place, cases));
  for (size_t i = 0; i < sizeof ordered / sizeof *ordered && small > 0; i++)
    FOLD_TRY(add(from, of, &ordered[i], place, cases));
  return fold_ok();
}

fold_status fold_plain_data(const struct fold_case *from, size_t result, int large, struct fold_cases *cases) {
  const bool product = from->problem->op == FOLD_PROD;
  const bool rounds = from->problem->op == FOLD_SUM && !fold_dtype_is_integer(from->dtype);
  const double none = product, one = product ? 2 : 1;
  const size_t extent = from->shape.k, places[] = {extent - 1, 0, extent / 2};
  const struct plain plain[] = {{one, none, 0, 0, false}, {one, one, 0, 0, false}},
                     single = from->problem->op == FOLD_MIN ? (struct plain){one, one, -1, 0, false}
                                                            : (struct plain){none, none, one, 0, false};
  const struct fold_shape of = fold_coordinates(from->problem, &from->shape, from->problem->inputs, result);
  if (extent == 0 || !from->literal) return fold_ok();
  for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) FOLD_TRY(add(from, &of, &plain[i], 0, cases));
  for (size_t p = 0; p < sizeof places / sizeof *places; p++) FOLD_TRY(add(from, &of, &single, places[p], cases));
  for (size_t p = 0; p < sizeof places / sizeof *places && rounds; p++)
    FOLD_TRY(add_sums(from, &of, large, places[p], cases));
  return fold_ok();
}
