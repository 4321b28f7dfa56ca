/* test_judge_missing.c: a refuted sum says which of its terms are missing or counted twice, if the difference proves it, and else nothing. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "judge/judge.h"

enum { MOST = 1200 };

/* Results of a problem on f64 inputs, all of which are right but one. */
struct planted {
  struct fold_case c;
  double in[2][MOST], out[MOST];
};

static struct planted plant(enum fold_problem_id id, size_t m, size_t n, size_t k) {
  return (struct planted){.c = {.dtype = FOLD_F64,
                                .problem = fold_problem(id),
                                .shape = {.at = {1, m, n, k}},
                                .name = "planted",
                                .where = "test"}};
}

static void open_truths(struct planted *p, struct fold_truths *truths) {
  cr_assert_eq(fold_truths_open(truths, &p->c, p->in[0]).code, FOLD_OK);
  truths->in[1] = p->in[1];
}

/* What the claim says of the results, the first wrong one of which is `result`. */
static const char *judged(struct planted *p, struct fold_truths *truths, size_t result, enum fold_claim_id claim) {
  static struct fold_finding finding;
  size_t n;
  const struct fold_subject subject = {
      .name = "planted", .claims = FOLD_CLAIM(claim), .order = "host/pairwise", .most_ulps = 1};
  const struct fold_evidence e = {.subject = &subject, .truths = truths, .results = p->out};
  finding = fold_finding_open(fold_case_results(&p->c));
  fold_claims(&n)[claim].results(&e, &finding);
  cr_expect(finding.verdict == FOLD_REFUTED && finding.row == result, "%s: result %zu", finding.reason, finding.row);
  fold_truths_close(truths);
  const char *colon = strchr(finding.reason, ':');
  return colon ? colon + 2 : "";
}

/* What `bounded` (or another claim) says of the results if `result` is `got`; all others are exact. */
static const char *reason_of(struct planted *p, size_t result, double got, enum fold_claim_id claim) {
  struct fold_truths truths;
  open_truths(p, &truths);
  for (size_t r = 0; r < fold_case_results(&p->c); r++) {
    const struct fold_truth *truth;
    cr_assert_eq(fold_truths_row(&truths, r, &truth).code, FOLD_OK);
    p->out[r] = fold_bits_f64(truth->rounded[FOLD_F64]);
  }
  p->out[result] = got;
  return judged(p, &truths, result, claim);
}

static const char *says(struct planted *p, double got) { return reason_of(p, 0, got, FOLD_BOUNDED); }

Test(judge_missing, of_ones_the_number_is_known) {
  struct planted p = plant(FOLD_ROWS_SUM, 1, 1, 1000);
  for (size_t i = 0; i < 1000; i++) p.in[0][i] = 1;
  cr_expect_str_eq(says(&p, 997), "3 of 1,000 terms are missing");
  cr_expect_str_eq(says(&p, 999), "1 of 1,000 terms is missing");
  cr_expect_str_eq(says(&p, 0), "1,000 of 1,000 terms are missing");
  cr_expect_str_eq(says(&p, 1002), "2 more than the 1,000 terms are counted");
  cr_expect_str_eq(says(&p, -1), "");
  cr_expect_str_eq(says(&p, 999.5), "");
  for (size_t i = 0; i < 1000; i += 4) p.in[0][i] = 0;
  cr_expect_str_eq(says(&p, 742), "8 of 750 terms that are not 0 are missing");
}

Test(judge_missing, a_lone_term_is_named) {
  struct planted p = plant(FOLD_ROWS_SUM, 1, 1, 1000);
  p.in[0][417] = -3;
  cr_expect_str_eq(says(&p, 0), "term 417 is missing");
  cr_expect_str_eq(says(&p, -6), "term 417 is counted twice");
  cr_expect_str_eq(says(&p, -5), "");
  p.in[0][417] = 0x1p60;
  cr_expect_str_eq(says(&p, 0), "term 417 is missing");
}

