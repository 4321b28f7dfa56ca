/* literal.h: a case of literal terms, a subject whose result is planted, and its judging in process. */
#ifndef LITERAL_H
#define LITERAL_H

#include <criterion/criterion.h>
#include <string.h>

#include "base/bits.h"
#include "tally.h"

/* One row of literal f32 patterns; `room` holds what the case points to. */
struct literal {
  struct fold_case c;
  struct fold_cases cases;
  uint64_t bits[8];
};

static inline struct fold_cases *literal_case(struct literal *l, size_t n, const float *terms) {
  memset(l, 0, sizeof *l);
  for (size_t i = 0; i < n; i++) l->bits[i] = fold_f32_bits(terms[i]);
  l->c = (struct fold_case){.name = "literal",
                            .file = "literal",
                            .dtype = FOLD_F32,
                            .problem = fold_rows_problem(FOLD_SUM),
                            .rows = 1,
                            .cols = n,
                            .literal = l->bits,
                            .where = "test"};
  l->cases = (struct fold_cases){.at = &l->c, .n = 1};
  return &l->cases;
}
#define CASE(l, ...) literal_case(l, sizeof((float[]){__VA_ARGS__}) / sizeof(float), (float[]){__VA_ARGS__})

/* A subject whose every result is the pattern in `width`. */
static inline fold_status planted(const struct fold_subject *subject, const struct fold_call *call) {
  for (size_t r = 0; r < call->rows; r++) fold_bits_store(call->dtype, call->out, r, subject->width);
  return fold_ok();
}
/* The sums of f32 rows, one term after the other. */
static inline fold_status add_rows(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  for (size_t r = 0; r < call->rows; r++) {
    float sum = 0;
    for (size_t i = 0; i < call->cols; i++) sum += ((const float *)call->in[0])[r * call->cols + i];
    ((float *)call->out)[r] = sum;
  }
  return fold_ok();
}
static inline struct fold_subject plant(float got, const char *order, enum fold_method method, uint64_t claims) {
  return (struct fold_subject){.name = "planted",
                               .dtypes = 15,
                               .problems = 15,
                               .order = order,
                               .method = method,
                               .claims = claims,
                               .width = fold_f32_bits(got),
                               .run = planted};
}

static inline struct tally judge(const struct fold_subject *subject, const struct fold_cases *cases) {
  struct fold_registry registry = {subject, 1};
  struct tally tally;
  fold_status status = tally_verify(&registry, NULL, false, cases, &tally);
  cr_assert_eq(status.code, FOLD_OK, "%s", status.text);
  return tally;
}

static inline enum fold_verdict verdict_of(const struct tally *tally, enum fold_claim_id claim) {
  return tally->last[claim].verdict;
}

#endif
