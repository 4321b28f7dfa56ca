/* test_reveal_subject.c: which subjects are asked for a tree, and what is reported of a run that does more than add. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "judge/reveal_subject.h"

enum { TERMS = 9 };
static unsigned runs, leaves_from; /* the run from which on the last result is left unwritten; 0: none */

static fold_status add(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  runs++;
  for (size_t r = 0; r < call->rows; r++) {
    float sum = 0;
    for (size_t i = 0; i < call->cols; i++) sum += ((const float *)call->in[0])[r * call->cols + i];
    if (!leaves_from || runs < leaves_from || r + 1 < call->rows) ((float *)call->out)[r] = sum;
  }
  return fold_ok();
}

static const struct fold_subject subject = {
    .name = "adds", .dtypes = 1u << FOLD_F32, .problems = 1u << FOLD_ROWS_SUM | 1u << FOLD_ROWS_MAX, .run = add};

Test(reveal_subject, what_it_does_not_take_it_is_not_asked) {
  struct fold_subject vector = subject, matvec = subject, squares = subject;
  vector.vector = true;
  matvec.problems = 1u << FOLD_MATVEC;
  squares.problems = 1u << FOLD_SUMSQ;
  const struct {
    const struct fold_subject *subject;
    struct fold_reveal_asked asked;
    const char *why;
  } rows[] = {
      {&subject, {FOLD_F32, FOLD_ROWS_MAX, TERMS, 0, 0}, "only a sum has a tree to reveal, not max"},
      {&subject, {FOLD_F64, FOLD_ROWS_SUM, TERMS, 0, 0}, "adds does not take sum of f64"},
      {&subject, {FOLD_F32, FOLD_DOT, TERMS, 0, 0}, "adds does not take dot of f32"},
      {&matvec,
       {FOLD_F32, fold_reveal_usual_problem(&matvec), TERMS, 0, 0},
       "trees are revealed of rows, not of matvec"},
      {&squares, {FOLD_F32, FOLD_SUMSQ, TERMS, 0, 0}, "trees are revealed of rows, not of sumsq"},
      {&vector, {FOLD_F32, FOLD_ROWS_SUM, TERMS, 0, 4}, "adds sums one term of each rank: of 4 ranks, not 9"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct fold_revealed revealed;
    const fold_status status = fold_reveal_subject(rows[i].subject, &rows[i].asked, &revealed);
    cr_expect_eq(status.code, FOLD_UNSUPPORTED);
    cr_expect_str_eq(status.text, rows[i].why, "%s", status.text);
    cr_expect_eq(runs, 0);
    fold_revealed_free(&revealed);
  }
}

/* From whichever run on: there is no tree, and that is why. */
Test(reveal_subject, a_run_that_leaves_a_result_is_blamed) {
  const struct fold_reveal_asked asked = {FOLD_F32, FOLD_ROWS_SUM, TERMS, 0, 0};
  unsigned all = 1;
  for (leaves_from = 0; leaves_from <= all; leaves_from++) {
    struct fold_revealed revealed;
    runs = 0;
    cr_assert_eq(fold_reveal_subject(&subject, &asked, &revealed).code, FOLD_OK);
    if (leaves_from == 0) all = runs;
    cr_expect_eq(revealed.kind, leaves_from ? FOLD_REVEALED_NO_TREE : FOLD_REVEALED_TREE, "run %u of %u", leaves_from,
                 all);
    cr_expect(!leaves_from || strstr(revealed.why, "a run left result "), "run %u of %u: %s", leaves_from, all,
              revealed.why);
    cr_expect(!leaves_from || runs == leaves_from + 1, "run %u of %u: %u runs", leaves_from, all, runs);
    fold_revealed_free(&revealed);
  }
}

/* As the engine itself says it: more devices may be asked for than there are. */
Test(reveal_subject, an_engine_that_is_not_ready_is_not_asked) {
  struct fold_subject elsewhere = subject;
  struct fold_revealed revealed;
  const struct fold_reveal_asked asked = {FOLD_F32, FOLD_ROWS_SUM, TERMS, 0, 0};
  elsewhere.engine = FOLD_CUDA;
  setenv("FOLDPROOF_REQUIRE_GPUS", "1000", 1);
  const fold_status status = fold_reveal_subject(&elsewhere, &asked, &revealed);
  cr_expect(status.code == FOLD_ENVIRONMENT && strstr(status.text, "FOLDPROOF_REQUIRE_GPUS=1000, but there are "), "%s",
            status.text);
  cr_expect_eq(runs, 0);
}