/* Each run of places side by side, and no other numbers. */
Test(judge_missing, of_places_every_run_is_named) {
  struct planted p = plant(FOLD_ROWS_SUM, 1, 1, 24);
  char want[200];
  for (size_t i = 0; i < 12; i++) p.in[0][6 + i] = ldexp(1, (int)(i * 5 % 12));
  for (size_t from = 6; from < 18; from++)
    for (size_t to = from + 1; to <= 18; to++) {
      double run = 0;
      for (size_t i = from; i < to; i++) run += p.in[0][i];
      snprintf(want, sizeof want, to == from + 1 ? "term %zu is" : "terms %zu to %zu are", from, to - 1);
      if (run == 4095) strcpy(want, "all terms that are not 0 are");
      const char *missing = says(&p, 4095 - run);
      cr_expect(strncmp(missing, want, strlen(want)) == 0 && strstr(missing, " missing"), "%s: %s", want, missing);
      const char *twice = says(&p, 4095 + run);
      cr_expect(strncmp(twice, want, strlen(want)) == 0 && strstr(twice, " counted twice"), "%s: %s", want, twice);
    }
  cr_expect_str_eq(says(&p, 4095 - p.in[0][7] - p.in[0][9]), "");
  cr_expect_str_eq(says(&p, 4095 - p.in[0][7] - 0.5), "");
  p.in[0][7] *= -1; /* without it the sum is larger, as if it were counted twice and positive */
  cr_expect_str_eq(says(&p, 4095 + p.in[0][7]), "");
}

/* Numbers of many bits, none of whose sums is near another's. */
static double uneven(size_t i) { return sin((double)(i + 1)) * exp(cos(1.7 * (double)i)); }

static double sum_of(const struct planted *p, size_t from, size_t to) {
  long double sum = 0;
  for (size_t i = from; i < to; i++) sum += (long double)p->in[0][i];
  return (double)sum;
}

Test(judge_missing, of_other_terms_a_term_an_end_and_a_tile_are_named) {
  struct planted p = plant(FOLD_ROWS_SUM, 1, 1, 1000);
  static const struct {
    size_t from, to;
    const char *missing;
  } rows[] = {{992, 1000, "the last 8 of 1,000 terms are missing"},
              {999, 1000, "term 999 is missing"},
              {417, 418, "term 417 is missing"},
              {0, 1, "term 0 is missing"},
              {0, 257, "the first 257 of 1,000 terms are missing"},
              {873, 1000, "the last 127 of 1,000 terms are missing"},
              {16, 24, "terms 16 to 23 are missing"},
              {512, 768, "terms 512 to 767 are missing"},
              {0, 1000, "all terms are missing"},
              {17, 24, ""},
              {100, 700, ""}};
  for (size_t i = 0; i < 1000; i++) p.in[0][i] = uneven(i);
  const double all = sum_of(&p, 0, 1000);
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    const double run = sum_of(&p, rows[r].from, rows[r].to);
    cr_expect_str_eq(says(&p, all - run), rows[r].missing);
    const char *twice = says(&p, all + run);
    cr_expect(rows[r].missing[0] ? strstr(twice, "counted twice") != NULL : !twice[0], "%s: %s", rows[r].missing,
              twice);
  }
}

/* A difference that is no sum of terms, or that may be several. */
Test(judge_missing, nothing_is_said_that_is_not_proved) {
  struct planted p = plant(FOLD_ROWS_SUM, 1, 1, 1000);
  for (size_t i = 0; i < 1000; i++) p.in[0][i] = uneven(i);
  const double all = sum_of(&p, 0, 1000);
  for (int i = 1; i < 200; i++) cr_expect_str_eq(says(&p, all + (double)i / 128), "");
  p.in[0][300] = p.in[0][301]; /* either may be lost */
  cr_expect_str_eq(says(&p, sum_of(&p, 0, 1000) - p.in[0][301]), "");
  p.in[0][300] = p.in[0][301] * (1 + 0x1p-36); /* rounding may tell them apart, but hardly */
  cr_expect_str_eq(says(&p, sum_of(&p, 0, 1000) - p.in[0][301]), "");
  for (size_t i = 0; i < 1000; i++) p.in[0][i] = (double)(i * i % 17) - 8;
  cr_expect_str_eq(says(&p, sum_of(&p, 0, 992)), "");
}

Test(judge_missing, zeros_next_to_the_lost_terms_may_be_lost_too) {
  struct planted p = plant(FOLD_ROWS_SUM, 1, 1, 1000);
  for (size_t i = 0; i < 1000; i++) p.in[0][i] = i % 4 ? 0 : uneven(i);
  cr_expect_str_eq(says(&p, sum_of(&p, 0, 970)), "terms 972 to 996 are missing");
  p.in[0][999] = uneven(999);
  cr_expect_str_eq(says(&p, sum_of(&p, 0, 970)), "at least the last 28 of 1,000 terms are missing");
  cr_expect_str_eq(says(&p, sum_of(&p, 10, 1000)), "at least the first 9 of 1,000 terms are missing");
}

