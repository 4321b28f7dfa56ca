/* test_judge.c: each way to each verdict: held and refuted at the edge, skipped with its reason, broken. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "literal.h"
#include "mutants.h"
#include "table.h"
#include "tally.h"

/* An oracle that can't answer has not answered, however often it is asked. */
Test(judge, a_truth_that_failed_is_not_known) {
  struct literal l;
  struct fold_truths truths;
  const struct fold_truth *truth;
  float x = 1;
  CASE(&l, 1.0f);
  l.c.op = FOLD_OPS;
  cr_assert_eq(fold_truths_open(&truths, &l.c, &x).code, FOLD_OK);
  for (int again = 0; again < 2; again++)
    cr_expect_eq(fold_truths_row(&truths, 0, &truth).code, FOLD_BAD_INPUT, "%d", again);
  l.c.op = FOLD_SUM;
  cr_expect(fold_truths_row(&truths, 0, &truth).code == FOLD_OK && mpfr_cmp_si(truth->exact, 1) == 0);
  fold_truths_close(&truths);
}

#define MAX 0x1.fffffep127f
#define ACCURATE (FOLD_CLAIM(FOLD_FAITHFUL) | FOLD_CLAIM(FOLD_CORRECTLY_ROUNDED))

Test(judge, faithful_takes_two_neighbours_and_correctly_rounded_one) {
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
  }
}

/* 2^-24 (1 + 2^-20) is the error, and the bound of one addition less than a millionth below it. */
Test(judge, an_error_just_above_its_bound_is_told_from_it) {
  struct literal l;
  struct fold_subject subject = plant(0x1.000002p0f, "host/sequential", FOLD_PLAIN, FOLD_CLAIM(FOLD_BOUNDED));
  struct tally t = judge(&subject, CASE(&l, 1, 0x1.ffffep-25f));
  double error = 0, bound = 0;
  cr_assert_eq(verdict_of(&t, FOLD_BOUNDED), FOLD_REFUTED);
  const char *reason = t.last[FOLD_BOUNDED].reason;
  cr_expect_eq(sscanf(reason, "error %lg is above the bound %lg", &error, &bound), 2, "%s", reason);
  cr_expect(error > bound && error < 1.000002 * bound, "%s", reason);
}

/* 1 + (1 - u) is a tie between 2 and the number below: the bound is 2 u and a little more, three times as far is refused. */
Test(judge, bounded_turns_at_the_bound) {
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
Test(judge, bounded_demands_an_overflow_that_is_certain_and_refutes_one_that_can_not_be) {
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
  expect_bounded(&l.cases, 0, FOLD_SKIPPED, "no row");
}

/* Many equal terms of a dtype, and a subject of no known order. */
static struct fold_finding judge_many(enum fold_dtype dtype, size_t n, double term, double got) {
  struct fold_subject subject = plant(0, NULL, FOLD_PLAIN, FOLD_CLAIM(FOLD_BOUNDED));
  uint64_t *bits = malloc(n * sizeof *bits);
  for (size_t i = 0; i < n; i++) bits[i] = fold_bits_from_double(dtype, term);
  struct fold_case c = {
      .name = "many", .file = "many", .dtype = dtype, .rows = 1, .cols = n, .literal = bits, .where = "test"};
  struct fold_cases cases = {.at = &c, .n = 1};
  subject.width = (unsigned)fold_bits_from_double(dtype, got);
  struct tally t = judge(&subject, &cases);
  free(bits);
  return t.last[FOLD_BOUNDED];
}

/* f16 adds up in f32, and only the last rounding overflows. */
Test(judge, bounded_demands_the_infinity_of_the_last_rounding) {
  cr_expect_eq(judge_many(FOLD_F16, 100, 1000, INFINITY).verdict, FOLD_HELD);
  cr_expect_eq(judge_many(FOLD_F16, 100, 1000, 3).verdict, FOLD_REFUTED);
  cr_expect_eq(judge_many(FOLD_F16, 100, 1000, 65504).verdict, FOLD_REFUTED);
  cr_expect_eq(judge_many(FOLD_F16, 100, 1000, -INFINITY).verdict, FOLD_REFUTED);
  cr_expect_eq(judge_many(FOLD_F16, 100, 1000, NAN).verdict, FOLD_REFUTED);
  cr_expect_eq(judge_many(FOLD_F16, 100, 600, INFINITY).verdict, FOLD_REFUTED);
  cr_expect_eq(judge_many(FOLD_F16, 100, 600, 60000).verdict, FOLD_HELD);
}

/* Integers whose sums fit the accumulator do not round, in no order: one term less is seen among 65,537. */
Test(judge, bounded_takes_nothing_but_the_sum_where_no_order_rounds) {
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
    if (f.verdict == FOLD_REFUTED) cr_expect_not_null(strstr(f.reason, "no order rounds on the way"), "%s", f.reason);
  }
}

