/* test_judge_accuracy.c: the claims of accuracy, held and refuted at the edge, or skipped with its reason. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "literal.h"

#define MAX 0x1.fffffep127f
#define ACCURATE (FOLD_CLAIM(FOLD_FAITHFUL) | FOLD_CLAIM(FOLD_CORRECTLY_ROUNDED))

Test(judge_accuracy, faithful_takes_two_neighbours_and_correctly_rounded_one) {
  static const struct {
    float terms[3], got;
    bool faithful, correct;
  } rows[] = {
      {{1, 0x1p-25f, 0}, 1, true, true},
      {{1, 0x1p-25f, 0}, 0x1.000002p0f, true, false},
      {{1, 0x1p-25f, 0}, 0x1.fffffep-1f, false, false},
      {{1, 0, 0}, 1, true, true},
      {{1, 0, 0}, 0x1.000002p0f, false, false},
      {{1, 0, 0}, 0x1.fffffep-1f, false, false},
      {{0x1p24f, 1, 0}, 0x1p24f, true, true},
      {{0x1p24f, 1, 0}, 0x1.000002p24f, true, false},
      {{-1, -0x1p-25f, 0}, -0x1.000002p0f, true, false},
      {{-1, -0x1p-25f, 0}, -0x1.fffffep-1f, false, false},
      {{1, -1, 0}, 0, true, true},
      {{1, -1, 0}, -0.0f, false, false},
      {{-0.0f, -0.0f, -0.0f}, -0.0f, true, true},
      {{-0.0f, -0.0f, -0.0f}, 0, false, false},
      {{1, -1, 0}, 0x1p-149f, false, false},
      {{MAX, 0x1p100f, 0}, INFINITY, true, false},
      {{MAX, 0x1p100f, 0}, MAX, true, true},
      {{MAX, MAX, 0}, INFINITY, true, true},
      {{1, 2, 3}, NAN, false, false},
      {{1, 2, 3}, INFINITY, false, false},
      {{NAN, 2, 3}, NAN, true, true},
      {{NAN, 2, 3}, 5, false, false},
      {{INFINITY, -INFINITY, 3}, NAN, true, true},
      {{INFINITY, -INFINITY, 3}, INFINITY, false, false},
      {{INFINITY, 1, 1}, MAX, false, false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct literal l;
    struct fold_subject subject = plant(rows[i].got, NULL, FOLD_EXACT, ACCURATE);
    struct tally t = judge(&subject, literal_case(&l, 3, rows[i].terms));
    cr_expect_eq(verdict_of(&t, FOLD_FAITHFUL), rows[i].faithful ? FOLD_HELD : FOLD_REFUTED, "faithful, row %zu", i);
    cr_expect_eq(verdict_of(&t, FOLD_CORRECTLY_ROUNDED), rows[i].correct ? FOLD_HELD : FOLD_REFUTED,
                 "correctly rounded, row %zu", i);
    for (size_t k = 0; k < 2; k++) {
      const struct fold_finding *f = &t.last[k ? FOLD_FAITHFUL : FOLD_CORRECTLY_ROUNDED];
      if (f->verdict != FOLD_REFUTED) continue;
      cr_expect(f->compared && f->row == 0 && f->got == fold_f32_bits(rows[i].got), "row %zu: got %llx", i,
                (unsigned long long)f->got);
      for (size_t j = 0; j < sizeof rows / sizeof *rows; j++) /* the right result of these terms, where a row has it */
        if (rows[j].correct && memcmp(rows[j].terms, rows[i].terms, sizeof rows[i].terms) == 0)
          cr_expect(fold_bits_same(FOLD_F32, f->want, fold_f32_bits(rows[j].got)), "row %zu: want %llx", i,
                    (unsigned long long)f->want);
    }
  }
}