/* A single bit above the bound is refuted, and may be a rounding. */
Test(judge_missing, a_difference_of_a_few_bounds_is_no_lost_term) {
  struct planted p = plant(FOLD_ROWS_SUM, 1, 1, 2);
  p.in[0][0] = 1, p.in[0][1] = 0x1.8p-52;
  cr_expect_str_eq(says(&p, 1), "");
  p.in[0][1] = 0x1.8p-50;
  cr_expect_str_eq(says(&p, 1), "term 1 is missing");
}

Test(judge_missing, each_problem_has_terms) {
  struct planted p = plant(FOLD_MATMUL, 3, 4, 50);
  for (size_t i = 0; i < 150; i++) p.in[0][i] = uneven(i);
  for (size_t i = 0; i < 200; i++) p.in[1][i] = uneven(i + 1000);
  double sum = 0; /* of result 6: m 1, n 2 */
  for (size_t t = 0; t < 42; t++) sum += p.in[0][50 + t] * p.in[1][4 * t + 2];
  cr_expect_str_eq(reason_of(&p, 6, sum, FOLD_BOUNDED), "the last 8 of 50 terms are missing");
  p = plant(FOLD_SUMSQ, 1, 1, 100);
  for (size_t i = 0; i < 100; i++) p.in[0][i] = 2;
  cr_expect_str_eq(says(&p, 388), "3 of 100 terms are missing");
  p = plant(FOLD_SCAN, 2, 1, 100);
  for (size_t i = 0; i < 200; i++) p.in[0][i] = uneven(i);
  cr_expect_str_eq(reason_of(&p, 180, sum_of(&p, 164, 181), FOLD_BOUNDED), "the first 64 of 81 terms are missing");
}

Test(judge_missing, the_other_claims_of_accuracy_say_it_too) {
  static const enum fold_claim_id claims[] = {FOLD_FAITHFUL, FOLD_CORRECTLY_ROUNDED, FOLD_COMPENSATED, FOLD_ULPS};
  struct planted p = plant(FOLD_ROWS_SUM, 1, 1, 1000);
  for (size_t i = 0; i < 1000; i++) p.in[0][i] = uneven(i);
  for (size_t k = 0; k < sizeof claims / sizeof *claims; k++)
    cr_expect_str_eq(reason_of(&p, 0, sum_of(&p, 0, 992), claims[k]), "the last 8 of 1,000 terms are missing");
}

Test(judge_missing, products_and_maxima_and_what_is_not_finite_say_nothing) {
  struct planted p = plant(FOLD_ROWS_PROD, 1, 1, 3);
  for (size_t i = 0; i < 3; i++) p.in[0][i] = 3;
  cr_expect_str_eq(says(&p, 6), "");
  p = plant(FOLD_ROWS_SUM, 1, 1, 3);
  for (size_t i = 0; i < 3; i++) p.in[0][i] = 3;
  cr_expect_str_eq(says(&p, INFINITY), "");
  p.in[0][1] = INFINITY;
  cr_expect_str_eq(says(&p, 6), "");
}

/* What `bounded` says if each result of a product lacks its last `tail` terms, or if it is one of the first `wrong` alone. */
static const char *says_of_product(struct planted *p, size_t tail, size_t wrong) {
  struct fold_truths truths;
  const size_t n = p->c.shape.n, k = p->c.shape.k;
  open_truths(p, &truths);
  for (size_t r = 0; r < fold_case_results(&p->c); r++) {
    p->out[r] = 0;
    for (size_t t = 0; t < (r < wrong ? k - tail : k); t++)
      p->out[r] += p->in[0][r / n * k + t] * p->in[1][t * n + r % n];
  }
  return judged(p, &truths, 0, FOLD_BOUNDED);
}

Test(judge_missing, of_small_whole_numbers_several_results_prove_a_tail) {
  struct planted p = plant(FOLD_MATMUL, 4, 4, 200);
  for (size_t i = 0; i < 800; i++) p.in[0][i] = (double)(i * i % 7) - 1, p.in[1][i] = (double)(i * 5 % 11 % 4) - 1;
  for (size_t i = 0; i < 4; i++) p.in[0][i * 200 + 199] = p.in[1][199 * 4 + i] = (double)i + 3;
  cr_expect_str_eq(says_of_product(&p, 1, 16), "here and in 15 other results term 199 is missing");
  cr_expect(strstr(says_of_product(&p, 8, 16), "other results the last 8 of 200 terms are missing"));
  cr_expect_str_eq(says_of_product(&p, 1, 2), "", "two results prove nothing");
}
