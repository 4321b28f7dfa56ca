/* test_columns.c: which numbers of columns of a product are run, and what becomes of a run that fails. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/bits.h"
#include "kernels/host/host.h"
#include "tally.h"

/* With how many columns the subject was called; a product of `fails_at` columns fails with `code`, and in one of `lies_at` the
 * last result is one too large. */
static struct {
  size_t columns[64], runs, fails_at, lies_at;
  enum fold_code code;
} seen;

static fold_status multiply(const struct fold_subject *subject, const struct fold_call *call) {
  cr_assert(seen.runs < sizeof seen.columns / sizeof *seen.columns);
  seen.columns[seen.runs++] = call->shape.n;
  if (call->shape.n == seen.fails_at) return fold_error(seen.code, "no such columns");
  FOLD_TRY(fold_host_ordered(subject, call));
  if (call->shape.n == seen.lies_at) ((float *)call->out)[call->shape.n - 1] += 1;
  return fold_ok();
}

static struct fold_finding judge_columns(size_t columns) {
  static char name[] = "integers";
  const struct fold_subject subject = {.name = "products",
                                       .engine = FOLD_HOST,
                                       .about = "products",
                                       .dtypes = 1u << FOLD_F32,
                                       .problems = 1u << FOLD_MATMUL,
                                       .order = "dot/sequential",
                                       .claims = FOLD_CLAIM(FOLD_BATCH_INVARIANT),
                                       .run = multiply};
  struct fold_case c = {.name = name,
                        .file = name,
                        .dtype = FOLD_F32,
                        .problem = fold_problem(FOLD_MATMUL),
                        .shape = {.at = {1, 1, columns, 7}}};
  c.source = (struct fold_source){fold_generator_find(name), FOLD_F32, 7, c.cols, 0};
  const struct fold_cases cases = {&c, 1, 1};
  seen.runs = 0;
  struct tally t = tally_of(&subject, &cases);
  return t.last[FOLD_BATCH_INVARIANT];
}

static bool was_run(size_t columns) {
  for (size_t i = 0; i < seen.runs; i++)
    if (seen.columns[i] == columns) return true;
  return false;
}

Test(columns, few_of_them_are_run_and_half_and_all_but_one) {
  static const size_t tried[] = {1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 40, 79};
  size_t results = 2 * 80; /* of the runs in which the columns are turned */
  for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) results += tried[i];
  const struct fold_finding f = judge_columns(80);
  cr_expect_eq(f.verdict, FOLD_HELD, "%s", f.reason);
  cr_expect(f.comparisons >= results, "%zu comparisons of %zu results", f.comparisons, results);
  for (size_t i = 0, n = 0; i <= 80; i++) {
    const bool is_tried = i == tried[n] || i == 80;
    n += i == tried[n] && n + 1 < sizeof tried / sizeof *tried;
    cr_expect_eq(was_run(i), is_tried, "%zu columns", i);
  }
}

Test(columns, a_part_that_fails_is_no_part_that_holds) {
  static const struct {
    enum fold_code code;
    enum fold_verdict want;
  } fails[] = {{FOLD_ENVIRONMENT, FOLD_BROKEN}, {FOLD_UNSUPPORTED, FOLD_SKIPPED}};
  for (size_t i = 0; i < 2; i++)
    for (size_t at = 2; at <= 4; at++) {
      seen.fails_at = at;
      seen.code = fails[i].code;
      const struct fold_finding f = judge_columns(5);
      cr_expect_eq(f.verdict, fails[i].want, "%zu columns: %s", at, f.reason);
      cr_expect_str_eq(f.reason, "no such columns");
    }
}

Test(columns, the_first_number_of_columns_with_other_bits_is_named_with_both_results) {
  seen.lies_at = 3;
  const struct fold_finding f = judge_columns(5);
  cr_expect(f.verdict == FOLD_REFUTED && f.row == 2, "row %zu", f.row);
  cr_expect_str_eq(f.reason, "different bits with n = 3 than with n = 5");
  const double got = fold_bits_to_double(FOLD_F32, f.got), want = fold_bits_to_double(FOLD_F32, f.want);
  cr_expect(want != 0 && got == want + 1, "%g, %g", got, want);
}
