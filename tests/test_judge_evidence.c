/* test_judge_evidence.c: what a finding says besides its verdict. */
#include <math.h>

#include "literal.h"

/* Of several runs that strayed the first is reported; what the reference did is not the subject's. */
Test(judge_evidence, the_first_stray_of_the_subject_is_reported) {
  size_t n;
  struct fold_subject subject = plant(0, NULL, FOLD_PLAIN, 0), twin = subject;
  subject.engine = FOLD_CUDA; /* of which no more runs are made */
  const struct fold_case c = {.problem = fold_rows_problem(FOLD_SUM), .name = "c", .rows = 1, .cols = 1};
  const struct fold_logged twins = {&twin, FOLD_CLAIMS, {.out_of_bounds = true, .bounds_at = -8}},
                           first = {&subject,
                                    FOLD_CLAIMS,
                                    {.out_of_bounds = true, .bounds_by = FOLD_READ, .bounds_at = 12}},
                           second = {&subject, FOLD_CLAIMS, {.out_of_bounds = true, .bounds_at = 20}};
  const struct {
    const struct fold_logged *runs[3], *told;
  } logs[] = {{{&first, &twins, &second}, &first}, {{&twins, &first, &second}, &first}, {{&twins, NULL, NULL}, NULL}};
  for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
    struct fold_trial trial = {.subject = &subject, .c = &c};
    struct fold_finding f;
    char told[160] = "";
    for (size_t k = 0; k < 3 && logs[i].runs[k]; k++)
      cr_assert_eq(fold_log_add(&trial.log, logs[i].runs[k]).code, FOLD_OK);
    fold_judge_claim(&fold_claims(&n)[FOLD_STAYS_IN_BOUNDS], &trial, &f);
    if (logs[i].told) fold_traces_describe_stray(&logs[i].told->traces, told);
    if (logs[i].told) strcat(told, ", 6 elements past its end"); /* of an output of one f16 */
    cr_expect_eq(f.verdict, told[0] ? FOLD_REFUTED : FOLD_HELD, "log %zu", i);
    cr_expect_str_eq(f.reason, told, "log %zu: %s", i, f.reason);
    fold_log_close(&trial.log);
  }
}

static uint64_t judged;
static void note_judged(void *context, const struct fold_claim *claim, const struct fold_finding *finding) {
  (void)context;
  cr_expect_eq(finding->verdict, FOLD_HELD, "%s: %s", claim->name, finding->reason);
  cr_expect_not(judged & FOLD_CLAIM(claim->id), "%s: twice", claim->name);
  judged |= FOLD_CLAIM(claim->id);
}

/* By those that are promised, that are named, and that need no run. */
Test(judge_evidence, results_alone_are_judged_by_the_claims_that_are_theirs) {
  static const float results[] = {3};
  static const struct {
    uint64_t promised;
    const char *globs;
    uint64_t judged;
  } rows[] = {{FOLD_CLAIM(FOLD_BOUNDED) | FOLD_CLAIM(FOLD_REPLAYS) | FOLD_CLAIM(FOLD_RUN_TO_RUN), NULL,
               FOLD_CLAIM(FOLD_BOUNDED) | FOLD_CLAIM(FOLD_REPLAYS)},
              {FOLD_CLAIM(FOLD_BOUNDED) | FOLD_CLAIM(FOLD_REPLAYS), "bounded,faithful", FOLD_CLAIM(FOLD_BOUNDED)},
              {FOLD_CLAIM(FOLD_RUN_TO_RUN) | FOLD_TIDY, NULL, 0}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct literal l;
    struct fold_truths truths;
    struct fold_subject subject = plant(3, "host/sequential", FOLD_PLAIN, rows[i].promised);
    static const float terms[] = {1, 2};
    CASE(&l, 1, 2);
    cr_assert_eq(fold_truths_open(&truths, &l.c, terms).code, FOLD_OK);
    const struct fold_evidence e = {.subject = &subject, .truths = &truths, .results = results};
    judged = 0;
    fold_judge_evidence(&e, rows[i].globs, note_judged, NULL);
    cr_expect_eq(judged, rows[i].judged, "row %zu: 0x%llx", i, (unsigned long long)judged);
    fold_truths_close(&truths);
  }
}

