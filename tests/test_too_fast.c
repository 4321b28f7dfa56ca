/* test_too_fast.c: which times of calls on large inputs are plausible, by played times. */
#include <criterion/criterion.h>
#include <string.h>

#include "bench/too_fast.h"

enum { CALLS = 9 };
static const struct fold_subject sum = {.name = "played/sum",
                                        .engine = FOLD_HOST,
                                        .dtypes = 1u << FOLD_F32 | 1u << FOLD_I8,
                                        .problems = 1u << FOLD_ROWS_SUM};

/* What is said of calls that take so many seconds: the first, new inputs, inputs that were seen before. */
static void judge(double first, double new, double seen, size_t want_timed, const char *word) {
  struct fold_cases cases = {0};
  double seconds[CALLS] = {first};
  char why[300];
  size_t timed;
  cr_assert_eq(fold_too_fast_cases(&sum, 77, &cases).code, FOLD_OK);
  cr_assert_eq(cases.n, CALLS);
  for (size_t i = 1; i < CALLS; i++) seconds[i] = i % 2 ? new : seen;
  cr_assert_eq(fold_too_fast_judge(&sum, &cases, seconds, &timed, why).code, FOLD_OK);
  cr_expect_eq(timed, want_timed, "%zu", timed);
  cr_expect(word ? strstr(why, word) != NULL : !why[0], "'%s', want '%s'", why, word ? word : "");
  fold_cases_free(&cases);
}

Test(timed, takes_equal_times_for_work) { judge(9e-3, 5e-3, 5e-3, CALLS, NULL); }
Test(timed, takes_a_slow_first_call_for_its_start) { judge(2, 5e-3, 5e-3, CALLS, NULL); }
Test(timed, refuses_a_call_that_cannot_have_read) {
  judge(9e-3, 5e-3, 1e-7, CALLS, " MB took 0.1 us, to read them takes ");
  judge(1e-7, 5e-3, 5e-3, CALLS, "it did not read its input");
}
Test(timed, refuses_faster_calls_on_inputs_seen_before) {
  judge(9e-3, 5e-3, 2.4e-3, CALLS,
        "it keeps results: a call on an input seen before took 2.4 ms, on new ones at least 5 ms");
  judge(9e-3, 5e-3, 2.6e-3, CALLS, NULL);
}
Test(timed, says_nothing_of_calls_that_were_not_made) { judge(0, 0, 0, 0, NULL); }

/* The first call is on one row; how many terms and rows the others have, the seed decides. */
Test(timed, draws_its_sizes) {
  size_t terms[2], rows[2];
  for (size_t i = 0; i < 2; i++) {
    struct fold_cases cases = {0};
    cr_assert_eq(fold_too_fast_cases(&sum, 77 + i, &cases).code, FOLD_OK);
    const struct fold_case *last = &cases.at[cases.n - 1];
    terms[i] = last->rows * last->cols, rows[i] = last->rows;
    cr_expect(cases.at[0].rows == 1 && last->rows <= 8);
    cr_expect(terms[i] > (1 << 21) - 8 && terms[i] <= 3 << 20, "%zu", terms[i]);
    fold_cases_free(&cases);
  }
  cr_expect(terms[0] != terms[1] && rows[0] != rows[1]);
}

Test(timed, repeats_each_input_once) {
  struct fold_cases cases = {0};
  cr_assert_eq(fold_too_fast_cases(&sum, 77, &cases).code, FOLD_OK);
  for (size_t i = 1; i < cases.n; i++)
    cr_expect_eq(cases.at[i].source.seed == cases.at[i - 1].source.seed, i % 2 == 0, "%zu", i);
  fold_cases_free(&cases);
}
