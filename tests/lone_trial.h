/* lone_trial.h: runs a judge without a runner, so that a test can look at what it leaves in its trial; and a subject
 * that keeps a log of its calls and gives a wrong sum where a test wants one.
 */
#ifndef LONE_TRIAL_H
#define LONE_TRIAL_H

#include <criterion/criterion.h>
#include <string.h>

#include "base/bits.h"
#include "fixtures/generator.h"
#include "judge/judge.h"

enum { MOST_CALLS = 400, MOST_ROWS = 8 };
static struct {
  size_t runs, lies_in, lies_at; /* in run lies_in the sum of row lies_at is one too large; 0: in none */
  size_t lies_from;              /* and in every run of so many rows or more; 0: in none */
  size_t fails_in;               /* this run fails; 0: none does */
  struct fold_call call[MOST_CALLS];
  uint64_t behind[MOST_CALLS][FOLD_INPUTS]; /* what each input holds behind the case's terms of the first row */
} seen;
static size_t case_cols;

static inline double term(const struct fold_call *call, size_t r, size_t c) {
  const size_t at = r * fold_call_stride(call, FOLD_M) + c * fold_call_stride(call, FOLD_K);
  return fold_bits_to_double(call->dtype, fold_bits_load(call->dtype, call->in[0], at)) *
         (call->in[1] ? fold_bits_to_double(call->dtype, fold_bits_load(call->dtype, call->in[1], at)) : 1);
}

static inline void note(const struct fold_call *call) {
  cr_assert(seen.runs < MOST_CALLS);
  seen.call[seen.runs] = *call;
  if (call->cols > case_cols || (size_t)call->stride[0][FOLD_M] > case_cols) {
    seen.behind[seen.runs][0] = fold_bits_load(call->dtype, call->in[0], case_cols);
    if (call->in[1]) seen.behind[seen.runs][1] = fold_bits_load(call->dtype, call->in[1], case_cols);
  }
  seen.runs++;
}

/* The exact sum of integers; -0 if all are -0. For any other operation always the same result. */
static inline fold_status sum_rows(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  note(call);
  if (seen.runs == seen.fails_in) return fold_error(FOLD_ENVIRONMENT, "on strike");
  for (size_t r = 0; r < call->rows; r++) {
    const bool lies = seen.runs == seen.lies_in || (seen.lies_from && call->rows >= seen.lies_from);
    double sum = call->problem->op == FOLD_SUM ? -0.0 : 3;
    if (lies && r == seen.lies_at) sum += 1;
    for (size_t c = 0; c < call->cols && call->problem->op == FOLD_SUM; c++) sum += term(call, r, c);
    fold_bits_store(call->dtype, call->out, r, fold_bits_from_double(call->dtype, sum));
  }
  return fold_ok();
}

/* A case of integers, judged without a runner: what a judge leaves in the trial can be looked at. */
struct lone {
  struct fold_case c;
  struct fold_subject subject;
  struct fold_rig rig, batch;
  struct fold_around around;
  struct fold_trial trial;
  uint64_t got[MOST_ROWS], second[MOST_ROWS], other[MOST_ROWS];
};

static inline void open_lone(struct lone *b, enum fold_problem_id problem, enum fold_dtype dtype, size_t rows,
                             size_t cols) {
  static const char row; /* marks the subject as a guest's; nothing in it is used */
  memset(b, 0, sizeof *b);
  memset(&seen, 0, sizeof seen);
  case_cols = cols;
  b->c = (struct fold_case){
      .name = "c", .file = "c", .dtype = dtype, .problem = fold_problem(problem), .rows = rows, .cols = cols};
  b->c.source = (struct fold_source){fold_generator_find("integers"), dtype, 7, cols, 0};
  b->subject = (struct fold_subject){.name = "sums",
                                     .dtypes = (1u << FOLD_DTYPES) - 1,
                                     .problems = (1u << FOLD_PROBLEMS) - 1,
                                     .strides = true,
                                     .guest = (const void *)&row,
                                     .run = sum_rows};
  const size_t n[FOLD_INPUTS] = {rows * cols, rows * cols};
  cr_assert_eq(fold_rig_open(&b->rig, FOLD_HOST, b->c.problem, dtype, n, rows).code, FOLD_OK);
  for (unsigned k = 0; k < b->rig.inputs; k++)
    cr_assert_eq(fold_case_fill(&b->c, k, fold_rig_input_at(&b->rig, k), 1).code, FOLD_OK);
  cr_assert_eq(fold_rig_load(&b->rig).code, FOLD_OK);
  b->trial = (struct fold_trial){.subject = &b->subject,
                                 .c = &b->c,
                                 .rig = &b->rig,
                                 .batch = &b->batch,
                                 .around = &b->around,
                                 .repeats = 2,
                                 .got = b->got,
                                 .second = b->second,
                                 .other = b->other};
}

static inline void close_lone(struct lone *b) {
  fold_log_close(&b->trial.log);
  if (b->batch.ops) fold_rig_close(&b->batch);
  fold_rig_close(&b->rig);
}

/* Makes the base run, which is right, and the judge's own runs. */
static inline struct fold_finding judge_lone(struct lone *b, fold_judge_runs *judge) {
  struct fold_finding finding = fold_finding_open(b->c.rows);
  const struct fold_request request = fold_trial_request(&b->trial, FOLD_BASE_POISON);
  const size_t lies_in = seen.lies_in, lies_from = seen.lies_from, fails_in = seen.fails_in;
  seen.lies_in = seen.lies_from = seen.fails_in = 0;
  cr_assert_eq(fold_rig_hash(&b->rig, &b->trial.input_hash).code, FOLD_OK);
  b->trial.input_hash_after = b->trial.input_hash;
  cr_assert_eq(fold_rig_run(&b->rig, &b->subject, &request, b->got, &b->trial.traces).code, FOLD_OK);
  seen.runs = 0;
  seen.lies_in = lies_in, seen.lies_from = lies_from, seen.fails_in = fails_in;
  judge(&b->trial, &finding);
  return finding;
}

#endif