/* An infinity that must come has no distance: who comes second, with the same result, is held with the same evidence. */
Test(judge_evidence, of_an_infinity_the_evidence_is_the_same_for_each_subject) {
  struct literal l;
  const uint64_t claims = FOLD_CLAIM(FOLD_BOUNDED);
  struct fold_subject subjects[2] = {plant(INFINITY, "host/sequential", FOLD_PLAIN, claims),
                                     plant(INFINITY, "host/sequential", FOLD_PLAIN, claims)};
  struct fold_registry registry = {subjects, 2};
  struct tally alone, second;
  subjects[0].name = "first";
  subjects[1].name = "second";
  CASE(&l, 0x1.8p127f, 0x1.8p127f, 1);
  cr_assert_eq(tally_verify(&registry, "second", false, &l.cases, &alone).code, FOLD_OK);
  cr_assert_eq(tally_verify(&registry, NULL, false, &l.cases, &second).code, FOLD_OK);
  const struct fold_finding *a = &alone.last[FOLD_BOUNDED], *b = &second.last[FOLD_BOUNDED];
  cr_expect(a->verdict == FOLD_HELD && b->verdict == FOLD_HELD && second.count[FOLD_BOUNDED][FOLD_HELD] == 2, "%s",
            b->reason);
  cr_expect(a->compared == b->compared && a->got == b->got && isnan(a->ulps) && isnan(b->ulps));
}

/* Three rows, of which the second is the farthest off: not the first, not the last, not the least. */
Test(judge_evidence, the_evidence_is_the_worst_rows) {
  struct literal l;
  static const float terms[] = {1, 0x1p-30f, 1, 0x1p-28f, 1, 0x1p-29f};
  struct fold_subject subject = plant(1, NULL, FOLD_PLAIN, FOLD_CLAIM(FOLD_BOUNDED));
  literal_case(&l, 6, terms);
  l.c.rows = 3;
  l.c.cols = 2;
  struct tally t = judge(&subject, &l.cases);
  const struct fold_finding *f = &t.last[FOLD_BOUNDED];
  cr_expect_eq(f->verdict, FOLD_HELD, "%s", f->reason);
  cr_expect(f->row == 1 && f->ulps == 0x1p-5 && f->fraction > 0 && f->fraction < 1, "row %zu, %a ulps, %g of the bound",
            f->row, f->ulps, f->fraction);
  cr_expect_float_eq(f->backward, 0x1p-4 / (1 + 0x1p-28), 0x1p-54, "%a", f->backward);
}

/* What one subject's bound allows, another's need not, nor of another result: the first is held and the second refuted, and the
 * third, who has the first's bound, is held with the first's evidence. */
Test(judge_evidence, a_result_is_weighed_by_each_subjects_own_bound) {
  static const struct {
    const char *order;
    unsigned accumulator;
    float got;
  } tight[] = {{"host/pairwise", FOLD_USUAL, 1 + 2 * 0x1p-23f},
               {"host/sequential", FOLD_ALWAYS(FOLD_F64), 1 + 2 * 0x1p-23f},
               {"host/sequential", FOLD_USUAL, 1 + 8 * 0x1p-23f}};
  float terms[8] = {1};
  for (size_t i = 1; i < 8; i++) terms[i] = 0x1p-40f * (float)i;
  for (size_t i = 0; i < 3; i++) {
    struct literal l;
    uint64_t claims = FOLD_CLAIM(FOLD_BOUNDED);
    const float got = 1 + 2 * 0x1p-23f; /* 4 u; of 8 terms: 7 u in sequence, 3 u in pairs */
    struct fold_subject subjects[3] = {plant(got, "host/sequential", FOLD_PLAIN, claims),
                                       plant(tight[i].got, tight[i].order, FOLD_PLAIN, claims),
                                       plant(got, "host/sequential", FOLD_PLAIN, claims)};
    struct fold_registry registry = {subjects, 3};
    struct tally t, first;
    subjects[0].name = "loose";
    subjects[1].accumulator = tight[i].accumulator;
    subjects[2].name = "loose_too";
    literal_case(&l, 8, terms);
    cr_assert_eq(tally_verify(&registry, "loose", false, &l.cases, &first).code, FOLD_OK);
    cr_assert_eq(tally_verify(&registry, NULL, false, &l.cases, &t).code, FOLD_OK);
    cr_expect(t.count[FOLD_BOUNDED][FOLD_HELD] == 2 && t.count[FOLD_BOUNDED][FOLD_REFUTED] == 1, "%zu held: %s",
              t.count[FOLD_BOUNDED][FOLD_HELD], t.last[FOLD_BOUNDED].reason);
    cr_assert_eq(tally_verify(&registry, "loose*", false, &l.cases, &t).code, FOLD_OK);
    cr_expect_eq(t.last[FOLD_BOUNDED].ulps, first.last[FOLD_BOUNDED].ulps);
    cr_expect(first.last[FOLD_BOUNDED].backward > 0 &&
              t.last[FOLD_BOUNDED].backward == first.last[FOLD_BOUNDED].backward);
    cr_expect_eq(t.last[FOLD_BOUNDED].fraction, first.last[FOLD_BOUNDED].fraction);
  }
}