/* Kahan's bound needs n u <= 1/10, unless nothing rounds: whichever row comes first, the case is judged by the rows that have a
 * bound, and says how many have none. */
Test(judge, bounded_says_how_many_rows_have_no_bound) {
  enum { COLS = 1700000 };
  uint64_t *bits = malloc(3 * COLS * sizeof *bits);
  cr_assert_not_null(bits);
  for (size_t judged = 0; judged < 3; judged++) {
    memset(bits, 0, 3 * COLS * sizeof *bits);
    for (size_t r = 0; r < 3; r++) {
      bits[r * COLS] = fold_f32_bits(2);
      bits[r * COLS + 7] = r == judged ? 0 : fold_f32_bits(0x1p-30f);
    }
    struct fold_case c = {
        .name = "rows", .file = "rows", .dtype = FOLD_F32, .rows = 3, .cols = COLS, .literal = bits, .where = "test"};
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

static void expect_broken(const struct fold_registry *registry, const char *name, enum fold_verdict verdict,
                          const char *reason) {
  struct literal l;
  struct tally t;
  cr_assert_eq(tally_verify(registry, name, false, CASE(&l, 1, 2), &t).code, FOLD_OK);
  cr_expect_eq(t.judgements, 4);
  for (int k = 0; k < FOLD_CLAIMS; k++)
    if (t.count[k][FOLD_HELD] + t.count[k][FOLD_REFUTED] + t.count[k][FOLD_SKIPPED] + t.count[k][FOLD_BROKEN]) {
      cr_expect_eq(t.count[k][verdict], 1, "%s, claim %d", name, k);
      cr_expect_str_eq(t.last[k].reason, reason);
    }
}

Test(judge, a_subject_that_fails_is_broken_and_one_that_can_not_is_skipped) {
  struct fold_registry registry;
  fold_mutants_join(&registry);
  expect_broken(&registry, "broken/environment", FOLD_BROKEN, "the device fell off the bus");
  expect_broken(&registry, "broken/no_memory", FOLD_BROKEN, "no memory for partials");
  expect_broken(&registry, "broken/unsupported", FOLD_SKIPPED, "not on Fridays");
  free((void *)(uintptr_t)registry.subjects);
}

static struct fold_finding judge_bits_of(const char *order, const char *twin, enum fold_claim_id claim) {
  struct literal l;
  size_t n;
  const struct fold_subject *broken = fold_mutants_broken(&n);
  struct fold_subject subjects[2] = {plant(3, order, FOLD_PLAIN, FOLD_CLAIM(claim)), broken[0]};
  subjects[0].twin = twin;
  struct fold_registry registry = {subjects, 2};
  struct tally t;
  cr_assert_eq(tally_verify(&registry, "planted", false, CASE(&l, 1, 2), &t).code, FOLD_OK);
  return t.last[claim];
}

Test(judge, what_is_not_declared_is_skipped_and_what_does_not_exist_is_broken) {
  static const struct {
    const char *order, *twin;
    enum fold_claim_id claim;
    enum fold_verdict verdict;
    const char *reason;
  } rows[] = {
      {NULL, NULL, FOLD_REPLAYS, FOLD_SKIPPED, "it declares no order"},
      {"no/such", NULL, FOLD_REPLAYS, FOLD_BROKEN, "its order no/such does not exist"},
      {"host/sequential", NULL, FOLD_REPLAYS, FOLD_HELD, ""},
      {NULL, NULL, FOLD_SAME_BITS_AS, FOLD_SKIPPED, "it names no twin"},
      {NULL, "no/such", FOLD_SAME_BITS_AS, FOLD_BROKEN, "its twin no/such does not exist"},
      {NULL, "broken/environment", FOLD_SAME_BITS_AS, FOLD_BROKEN, "the device fell off the bus"},
      {NULL, "planted", FOLD_SAME_BITS_AS, FOLD_HELD, ""},
      {NULL, NULL, FOLD_FRESH_PROCESS, FOLD_SKIPPED, "no other process was asked"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct fold_finding f = judge_bits_of(rows[i].order, rows[i].twin, rows[i].claim);
    cr_expect_eq(f.verdict, rows[i].verdict, "row %zu", i);
    cr_expect_str_eq(f.reason, rows[i].reason, "row %zu: %s", i, f.reason);
  }
}

/* Patterns that a poison is made of, in each dtype: a right result may look like any of them. */
Test(judge, a_result_that_equals_a_poison_is_not_refuted) {
  static const unsigned char poisons[] = {0xa5, 0x3c, 0x11, 0x12, 0x13, 0x21, 0x5a, 0x6b, 0x77, 0x00};
  for (size_t i = 0; i < sizeof poisons; i++) {
    struct literal l;
    float poison;
    memset(&poison, poisons[i], sizeof poison);
    const struct fold_subject *sequential = fold_subject_find("host/sequential", FOLD_HOST);
    struct tally t = judge(sequential, CASE(&l, poison));
    for (int k = 0; k < FOLD_CLAIMS; k++)
      cr_expect_eq(t.count[k][FOLD_REFUTED] + t.count[k][FOLD_BROKEN], 0, "poison 0x%02x, claim %d: %s", poisons[i], k,
                   t.last[k].reason);
    cr_expect_eq(t.count[FOLD_WRITES_OUTPUT][FOLD_HELD], 1);
  }
}

static void says_nothing(struct fold_trial *trial, struct fold_finding *finding) { (void)trial, (void)finding; }

Test(judge, a_judge_that_says_nothing_is_broken) {
  struct fold_claim claim = {FOLD_BOUNDED, "silent", "nothing", says_nothing};
  struct fold_finding finding;
  fold_judge_claim(&claim, NULL, &finding);
  cr_expect_eq(finding.verdict, FOLD_BROKEN);
  cr_expect_str_eq(finding.reason, "no finding");
}

static void says_held(struct fold_trial *trial, struct fold_finding *finding) {
  (void)trial;
  fold_find_held(finding);
}

Test(judge, a_judge_that_holds_and_compared_nothing_is_not_green) {
  struct fold_claim claim = {FOLD_BOUNDED, "idle", "nothing", says_held};
  struct fold_finding finding;
  struct fold_case c = {.rows = 0, .cols = 3};
  struct fold_trial trial = {.c = &c};
  fold_judge_claim(&claim, &trial, &finding);
  cr_expect_eq(finding.verdict, FOLD_SKIPPED);
  cr_expect_str_eq(finding.reason, "no row");
  c.rows = 1;
  fold_judge_claim(&claim, &trial, &finding);
  cr_expect_eq(finding.verdict, FOLD_BROKEN, "%s", finding.reason);
}

/* Every claim of every host subject, promised or not. Guards there are around an empty output too, and rounding modes;
 * everything else has nothing to look at. */
Test(judge, no_claim_is_held_over_nothing) {
  struct fold_registry registry;
  registry.subjects = fold_subjects(&registry.n);
  static const size_t shapes[][2] = {{0, 0}, {0, 1}, {0, 300}, {2, 0}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    for (int op = 0; op < FOLD_OPS; op++) {
      struct fold_case c = {.name = "nothing", .file = "test", .op = (enum fold_op)op, .dtype = FOLD_F32};
      struct fold_cases cases = {.at = &c, .n = 1};
      struct tally t;
      c.rows = shapes[i][0], c.cols = shapes[i][1];
      c.source = (struct fold_source){fold_generator_find("normal"), c.dtype, 7, c.cols, 0};
      cr_assert_eq(tally_verify(&registry, NULL, true, &cases, &t).code, FOLD_OK);
      for (int k = 0; k < FOLD_CLAIMS; k++) {
        bool held = k == FOLD_STAYS_IN_BOUNDS || k == FOLD_LEAVES_NO_TRACE || (c.rows > 0 && k != FOLD_KEEPS_INPUT);
        cr_expect_eq(t.count[k][FOLD_BROKEN] + t.count[k][FOLD_REFUTED], 0, "claim %d: %s", k, t.last[k].reason);
        cr_expect(held || t.count[k][FOLD_HELD] == 0, "claim %d is held over %zu x %zu", k, c.rows, c.cols);
        cr_expect(t.last[k].verdict != FOLD_SKIPPED || t.last[k].reason[0], "claim %d is skipped without a reason", k);
      }
    }
}

/* Each judge in turn on one rig; after each the input must be what and where it was. */
static void expect_input_kept(const struct fold_registry *registry, const struct fold_subject *subject,
                              const struct fold_case *c) {
  struct fold_rig rig;
  struct fold_truths truths;
  uint64_t got[64], other[64], now, n_bytes = c->rows * c->cols;
  size_t n;
  const struct fold_claim *claims = fold_claims(&n);
  cr_assert_eq(fold_rig_open(&rig, FOLD_HOST, c->dtype, n_bytes, c->rows).code, FOLD_OK);
  cr_assert_eq(fold_case_fill(c, fold_rig_input(&rig), 1).code, FOLD_OK);
  cr_assert_eq(fold_rig_load(&rig).code, FOLD_OK);
  cr_assert_eq(fold_truths_open(&truths, c, fold_rig_input(&rig)).code, FOLD_OK);
  struct fold_trial trial = {.registry = registry,
                             .subject = subject,
                             .c = c,
                             .rig = &rig,
                             .truths = &truths,
                             .repeats = 2,
                             .got = got,
                             .other = other};
  struct fold_request request = {.op = c->op, .rows = c->rows, .cols = c->cols, .poison = 0xa5};
  cr_assert_eq(fold_rig_hash(&rig, &trial.input_hash).code, FOLD_OK);
  trial.input_hash_after = trial.input_hash;
  cr_assert_eq(fold_rig_run(&rig, subject, &request, got, &trial.traces).code, FOLD_OK);
  for (size_t k = 0; k < n; k++) {
    struct fold_finding finding;
    fold_judge_claim(&claims[k], &trial, &finding);
    cr_expect_neq(finding.verdict, FOLD_BROKEN, "%s: %s", claims[k].name, finding.reason);
    cr_expect_eq(fold_rig_hash(&rig, &now).code, FOLD_OK);
    cr_expect_eq(now, trial.input_hash, "%s left another input behind: %s", claims[k].name, c->name);
    cr_expect_eq(rig.shift, 0, "%s left the input elsewhere: %s", claims[k].name, c->name);
  }
  fold_truths_close(&truths);
  fold_rig_close(&rig);
}

Test(judge, every_judge_leaves_the_input_as_it_found_it) {
  struct fold_registry registry;
  registry.subjects = fold_subjects(&registry.n);
  static const size_t shapes[][2] = {{1, 1}, {1, 2}, {1, 3}, {1, 6}, {1, 33}, {5, 7}, {17, 257}, {3, 0}, {40, 8}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    for (int d = 0; d < FOLD_DTYPES; d++) {
      struct fold_case c = {.name = "normal",
                            .file = "test",
                            .dtype = (enum fold_dtype)d,
                            .op = FOLD_SUM,
                            .rows = shapes[i][0],
                            .cols = shapes[i][1]};
      c.source = (struct fold_source){fold_generator_find("normal"), c.dtype, 7, c.cols, 0};
      expect_input_kept(&registry, fold_subject_find("host/sequential", FOLD_HOST), &c);
      expect_input_kept(&registry, fold_subject_find("rows/par_16_determ", FOLD_HOST), &c);
    }
}

/* The runner lays the input anew behind a subject that changed it, whatever claims were asked for. */
Test(judge, who_comes_after_a_subject_that_spoils_its_input_sees_the_right_one) {
  struct fold_subject subjects[3] = {*fold_subject_find("host/sequential", FOLD_HOST),
                                     *fold_subject_find("host/sequential", FOLD_HOST),
                                     *fold_subject_find("host/sequential", FOLD_HOST)};
  subjects[0].name = "spoils";
  subjects[0].run = mutant_input_swapped;
  subjects[1].name = "strays";
  subjects[1].run = mutant_in_zone;
  struct fold_registry registry = {subjects, 3};
  struct literal l;
  struct fold_selection selection = {.claims = "replays,bounded,stays_in_bounds", .engine = -1, .repeats = 1};
  struct tally t = {0};
  struct fold_sink sink = {.judgement = tally_take, .context = &t};
  volatile int stop = 0;
  cr_expect_eq(fold_verify(&registry, &selection, CASE(&l, 1e8f, 1, -1e8f, 3), NULL, &sink, &stop).code, FOLD_OK);
  cr_expect_eq(t.count[FOLD_REPLAYS][FOLD_HELD], 3);
  cr_expect_eq(t.count[FOLD_BOUNDED][FOLD_HELD], 3);
  cr_expect_eq(t.count[FOLD_STAYS_IN_BOUNDS][FOLD_HELD], 2);
  cr_expect_eq(t.count[FOLD_STAYS_IN_BOUNDS][FOLD_REFUTED], 1);
}

Test(judge, the_hash_of_results_takes_all_nans_for_one_and_no_two_zeros) {
  uint32_t a[] = {0x7fc00000, 0}, b[] = {0xffc12345, 0}, c[] = {0x7fc00000, 0x80000000}, d[] = {0, 0x7fc00000};
  uint64_t hash = fold_results_hash(FOLD_F32, a, 2);
  cr_expect_eq(fold_results_hash(FOLD_F32, b, 2), hash);
  cr_expect_neq(fold_results_hash(FOLD_F32, c, 2), hash);
  cr_expect_neq(fold_results_hash(FOLD_F32, d, 2), hash);
  cr_expect_neq(fold_results_hash(FOLD_F32, a, 1), hash);
}

static void add(struct fold_table *table, enum fold_claim_id claim, bool promised, enum fold_verdict verdict,
                double ulps) {
  size_t n;
  struct fold_judgement j = {
      .subject = table->registry->subjects, .claim = &fold_claims(&n)[claim], .promised = promised};
  j.finding = (struct fold_finding){.verdict = verdict, .ulps = ulps, .fraction = NAN, .reason = "why"};
  fold_table_add(table, &j);
}

Test(judge, the_table_counts_promises_and_not_probes) {
  struct fold_subject subject = plant(0, NULL, FOLD_PLAIN, 0);
  struct fold_registry registry = {&subject, 1};
  struct fold_table table;
  size_t total[FOLD_VERDICTS], size;
  char *text = NULL;
  cr_assert_eq(fold_table_open(&table, &registry).code, FOLD_OK);
  for (int i = 0; i < 5; i++) add(&table, FOLD_BOUNDED, true, FOLD_HELD, i);
  for (int i = 0; i < 3; i++) add(&table, FOLD_BOUNDED, true, FOLD_REFUTED, NAN);
  add(&table, FOLD_REPLAYS, true, FOLD_SKIPPED, NAN);
  add(&table, FOLD_REPLAYS, true, FOLD_BROKEN, NAN);
  add(&table, FOLD_REPLAYS, false, FOLD_REFUTED, 1e9);
  size_t known;
  fold_table_total(&table, false, total, &known);
  cr_expect_eq(known, 0);
  cr_expect(total[FOLD_HELD] == 5 && total[FOLD_REFUTED] == 3 && total[FOLD_SKIPPED] == 1 && total[FOLD_BROKEN] == 1);
  cr_expect_eq(table.promised[FOLD_BOUNDED].ulps, 4, "the worst");
  FILE *out = open_memstream(&text, &size);
  fold_table_print(&table, false, false, out);
  fold_table_close_line(&table, false, out);
  fclose(out);
  cr_expect(strstr(text, "\n5 held, 3 refuted, 1 skipped\n") != NULL, "%s", text);
  cr_expect(strstr(text, "1 broken") != NULL, "%s", text);
  cr_expect(strstr(text, "not promised, not counted") != NULL, "%s", text);
  cr_expect(strchr(text, '\033') == NULL);
  free(text);
  fold_table_close(&table);
}

Test(judge, what_refutes_a_peer_counts_unless_it_is_known) {
  struct fold_subject subjects[] = {plant(0, NULL, FOLD_PLAIN, 0), plant(0, NULL, FOLD_PLAIN, 0)};
  subjects[0].peer = true;
  struct fold_registry registry = {subjects, 2};
  struct fold_table table;
  size_t total[FOLD_VERDICTS], known, n;
  cr_assert_eq(fold_table_open(&table, &registry).code, FOLD_OK);
  for (int i = 0; i < 2; i++) add(&table, FOLD_RUN_TO_RUN, true, FOLD_REFUTED, NAN);
  add(&table, FOLD_RUN_TO_RUN, true, FOLD_BROKEN, NAN);
  fold_table_total(&table, false, total, &known);
  cr_expect(known == 0 && total[FOLD_REFUTED] == 2 && total[FOLD_BROKEN] == 1, "whoever made it");
  struct fold_case c = {.name = "a case"};
  struct fold_judgement j = {.subject = subjects,
                             .c = &c,
                             .claim = &fold_claims(&n)[FOLD_RUN_TO_RUN],
                             .promised = true,
                             .finding = {.verdict = FOLD_REFUTED, .ulps = NAN, .fraction = NAN},
                             .fact = fold_facts(&n),
                             .known = true};
  fold_table_add(&table, &j);
  fold_table_total(&table, false, total, &known);
  cr_expect(known == 1 && total[FOLD_REFUTED] == 2 && table.tally[0].n == 1);
  fold_table_total(&table, true, total, &known);
  cr_expect(known == 0 && total[FOLD_REFUTED] == 3);
  fold_table_close(&table);
}