/* A result below the least number has a zero for a neighbour, which has its own sign, and never the other zero. */
Test(judge_accuracy, faithful_takes_the_zero_of_the_results_own_sign) {
  static const struct {
    float term, got; /* times 2^-100 */
    bool faithful;
  } rows[] = {
      {0x1.8p-50f, 0x1p-149f, true}, {0x1.8p-50f, 0, true},          {0x1.8p-50f, -0.0f, false},
      {0x1p-51f, 0, true},           {0x1p-51f, 0x1p-149f, true},    {0x1p-51f, -0.0f, false},
      {0x1p-51f, -0x1p-149f, false}, {0x1.8p-50f, 0x1p-148f, false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (int sign = -1; sign <= 1; sign += 2) {
      const float got = sign < 0 ? -rows[i].got : rows[i].got;
      struct literal l;
      struct fold_subject subject = plant(got, NULL, FOLD_PLAIN, FOLD_CLAIM(FOLD_FAITHFUL));
      CASE(&l, 0x1p-100f, (float)sign * rows[i].term);
      l.c.problem = fold_rows_problem(FOLD_PROD);
      struct tally t = judge(&subject, &l.cases);
      cr_expect_eq(verdict_of(&t, FOLD_FAITHFUL), rows[i].faithful ? FOLD_HELD : FOLD_REFUTED, "row %zu, %a: %s", i,
                   (double)got, t.last[FOLD_FAITHFUL].reason);
    }
}

/* However it rounds, to zero too. */
Test(judge_accuracy, bounded_takes_the_sign_of_a_product_alone) {
  static const float products[][2] = {{0x1p-100f, 0x1p-100f}, {0x1p-100f, 0x1p-40f}, {0, 3}, {0, 0}};
  for (size_t i = 0; i < sizeof products / sizeof *products; i++)
    for (int sign = -1; sign <= 1; sign += 2)
      for (int got = -1; got <= 1; got += 2) {
        struct literal l;
        const float size = products[i][0] * products[i][1];
        struct fold_subject subject = plant(got < 0 ? -size : size, NULL, FOLD_PLAIN, FOLD_CLAIM(FOLD_BOUNDED));
        CASE(&l, products[i][0], sign < 0 ? -products[i][1] : products[i][1]);
        l.c.problem = fold_rows_problem(FOLD_PROD);
        struct tally t = judge(&subject, &l.cases);
        cr_expect_eq(verdict_of(&t, FOLD_BOUNDED), got == sign ? FOLD_HELD : FOLD_REFUTED, "%zu, %d for %d: %s", i, got,
                     sign, t.last[FOLD_BOUNDED].reason);
      }
}

/* 2^-24 (1 + 2^-20) is the error, and the bound of one addition less than a millionth below it. */
Test(judge_accuracy, an_error_just_above_its_bound_is_told_from_it) {
  struct literal l;
  struct fold_subject subject = plant(0x1.000002p0f, "host/sequential", FOLD_PLAIN, FOLD_CLAIM(FOLD_BOUNDED));
  struct tally t = judge(&subject, CASE(&l, 1, 0x1.ffffep-25f));
  double error = 0, bound = 0;
  cr_assert_eq(verdict_of(&t, FOLD_BOUNDED), FOLD_REFUTED);
  const char *reason = t.last[FOLD_BOUNDED].reason;
  cr_expect_eq(sscanf(reason, "error %lg is above the bound %lg", &error, &bound), 2, "%s", reason);
  cr_expect(error > bound && error < 1.000002 * bound, "%s", reason);
}

/* With three digits, or as many more as it takes. */
Test(judge_accuracy, an_error_far_above_its_bound_is_told_by_three_digits) {
  struct literal l;
  struct fold_subject subject = plant(1.12345f, "host/sequential", FOLD_PLAIN, FOLD_CLAIM(FOLD_BOUNDED));
  struct tally t = judge(&subject, CASE(&l, 1, 0x1.234p-30f));
  const char *reason = t.last[FOLD_BOUNDED].reason;
  cr_expect_eq(strncmp(reason, "error 0.123 is above the bound 5.96e-08", 39), 0, "%s", reason);
}

/* 1 + (1 - u) is a tie between 2 and the number below: the bound is 2 u and a little more, three times as far is refused. */
Test(judge_accuracy, bounded_turns_at_the_bound) {
  static const struct {
    float got;
    enum fold_verdict verdict;
  } rows[] = {{2, FOLD_HELD},
              {0x1.fffffep0f, FOLD_HELD},
              {0x1.fffffcp0f, FOLD_REFUTED},
              {0x1.000002p1f, FOLD_REFUTED},
              {NAN, FOLD_REFUTED},
              {INFINITY, FOLD_REFUTED},
              {-2, FOLD_REFUTED}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct literal l;
    struct fold_subject subject = plant(rows[i].got, "host/sequential", FOLD_PLAIN, FOLD_CLAIM(FOLD_BOUNDED));
    struct tally t = judge(&subject, CASE(&l, 1, 0x1.fffffep-1f));
    cr_expect_eq(verdict_of(&t, FOLD_BOUNDED), rows[i].verdict, "%a", (double)rows[i].got);
    /* Its own distance from 2 - 2^-24, in units of 2^-22. */
    if (isfinite(rows[i].got))
      cr_expect_eq(t.last[FOLD_BOUNDED].ulps, fabs((double)rows[i].got - (2 - 0x1p-24)) * 0x1p22, "%a: %g ulps",
                   (double)rows[i].got, t.last[FOLD_BOUNDED].ulps);
  }
}

static void expect_bounded(const struct fold_cases *cases, float got, enum fold_verdict verdict, const char *reason) {
  struct fold_subject subject = plant(got, "host/sequential", FOLD_PLAIN, FOLD_CLAIM(FOLD_BOUNDED));
  struct tally t = judge(&subject, cases);
  cr_expect_eq(verdict_of(&t, FOLD_BOUNDED), verdict, "%s: %s", fold_verdict_name(verdict),
               t.last[FOLD_BOUNDED].reason);
  cr_expect(strstr(t.last[FOLD_BOUNDED].reason, reason) != NULL, "'%s' lacks '%s'", t.last[FOLD_BOUNDED].reason,
            reason);
}

/* An overflow is judged by what no order can avoid, or reach. */
Test(judge_accuracy, bounded_demands_an_overflow_that_is_certain_and_refutes_one_that_can_not_be) {
  static const struct {
    float terms[3], got;
    enum fold_verdict verdict;
    const char *reason;
  } rows[] = {
      {{MAX, MAX, 0}, INFINITY, FOLD_HELD, ""},
      {{MAX, MAX, 0}, 3, FOLD_REFUTED, "every order overflows"},
      {{MAX, MAX, 0}, MAX, FOLD_REFUTED, "every order overflows"},
      {{MAX, MAX, 0}, -INFINITY, FOLD_REFUTED, "no order overflows that way"},
      {{MAX, MAX, 0}, NAN, FOLD_REFUTED, "no order overflows that way"},
      {{-MAX, -MAX, 0}, -INFINITY, FOLD_HELD, ""},
      {{-MAX, -MAX, 0}, INFINITY, FOLD_REFUTED, "no order overflows that way"},
      /* One unit on this side of the threshold, and on it. */
      {{MAX, 0x1.fffffep102f, 0}, MAX, FOLD_HELD, ""},
      {{MAX, 0x1.fffffep102f, 0}, 3, FOLD_REFUTED, "above the bound"},
      {{MAX, 0x1p103f, 0x1p103f}, INFINITY, FOLD_HELD, ""},
      /* By the order: infinity, or the largest number. */
      {{MAX, MAX, -MAX}, INFINITY, FOLD_HELD, ""},
      {{MAX, MAX, -MAX}, MAX, FOLD_HELD, ""},
      {{MAX, MAX, -MAX}, 3, FOLD_REFUTED, "above the bound"},
      {{0x1p127f, -0x1p127f, 0}, INFINITY, FOLD_REFUTED, "no partial result can overflow"},
      {{0x1p127f, -0x1p127f, 0}, 0, FOLD_HELD, ""},
      {{INFINITY, -MAX, -MAX}, NAN, FOLD_HELD, ""},
      {{INFINITY, -MAX, -MAX}, INFINITY, FOLD_HELD, ""},
      {{INFINITY, -MAX, -MAX}, -INFINITY, FOLD_REFUTED, "special values"},
      {{INFINITY, -MAX, -MAX}, 1, FOLD_REFUTED, "special values"},
      {{INFINITY, -1, -1}, NAN, FOLD_REFUTED, "special values"},
      {{INFINITY, -1, -1}, INFINITY, FOLD_HELD, ""},
      {{NAN, MAX, MAX}, INFINITY, FOLD_REFUTED, "special values"},
      {{NAN, MAX, MAX}, NAN, FOLD_HELD, ""},
      {{INFINITY, -INFINITY, 1}, INFINITY, FOLD_REFUTED, "special values"},
  };
  struct literal l;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    expect_bounded(literal_case(&l, 3, rows[i].terms), rows[i].got, rows[i].verdict, rows[i].reason);
  l.c.rows = 0;
  expect_bounded(&l.cases, 0, FOLD_SKIPPED, FOLD_NO_RESULTS);
}

/* Many equal terms of a dtype, and a subject of no known order. */
static struct fold_finding judge_many(enum fold_dtype dtype, size_t n, double term, double got) {
  struct fold_subject subject = plant(0, NULL, FOLD_PLAIN, FOLD_CLAIM(FOLD_BOUNDED));
  uint64_t *bits = malloc(n * sizeof *bits);
  for (size_t i = 0; i < n; i++) bits[i] = fold_bits_from_double(dtype, term);
  struct fold_case c = {.name = "many",
                        .file = "many",
                        .dtype = dtype,
                        .problem = fold_rows_problem(FOLD_SUM),
                        .rows = 1,
                        .cols = n,
                        .literal = bits,
                        .where = "test"};
  struct fold_cases cases = {.at = &c, .n = 1};
  subject.width = (unsigned)fold_bits_from_double(dtype, got);
  struct tally t = judge(&subject, &cases);
  free(bits);
  return t.last[FOLD_BOUNDED];
}

/* f16 adds up in f32, and only the last rounding overflows. */
Test(judge_accuracy, bounded_demands_the_infinity_of_the_last_rounding) {
  cr_expect_eq(judge_many(FOLD_F16, 100, 1000, INFINITY).verdict, FOLD_HELD);
  cr_expect_eq(judge_many(FOLD_F16, 100, 1000, 3).verdict, FOLD_REFUTED);
  cr_expect_eq(judge_many(FOLD_F16, 100, 1000, 65504).verdict, FOLD_REFUTED);
  cr_expect_eq(judge_many(FOLD_F16, 100, 1000, -INFINITY).verdict, FOLD_REFUTED);
  cr_expect_eq(judge_many(FOLD_F16, 100, 1000, NAN).verdict, FOLD_REFUTED);
  cr_expect_eq(judge_many(FOLD_F16, 100, 600, INFINITY).verdict, FOLD_REFUTED);
  cr_expect_eq(judge_many(FOLD_F16, 100, 600, 60000).verdict, FOLD_HELD);
}

/* Integers whose sums fit the accumulator do not round, in no order: one term less is seen among 65,537. */
Test(judge_accuracy, bounded_takes_nothing_but_the_sum_where_no_order_rounds) {
  static const struct {
    enum fold_dtype dtype;
    size_t n;
    double term, got;
    enum fold_verdict verdict;
  } rows[] = {
      {FOLD_F32, 65537, 3, 196611, FOLD_HELD},
      {FOLD_F32, 65537, 3, 196608, FOLD_REFUTED},
      {FOLD_F32, 65537, 0x1p-130, 65537 * 0x1p-130, FOLD_HELD},
      {FOLD_F32, 65537, 0x1p-130, 65536 * 0x1p-130, FOLD_REFUTED},
      /* 2^24 units, and one more: the edge of f32. */
      {FOLD_F32, 16, 0x1p20, 0x1p24, FOLD_HELD},
      {FOLD_F32, 16, 0x1p20, 0x1.000002p24, FOLD_REFUTED},
      {FOLD_F32, 256, 65537, 0x1.0001p24, FOLD_HELD},
      {FOLD_F32, 256, 65537, 0x1.00010p24 - 2, FOLD_HELD},
      {FOLD_F32, 256, 65535, 0x1.fffep23, FOLD_HELD},
      {FOLD_F32, 256, 65535, 0x1.fffep23 - 1, FOLD_REFUTED},
      /* f16, through f32: 2,049 is a tie, and 2,048 the even one; 2,051 lies between 2,050 and 2,052. */
      {FOLD_F16, 683, 3, 2048, FOLD_HELD},
      {FOLD_F16, 683, 3, 2050, FOLD_REFUTED},
      {FOLD_F16, 293, 7, 2052, FOLD_HELD},
      {FOLD_F16, 293, 7, 2050, FOLD_REFUTED},
      {FOLD_BF16, 300, 1, 300, FOLD_HELD},
      {FOLD_BF16, 300, 1, 302, FOLD_REFUTED},
      {FOLD_BF16, 300, 1, 256, FOLD_REFUTED},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct fold_finding f = judge_many(rows[i].dtype, rows[i].n, rows[i].term, rows[i].got);
    cr_expect_eq(f.verdict, rows[i].verdict, "row %zu: %s %s", i, fold_verdict_name(f.verdict), f.reason);
    if (f.verdict == FOLD_REFUTED) cr_expect_not_null(strstr(f.reason, "every order gives the "), "%s", f.reason);
  }
}

/* Kahan's bound needs n u <= 1/10, unless nothing rounds: whichever row comes first, the case is judged by the rows that have a
 * bound, and says how many have none. */
Test(judge_accuracy, bounded_says_how_many_rows_have_no_bound) {
  enum { COLS = 1700000 };
  uint64_t *bits = malloc(3 * COLS * sizeof *bits);
  cr_assert_not_null(bits);
  for (size_t judged = 0; judged < 3; judged++) {
    memset(bits, 0, 3 * COLS * sizeof *bits);
    for (size_t r = 0; r < 3; r++) {
      bits[r * COLS] = fold_f32_bits(2);
      bits[r * COLS + 7] = r == judged ? 0 : fold_f32_bits(0x1p-30f);
    }
    struct fold_case c = {.name = "rows",
                          .file = "rows",
                          .dtype = FOLD_F32,
                          .problem = fold_rows_problem(FOLD_SUM),
                          .rows = 3,
                          .cols = COLS,
                          .literal = bits,
                          .where = "test"};
    struct fold_cases cases = {.at = &c, .n = 1};
    for (int wrong = 0; wrong < 2; wrong++) {
      struct fold_subject subject = plant(wrong ? 4 : 2, "host/sequential", FOLD_KAHAN, FOLD_CLAIM(FOLD_COMPENSATED));
      struct tally t = judge(&subject, &cases);
      const struct fold_finding *f = &t.last[FOLD_COMPENSATED];
      cr_expect_eq(f->verdict, wrong ? FOLD_REFUTED : FOLD_HELD, "row %zu: %s", judged, f->reason);
      if (wrong) continue;
      cr_expect(f->comparisons == 1 && f->unjudged == 2, "%zu judged, %zu not", f->comparisons, f->unjudged);
      cr_expect_str_eq(f->reason, "2 of 3 rows have no bound: Kahan's needs n u <= 1/10");
    }
  }
  free(bits);
}

/* Of a product what the declared order makes of it: one that overflows on its way is infinite, whatever another order may give. */
Test(judge_accuracy, bounded_knows_what_the_order_makes_of_a_product) {
  static const float terms[] = {0x1p100f, 0x1p100f, 0x1p-100f, 0x1p-100f},
                     mixed[] = {0x1p100f, 0x1p-100f, 0x1p100f, 0x1p-100f};
  static const struct {
    const float *terms;
    const char *order;
    float got;
    enum fold_verdict verdict;
  } rows[] = {
      {terms, "host/sequential", INFINITY, FOLD_HELD},
      {terms, "host/sequential", 1, FOLD_REFUTED},
      {mixed, "host/sequential", INFINITY, FOLD_REFUTED},
      {mixed, "host/sequential", 1, FOLD_HELD},
      {terms, NULL, INFINITY, FOLD_HELD},
      {terms, NULL, 1, FOLD_HELD},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct literal l;
    struct fold_subject subject = plant(rows[i].got, rows[i].order, FOLD_PLAIN, FOLD_CLAIM(FOLD_BOUNDED));
    literal_case(&l, 4, rows[i].terms);
    l.c.problem = fold_rows_problem(FOLD_PROD);
    struct tally t = judge(&subject, &l.cases);
    cr_expect_eq(verdict_of(&t, FOLD_BOUNDED), rows[i].verdict, "row %zu: %s", i, t.last[FOLD_BOUNDED].reason);
  }
}

/* An oracle that fails gives no verdict, whichever rows it answered; the reason is its message. */
Test(judge_accuracy, a_truth_that_fails_breaks_each_claim_and_is_told) {
  static const enum fold_claim_id claims[] = {FOLD_BOUNDED, FOLD_COMPENSATED, FOLD_FAITHFUL, FOLD_CORRECTLY_ROUNDED};
  static const float got[2] = {1, 1};
  struct fold_subject subject = plant(1, NULL, FOLD_PLAIN, 0);
  struct literal l;
  struct fold_truths truths;
  struct fold_rig rig;
  size_t n;
  CASE(&l, 1, 1);
  l.c.rows = 2, l.c.cols = 1;
  cr_assert_eq(fold_rig_open_rows(&rig, FOLD_HOST, FOLD_SUM, FOLD_F32, 2, 2).code, FOLD_OK);
  memcpy(fold_rig_input(&rig), got, sizeof got);
  struct fold_problem unheard_of = *fold_problem(FOLD_ROWS_SUM);
  unheard_of.op = FOLD_OPS;
  l.c.problem = &unheard_of;
  cr_assert_eq(fold_truths_open(&truths, &l.c, fold_rig_input(&rig)).code, FOLD_OK);
  for (size_t k = 0; k < sizeof claims / sizeof *claims; k++) {
    struct fold_trial trial = {.subject = &subject, .c = &l.c, .rig = &rig, .truths = &truths, .got = got};
    struct fold_finding finding;
    fold_judge_claim(&fold_claims(&n)[claims[k]], &trial, &finding);
    cr_expect_eq(finding.verdict, FOLD_BROKEN);
    cr_expect(strstr(finding.reason, "the oracle has no such dtype or op"), "claim %d: %s", (int)claims[k],
              finding.reason);
  }
  fold_truths_close(&truths);
  fold_rig_close(&rig);
}

/* Of three rows the second is wrong; where nothing can be said of a row it is not refuted. */
Test(judge_accuracy, a_row_is_refuted_by_itself) {
  static const float terms[] = {1, 2, 1, 2, 1, 2}, got[] = {3, 4, 3};
  struct fold_subject subject = plant(3, "host/sequential", FOLD_PLAIN, 0);
  struct fold_truths truths;
  struct literal l;
  literal_case(&l, 6, terms);
  l.c.rows = 3, l.c.cols = 2;
  cr_assert_eq(fold_truths_open(&truths, &l.c, terms).code, FOLD_OK);
  const struct fold_evidence e = {.subject = &subject, .truths = &truths, .results = got};
  for (size_t row = 0; row < 3; row++) cr_expect_eq(fold_refutes_row(&e, row), row == 1, "row %zu", row);
  subject.order = "no/such";
  cr_expect_not(fold_refutes_row(&e, 1));
  fold_truths_close(&truths);
}

/* A tensor core aligns the product of a subnormal factor as if that were the least normal number, so that more of the other product is
 * cut off. The same products of normal factors are not cut there. */
Test(judge_accuracy, truncated_products_of_subnormal_factors_have_a_wider_bound) {
  static const double first[2][2] = {{0x1p-24, 0x1.004p-14}, {0x1p-12, 0x1.004p-14}};
  static const double second[2][2] = {{0x1p10, 0x1.004p0}, {0x1p-2, 0x1.004p0}};
  static const float got = 0x1.004p-13f;
  const struct fold_subject subject = {.name = "planted", .truncated = 1u << FOLD_F16, .result = FOLD_ALWAYS(FOLD_F32)};
  const struct fold_case c = {.dtype = FOLD_F16,
                              .problem = fold_problem(FOLD_DOT),
                              .shape = {.at = {1, 1, 1, 2}},
                              .name = "subnormal",
                              .where = "test"};
  for (int normal = 0; normal < 2; normal++) {
    uint16_t in[2][2];
    struct fold_truths truths;
    for (int i = 0; i < 2; i++) {
      in[0][i] = (uint16_t)fold_bits_from_double(FOLD_F16, first[normal][i]);
      in[1][i] = (uint16_t)fold_bits_from_double(FOLD_F16, second[normal][i]);
    }
    cr_assert_eq(fold_truths_open(&truths, &c, in[0]).code, FOLD_OK);
    truths.in[1] = in[1];
    const struct fold_evidence e = {.subject = &subject, .truths = &truths, .results = &got};
    cr_expect_eq(fold_refutes_row(&e, 0), normal == 1, "%s factors", normal ? "normal" : "subnormal");
    fold_truths_close(&truths);
  }
}

/* Whatever the memory held: a product is not in a known order until somebody says so. */
Test(judge_accuracy, a_weighing_begins_with_nothing_known) {
  struct fold_weighing w;
  memset(&w, 0x5a, sizeof w);
  fold_weighing_init(&w);
  cr_expect(w.running == NULL && w.truth == NULL && w.height == 0 && isnan(w.ulps) && isnan(w.backward) &&
            isnan(w.fraction));
  fold_weighing_free(&w);
}

/* Who begins with +0 gives it for -0 alone, too. Of no terms every library gives +0. */
Test(judge_accuracy, a_zero_sum_has_either_sign_unless_it_has_no_terms) {
  struct literal l;
  for (int negative = 0; negative < 2; negative++) {
    const struct fold_subject subject = plant(negative ? -0.f : 0.f, NULL, FOLD_PLAIN, FOLD_CLAIM(FOLD_BOUNDED));
    const struct tally one = judge(&subject, CASE(&l, -0.f)), two = judge(&subject, CASE(&l, 1, -1));
    struct fold_cases *none = CASE(&l, 1);
    l.c.cols = 0;
    const struct tally empty = judge(&subject, none);
    cr_expect(verdict_of(&one, FOLD_BOUNDED) == FOLD_HELD && verdict_of(&two, FOLD_BOUNDED) == FOLD_HELD);
    cr_expect_eq(verdict_of(&empty, FOLD_BOUNDED), negative ? FOLD_REFUTED : FOLD_HELD);
    if (negative) cr_expect_str_eq(empty.last[FOLD_BOUNDED].reason, "a sum of no terms is +0");
  }
}