/* A product's bound is that of its own order: in sequence the first partial product is subnormal and loses bits, from the other end
 * none does. */
Test(judge_evidence, a_product_is_weighed_by_each_subjects_own_order) {
  static const float terms[] = {0x1.4cp-80f, 0x1.b4p-66f, 0x1p60f, 0x1p60f};
  const volatile float lossy = terms[0] * terms[1];
  const float got = lossy * 0x1p60f * 0x1p60f;
  struct literal l;
  const uint64_t claims = FOLD_CLAIM(FOLD_BOUNDED);
  struct fold_subject subjects[3] = {plant(got, "host/sequential", FOLD_PLAIN, claims),
                                     plant(got, "host/reverse", FOLD_PLAIN, claims),
                                     plant(got, "host/sequential", FOLD_PLAIN, claims)};
  struct fold_registry registry = {subjects, 3};
  struct tally t, first;
  subjects[0].name = "loses bits";
  subjects[1].name = "loses none";
  subjects[2].name = "loses bits too";
  for (size_t i = 0; i < 3; i++) subjects[i].problems = 1u << FOLD_PROD;
  literal_case(&l, 4, terms);
  l.c.problem = fold_rows_problem(FOLD_PROD);
  cr_assert_eq(tally_verify(&registry, "loses bits", false, &l.cases, &first).code, FOLD_OK);
  cr_assert_eq(tally_verify(&registry, NULL, false, &l.cases, &t).code, FOLD_OK);
  cr_expect(first.count[FOLD_BOUNDED][FOLD_HELD] == 1, "%s", first.last[FOLD_BOUNDED].reason);
  cr_expect(t.count[FOLD_BOUNDED][FOLD_HELD] == 2 && t.count[FOLD_BOUNDED][FOLD_REFUTED] == 1, "%zu held: %s",
            t.count[FOLD_BOUNDED][FOLD_HELD], t.last[FOLD_BOUNDED].reason);
  cr_assert_eq(tally_verify(&registry, "loses bits*", false, &l.cases, &t).code, FOLD_OK);
  cr_expect_eq(t.last[FOLD_BOUNDED].fraction, first.last[FOLD_BOUNDED].fraction);
}

/* The same where each row is right: the reason has its distance from the exact sum. */
Test(judge_evidence, of_rounded_sums_the_evidence_is_the_worst_rows) {
  static const enum fold_claim_id claims[] = {FOLD_FAITHFUL, FOLD_CORRECTLY_ROUNDED};
  static const float terms[] = {1, 0x1p-30f, 1, 0x1p-28f, 1, 0x1p-29f};
  for (int k = 0; k < 2; k++) {
    struct literal l;
    struct fold_subject subject = plant(1, NULL, FOLD_EXACT, FOLD_CLAIM(claims[k]));
    literal_case(&l, 6, terms);
    l.c.rows = 3;
    l.c.cols = 2;
    struct tally t = judge(&subject, &l.cases);
    const struct fold_finding *f = &t.last[claims[k]];
    cr_expect(f->verdict == FOLD_HELD && f->row == 1 && f->ulps == 0x1p-5, "row %zu, %a ulps: %s", f->row, f->ulps,
              f->reason);
    cr_expect_float_eq(f->backward, 0x1p-4 / (1 + 0x1p-28), 0x1p-54, "%a", f->backward);
  }
}

/* Its unit is that of the dtype that rounds most; a sum that cancels is measured against its terms, not against itself. */
Test(judge_evidence, the_error_of_a_sum_is_measured_against_its_terms) {
  static const struct {
    enum fold_op op;
    float terms[3], got;
    double backward;
  } rows[] = {
      {FOLD_SUM, {1, 0x1p-30f, -1}, 0, 0x1p-6 / (2 + 0x1p-30)},
      {FOLD_SUM, {1, 1, 2}, 4, 0},
      {FOLD_SUM, {0, 0, 0}, 0, 0},
      {FOLD_SUM, {0, 0, 0}, 0x1p-149f, 2},
      {FOLD_SUM, {0x1p-149f, 0x1p-149f, 0}, 0x1p-149f, 2},
      {FOLD_SUM, {0x1p-126f, 0x1p-149f, 0}, 0x1p-126f, 2 / (1 + 0x1p-23)},
      {FOLD_SUM, {0x1p-126f, 0x1p-126f, 0}, 0x1p-126f, 0x1p23},
      {FOLD_SUM, {1, 1, 1}, 4, 0x1p24 / 3},
      {FOLD_SUM, {1, 1, INFINITY}, INFINITY, NAN},
      {FOLD_PROD, {1, 1, 2}, 2, NAN},
      {FOLD_MAX, {1, 1, 2}, 2, NAN},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    static const enum fold_claim_id claims[] = {FOLD_BOUNDED, FOLD_FAITHFUL, FOLD_ULPS};
    for (size_t k = 0; k < sizeof claims / sizeof *claims; k++) {
      struct literal l;
      struct fold_subject subject = plant(rows[i].got, NULL, FOLD_PLAIN, FOLD_CLAIM(claims[k]));
      subject.most_ulps = 1e30;
      if (claims[k] == FOLD_BOUNDED && rows[i].op == FOLD_MAX) continue; /* it has no bound */
      literal_case(&l, 3, rows[i].terms);
      l.c.problem = fold_rows_problem(rows[i].op);
      const double got = judge(&subject, &l.cases).last[claims[k]].backward, want = rows[i].backward;
      cr_expect(isnan(want) ? isnan(got) : fabs(got - want) <= want * 0x1p-51, "row %zu, claim %zu: %a, not %a", i, k,
                got, want);
    }
  }
  static const struct {
    enum fold_dtype accumulator, result, unit;
  } units[] = {{FOLD_F32, FOLD_F32, FOLD_F32},   {FOLD_F64, FOLD_F32, FOLD_F32},   {FOLD_F32, FOLD_F64, FOLD_F32},
               {FOLD_F32, FOLD_BF16, FOLD_BF16}, {FOLD_F16, FOLD_BF16, FOLD_BF16}, {FOLD_F64, FOLD_F64, FOLD_F64}};
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    cr_expect_eq(
        fold_error_unit((struct fold_arithmetic){FOLD_PLAIN, units[i].accumulator, units[i].result, FOLD_FACTORS_KEPT}),
        units[i].unit, "%zu", i);
}

/* Of what is refuted the evidence is that row's: its distance, infinite where a finite sum is not, none where none can be. */
Test(judge_evidence, the_evidence_of_a_refutation_is_its_row) {
  static const struct {
    float terms[2], got;
    double ulps;
  } rows[] = {{{1, 0x1p-30f}, 1.5f, 0x1p22 - 0x1p-7}, {{1, 0x1p-30f}, -INFINITY, INFINITY}, {{INFINITY, 1}, 5, NAN}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct literal l;
    struct fold_subject subject = plant(rows[i].got, NULL, FOLD_PLAIN, FOLD_CLAIM(FOLD_BOUNDED));
    struct tally t = judge(&subject, literal_case(&l, 2, rows[i].terms));
    const struct fold_finding *f = &t.last[FOLD_BOUNDED];
    cr_expect(f->verdict == FOLD_REFUTED && f->row == 0 && f->compared, "row %zu: %s", i, f->reason);
    cr_expect(isnan(rows[i].ulps) ? isnan(f->ulps) : f->ulps == rows[i].ulps, "row %zu: %a ulps", i, f->ulps);
    cr_expect_eq(f->got, fold_f32_bits(rows[i].got));
  }
}

/* What a subject is given when one row is judged in a batch of five: infinities, NaN, itself twice, itself reversed. */
static struct {
  const struct literal *l;
  unsigned batches, wrong;
  bool fails;
  size_t odd; /* that row's result is 1, the others' 0 */
} batch = {.odd = 5};

static fold_status look_at_batch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  size_t n = call->cols;
  memset(call->out, 0, call->rows * fold_dtype_size(call->dtype));
  if (call->rows != 5) return fold_ok();
  batch.batches++;
  if (batch.odd < 5) fold_bits_store(call->dtype, call->out, batch.odd, fold_f32_bits(1));
  if (batch.fails) return fold_error(FOLD_ENVIRONMENT, "only one row at a time");
  for (size_t i = 0; i < 5 * n; i++) {
    const uint64_t got = fold_bits_load(call->dtype, call->in[0], i);
    if (i / n < 2)
      batch.wrong += fold_bits_class(call->dtype, got) != (i / n ? FOLD_NAN : FOLD_INFINITE);
    else
      batch.wrong += got != batch.l->bits[i / n < 4 ? i % n : n - 1 - i % n];
  }
  return fold_ok();
}

Test(judge_evidence, a_row_in_a_batch_stands_between_nan_and_its_own_reverse) {
  static const float terms[] = {1, 2, 3, 4, 5, 6, 7};
  struct literal l;
  struct fold_subject subject = plant(0, NULL, FOLD_PLAIN, FOLD_CLAIM(FOLD_BATCH_INVARIANT));
  subject.run = look_at_batch;
  batch.l = &l;
  for (size_t n = 1; n <= 7; n++)
    for (int d = 0; d < FOLD_E4M3; d++) {
      literal_case(&l, n, terms);
      l.c.dtype = (enum fold_dtype)d;
      for (size_t i = 0; i < n; i++) l.bits[i] = fold_bits_from_double(l.c.dtype, (double)terms[i]);
      batch.batches = batch.wrong = 0;
      struct tally t = judge(&subject, &l.cases);
      cr_expect_eq(verdict_of(&t, FOLD_BATCH_INVARIANT), FOLD_HELD, "%s", t.last[FOLD_BATCH_INVARIANT].reason);
      cr_expect(batch.batches > 0 && batch.wrong == 0, "%s, %zu terms: %u wrong in %u batches",
                fold_dtype_name(l.c.dtype), n, batch.wrong, batch.batches);
    }
  static const char *const seen[] = {NULL, NULL, "different bits as third of five rows",
                                     "different bits as fourth of five rows", NULL};
  for (batch.odd = 0; batch.odd < 5; batch.odd++) {
    struct tally t = judge(&subject, CASE(&l, 1, 2, 3));
    const struct fold_finding *f = &t.last[FOLD_BATCH_INVARIANT];
    cr_expect_eq(f->verdict, seen[batch.odd] ? FOLD_REFUTED : FOLD_HELD, "row %zu: %s", batch.odd, f->reason);
    if (!seen[batch.odd]) continue;
    cr_expect_str_eq(f->reason, seen[batch.odd]);
    cr_expect(f->got == fold_f32_bits(1) && f->want == 0 && f->row == 0);
  }
  batch.fails = true;
  struct tally t = judge(&subject, CASE(&l, 1, 2, 3));
  cr_expect_eq(verdict_of(&t, FOLD_BATCH_INVARIANT), FOLD_BROKEN);
  cr_expect(strstr(t.last[FOLD_BATCH_INVARIANT].reason, "only one row at a time"), "%s",
            t.last[FOLD_BATCH_INVARIANT].reason);
}

/* Where results of two runs differ, the evidence is the first row that does, whichever it is. */
Test(judge_evidence, the_first_row_that_differs_is_named_with_both_results) {
  enum { ROWS = 4 };
  static const float got[ROWS] = {1, 2, 3, 4};
  for (size_t row = 0; row < ROWS; row++) {
    struct fold_finding f = {.row = 99};
    float want[ROWS];
    for (size_t r = 0; r < ROWS; r++) want[r] = r < row ? got[r] : -got[r];
    cr_expect_not(fold_find_same(&f, FOLD_F32, got, want, ROWS, "different bits"));
    cr_expect(f.verdict == FOLD_REFUTED && f.compared && f.comparisons == ROWS, "%s", f.reason);
    cr_expect(f.row == row && f.got == fold_f32_bits(got[row]) && f.want == fold_f32_bits(-got[row]), "row %zu for %zu",
              f.row, row);
  }
  struct fold_finding f = {.row = 99};
  cr_expect(fold_find_same(&f, FOLD_F32, got, got, ROWS, "different bits") && f.row == 99 && !f.compared);
}

/* What an order gives is kept with the terms: by the same order another method gives different bits, and by another order the same one. */
Test(judge_evidence, each_subject_is_held_against_the_replay_of_its_own_order_and_method) {
  struct literal l;
  const float lost = 1, kept = 1 + 0x1p-23f;
  uint64_t claims = FOLD_CLAIM(FOLD_REPLAYS);
  struct fold_subject subjects[] = {
      plant(lost, "host/sequential", FOLD_PLAIN, claims), plant(kept, "host/sequential", FOLD_KAHAN, claims),
      plant(kept, "host/reverse", FOLD_PLAIN, claims), plant(lost, "host/sequential", FOLD_PLAIN, claims),
      plant(lost, "host/reverse", FOLD_PLAIN, claims)};
  struct fold_registry registry = {subjects, sizeof subjects / sizeof *subjects};
  struct tally t;
  CASE(&l, 1, 0x1p-24f, 0x1p-24f);
  cr_assert_eq(tally_verify(&registry, NULL, false, &l.cases, &t).code, FOLD_OK);
  cr_expect(t.count[FOLD_REPLAYS][FOLD_HELD] == 4 && t.count[FOLD_REPLAYS][FOLD_REFUTED] == 1, "%zu held",
            t.count[FOLD_REPLAYS][FOLD_HELD]);
}

Test(judge_evidence, a_verdict_is_read_by_its_name_alone) {
  for (int v = 0; v < FOLD_VERDICTS; v++)
    cr_expect_eq(fold_verdict_parse(fold_verdict_name((enum fold_verdict)v)), v, "verdict %d", v);
  cr_expect(fold_verdict_parse("") < 0 && fold_verdict_parse("hel") < 0 && fold_verdict_parse("Held") < 0);
}

/* Any NaN is NaN, whatever it carries. */
Test(judge_evidence, results_that_are_nan_are_the_same_results) {
  static const uint32_t got[] = {0x7fc00000, 0x3f800000}, want[] = {0xffc00001, 0x3f800000};
  struct fold_finding finding = fold_finding_open(2);
  cr_expect(fold_find_same(&finding, FOLD_F32, got, want, 2, "different bits"));
  cr_expect(finding.comparisons == 2 && !finding.compared && finding.verdict != FOLD_REFUTED, "%s", finding.reason);
}

/* Of numbers that are not small the smallest one would do as well. */
Test(judge_evidence, zeros_are_padded_by_zeros) {
  struct literal l;
  struct fold_subject subject = plant(0, NULL, FOLD_PLAIN, FOLD_CLAIM(FOLD_PADDING_INVARIANT));
  subject.run = add_rows;
  const struct tally t = judge(&subject, CASE(&l, 0, 0, 0));
  cr_expect_eq(verdict_of(&t, FOLD_PADDING_INVARIANT), FOLD_HELD, "%s", t.last[FOLD_PADDING_INVARIANT].reason);
}
