/* test_judge.c: what becomes of a verdict that can't be found, of runs that fail, and of the input between judges. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "literal.h"
#include "mutants.h"
#include "tally.h"

/* An oracle that can't answer has not answered, however often it is asked. */
Test(judge, a_truth_that_failed_is_not_known) {
  struct literal l;
  struct fold_truths truths;
  const struct fold_truth *truth;
  float x = 1;
  CASE(&l, 1.0f);
  struct fold_problem unheard_of = *fold_problem(FOLD_ROWS_SUM);
  unheard_of.op = FOLD_OPS;
  l.c.problem = &unheard_of;
  cr_assert_eq(fold_truths_open(&truths, &l.c, &x).code, FOLD_OK);
  for (int again = 0; again < 2; again++)
    cr_expect_eq(fold_truths_row(&truths, 0, &truth).code, FOLD_BAD_INPUT, "%d", again);
  l.c.problem = fold_problem(FOLD_ROWS_SUM);
  cr_expect(fold_truths_row(&truths, 0, &truth).code == FOLD_OK && mpfr_cmp_si(truth->exact, 1) == 0);
  fold_truths_close(&truths);
}

/* What a fixture states of its one row's sum. */
Test(judge, a_sum_that_a_fixture_states_is_the_exact_one) {
  static const struct {
    float terms[2];
    char stated[24];
    bool is_right;
  } rows[] = {{{1, 2}, "3", true},
              {{1, 2}, "0x3", true},
              {{1, 2}, "4", false},
              {{1, 2}, "-3", false},
              {{1, 2}, "3 ", false},
              {{1, 2}, "", false},
              {{1, 2}, "nan", false},
              {{1, -1}, "0", true},
              {{1, -1}, "-0", false},
              {{-0.0f, -0.0f}, "-0", true},
              {{-0.0f, -0.0f}, "0", false},
              {{NAN, 1}, "nan", true},
              {{NAN, 1}, "1", false},
              {{INFINITY, 1}, "inf", true},
              {{INFINITY, 1}, "-inf", false},
              {{0.1f, 0}, "0.1", false},
              {{0.1f, 0}, "0x1.99999ap-4", true},
              {{1, 0x1p-149f}, "1", false}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct literal l;
    struct fold_truths truths;
    char stated[24];
    literal_case(&l, 2, rows[i].terms);
    l.c.expect = strcpy(stated, rows[i].stated);
    cr_assert_eq(fold_truths_open(&truths, &l.c, rows[i].terms).code, FOLD_OK);
    const fold_status status = fold_truths_check_expected(&truths);
    cr_expect_eq(status.code, rows[i].is_right ? FOLD_OK : FOLD_BAD_INPUT, "row %zu: %s", i, status.text);
    if (i == 2) cr_expect_str_eq(status.text, "test: expect_sum 4 of literal: the exact sum is 3");
    fold_truths_close(&truths);
  }
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
      {"no/such", NULL, FOLD_BOUNDED, FOLD_BROKEN, "its order no/such does not exist"},
      {"host/sequential", NULL, FOLD_REPLAYS, FOLD_HELD, ""},
      {NULL, NULL, FOLD_SAME_BITS_AS, FOLD_SKIPPED, "it names no reference"},
      {NULL, "no/such", FOLD_SAME_BITS_AS, FOLD_BROKEN, "its reference no/such does not exist"},
      {NULL, "broken/environment", FOLD_SAME_BITS_AS, FOLD_BROKEN,
       "broken/environment, whose bits it claims: the device fell off the bus"},
      {NULL, "host:planted", FOLD_SAME_BITS_AS, FOLD_HELD, ""},
      {NULL, "cuda:planted", FOLD_SAME_BITS_AS, FOLD_BROKEN, "its reference cuda:planted does not exist"},
      {NULL, "planted", FOLD_SAME_BITS_AS, FOLD_HELD, ""},
      {NULL, NULL, FOLD_FRESH_PROCESS, FOLD_SKIPPED, "no new process was started"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct fold_finding f = judge_bits_of(rows[i].order, rows[i].twin, rows[i].claim);
    cr_expect_eq(f.verdict, rows[i].verdict, "row %zu", i);
    cr_expect_str_eq(f.reason, rows[i].reason, "row %zu: %s", i, f.reason);
  }
}

/* Another engine's memory, here of the host too. */
static fold_status open_elsewhere(void *rig, enum fold_engine engine, struct fold_rig **found) {
  *found = rig;
  return rig && engine == FOLD_CUDA ? fold_ok() : fold_error(FOLD_UNSUPPORTED, "no device");
}

static void lay(struct fold_rig *rig, float first, float second) {
  cr_assert_eq(fold_rig_open_rows(rig, FOLD_HOST, FOLD_SUM, FOLD_F32, 2, 1).code, FOLD_OK);
  ((float *)fold_rig_input(rig))[0] = first;
  ((float *)fold_rig_input(rig))[1] = second;
  cr_assert_eq(fold_rig_load(rig).code, FOLD_OK);
}

/* Its bits are those of its own engine's input. */
Test(judge, a_twin_of_another_engine_runs_there) {
  struct fold_subject subjects[2] = {*fold_subject_find("host/sequential", FOLD_HOST),
                                     *fold_subject_find("host/sequential", FOLD_HOST)};
  subjects[0].twin = "cuda:there";
  subjects[1].name = "there";
  subjects[1].engine = FOLD_CUDA;
  const struct fold_registry registry = {subjects, 2};
  const struct fold_case c = {
      .name = "two", .dtype = FOLD_F32, .problem = fold_rows_problem(FOLD_SUM), .rows = 1, .cols = 2};
  struct fold_rig here, there;
  float got[2] = {3}, other[2];
  lay(&here, 1, 2);
  struct fold_trial trial = {.registry = &registry,
                             .subject = subjects,
                             .c = &c,
                             .rig = &here,
                             .elsewhere = open_elsewhere,
                             .got = got,
                             .other = other};
  cr_assert_eq(fold_rig_hash(&here, &trial.input_hash).code, FOLD_OK);
  static const struct {
    float second;
    enum fold_verdict verdict;
    const char *reason;
  } rows[] = {{2, FOLD_HELD, ""}, {5, FOLD_REFUTED, "different bits than there on cuda"}};
  for (size_t i = 0; i < 2; i++) {
    struct fold_finding finding = fold_finding_open(1);
    lay(&there, 1, rows[i].second);
    trial.whose = &there;
    fold_judge_same_bits_as(&trial, &finding);
    cr_expect(finding.verdict == rows[i].verdict && strcmp(finding.reason, rows[i].reason) == 0, "%s", finding.reason);
    fold_rig_close(&there);
  }
  struct fold_finding finding = fold_finding_open(1);
  trial.whose = NULL;
  fold_judge_same_bits_as(&trial, &finding);
  cr_expect_eq(finding.verdict, FOLD_SKIPPED);
  cr_expect_str_eq(finding.reason, "there on cuda, whose bits it claims: no device");
  fold_log_close(&trial.log);
  fold_rig_close(&here);
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
static void says_nothing_of(const struct fold_evidence *e, struct fold_finding *finding) { (void)e, (void)finding; }

Test(judge, a_judge_that_says_nothing_is_broken) {
  const struct fold_claim silent[] = {{FOLD_RUN_TO_RUN, "silent", "nothing", .runs = says_nothing},
                                      {FOLD_BOUNDED, "silent", "nothing", .results = says_nothing_of}};
  for (size_t i = 0; i < 2; i++) {
    struct fold_finding finding;
    struct fold_case c = {.problem = fold_rows_problem(FOLD_SUM), .rows = 1, .cols = 3};
    struct fold_truths truths = {.c = &c};
    const struct fold_subject nobody = {.name = "nobody"};
    struct fold_trial trial = {.subject = &nobody, .c = &c, .truths = &truths};
    fold_judge_claim(&silent[i], &trial, &finding);
    cr_expect_eq(finding.verdict, FOLD_BROKEN);
    cr_expect_str_eq(finding.reason, "no finding");
  }
}

static void refutes_the_same(struct fold_trial *trial, struct fold_finding *finding) {
  (void)trial;
  finding->compared = true;
  finding->got = finding->want = 0x3f800000;
  fold_find_refuted(finding, "of the same bits");
}
static void refutes_the_same_of(const struct fold_evidence *e, struct fold_finding *finding) {
  (void)e;
  refutes_the_same(NULL, finding);
}

Test(judge, no_refutation_shows_two_sides_that_are_the_same) {
  const struct fold_claim claims[] = {{FOLD_RUN_TO_RUN, "equal", "nothing", .runs = refutes_the_same},
                                      {FOLD_FAITHFUL, "equal", "nothing", .results = refutes_the_same_of},
                                      {FOLD_BOUNDED, "equal", "nothing", .results = refutes_the_same_of}};
  for (size_t i = 0; i < 3; i++) {
    struct fold_finding finding;
    struct fold_case c = {.rows = 1, .cols = 3, .dtype = FOLD_F32, .problem = fold_rows_problem(FOLD_SUM)};
    struct fold_truths truths = {.c = &c};
    const struct fold_subject nobody = {.name = "nobody"};
    struct fold_trial trial = {.subject = &nobody, .c = &c, .truths = &truths};
    fold_judge_claim(&claims[i], &trial, &finding);
    cr_expect_not(finding.compared);
    cr_expect_eq(finding.verdict, i == 2 ? FOLD_REFUTED : FOLD_BROKEN, "claim %zu: %s", i, finding.reason);
    cr_expect_eq(strstr(finding.reason, "foldproof is at fault") != NULL, i < 2, "claim %zu: %s", i, finding.reason);
  }
}

static void looks_for_sides(struct fold_trial *trial, struct fold_finding *finding) {
  cr_expect_eq(trial->sides.n, 0);
  cr_expect_not(trial->has_refuting);
  fold_find_held(finding);
}

Test(judge, a_claim_is_judged_without_what_the_one_before_found) {
  const struct fold_claim claim = {FOLD_RUN_TO_RUN, "alone", "nothing", .runs = looks_for_sides};
  struct fold_finding finding;
  struct fold_case c = {.problem = fold_rows_problem(FOLD_SUM), .rows = 1, .cols = 3};
  const struct fold_subject nobody = {.name = "nobody"};
  struct fold_trial trial = {.subject = &nobody, .c = &c, .has_refuting = true, .sides.n = 3};
  fold_judge_claim(&claim, &trial, &finding);
}

static void says_held(struct fold_trial *trial, struct fold_finding *finding) {
  (void)trial;
  fold_find_held(finding);
}

Test(judge, a_judge_that_holds_and_compared_nothing_is_not_green) {
  struct fold_claim claim = {FOLD_BOUNDED, "idle", "nothing", .runs = says_held};
  struct fold_finding finding;
  struct fold_case c = {.problem = fold_rows_problem(FOLD_SUM), .rows = 0, .cols = 3};
  const struct fold_subject nobody = {.name = "nobody"};
  struct fold_trial trial = {.subject = &nobody, .c = &c};
  fold_judge_claim(&claim, &trial, &finding);
  cr_expect_eq(finding.verdict, FOLD_SKIPPED);
  cr_expect_str_eq(finding.reason, FOLD_NO_RESULTS);
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
      struct fold_case c = {
          .name = "nothing", .file = "test", .problem = fold_rows_problem((enum fold_op)op), .dtype = FOLD_F32};
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
  struct fold_rig rig, batch = {0};
  struct fold_truths truths;
  uint64_t got[64], second[64], other[64], now, n_bytes = c->rows * c->cols;
  size_t n;
  const struct fold_claim *claims = fold_claims(&n);
  cr_assert_eq(fold_rig_open_rows(&rig, FOLD_HOST, FOLD_SUM, c->dtype, n_bytes, c->rows).code, FOLD_OK);
  cr_assert_eq(fold_case_fill(c, 0, fold_rig_input(&rig), 1).code, FOLD_OK);
  cr_assert_eq(fold_rig_load(&rig).code, FOLD_OK);
  cr_assert_eq(fold_truths_open(&truths, c, fold_rig_input(&rig)).code, FOLD_OK);
  struct fold_trial trial = {.registry = registry,
                             .subject = subject,
                             .c = c,
                             .rig = &rig,
                             .batch = &batch,
                             .truths = &truths,
                             .repeats = 2,
                             .got = got,
                             .second = second,
                             .other = other};
  struct fold_request request = {.rows = c->rows, .cols = c->cols, .poison = 0xa5};
  cr_assert_eq(fold_rig_hash(&rig, &trial.input_hash).code, FOLD_OK);
  trial.input_hash_after = trial.input_hash;
  cr_assert_eq(fold_rig_run(&rig, subject, &request, got, &trial.traces).code, FOLD_OK);
  for (size_t k = 0; k < n; k++) {
    struct fold_finding finding;
    fold_judge_claim(&claims[k], &trial, &finding);
    cr_expect_neq(finding.verdict, FOLD_BROKEN, "%s: %s", claims[k].name, finding.reason);
    cr_expect_eq(fold_rig_hash(&rig, &now).code, FOLD_OK);
    cr_expect_eq(now, trial.input_hash, "%s left another input behind: %s", claims[k].name, c->name);
    cr_expect_eq(rig.in[0].shift, 0, "%s left the input elsewhere: %s", claims[k].name, c->name);
  }
  fold_log_close(&trial.log);
  fold_truths_close(&truths);
  fold_rig_close(&batch);
  fold_rig_close(&rig);
}

Test(judge, every_judge_leaves_the_input_as_it_found_it) {
  struct fold_registry registry;
  registry.subjects = fold_subjects(&registry.n);
  static const size_t shapes[][2] = {{1, 1}, {1, 2}, {1, 3}, {1, 6}, {1, 33}, {5, 7}, {17, 257}, {3, 0}, {40, 8}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    for (int d = 0; d < FOLD_FLOATS; d++) {
      struct fold_case c = {.name = "normal",
                            .file = "test",
                            .dtype = (enum fold_dtype)d,
                            .problem = fold_rows_problem(FOLD_SUM),
                            .rows = shapes[i][0],
                            .cols = shapes[i][1]};
      c.source = (struct fold_source){fold_generator_find("normal"), c.dtype, 7, c.cols, 0};
      expect_input_kept(&registry, fold_subject_find("host/sequential", FOLD_HOST), &c);
      expect_input_kept(&registry, fold_subject_find("rows/par_16_determ", FOLD_HOST), &c);
    }
}

static struct fold_subject mutant(const char *name) {
  size_t n;
  const struct fold_mutant *all = fold_mutants(&n);
  while (n > 0 && strcmp(all[n - 1].subject.name, name) != 0) n--;
  cr_assert(n > 0, "no %s", name);
  return all[n - 1].subject;
}

/* The runner lays the input anew behind a subject that changed it, whatever claims were asked for. */
Test(judge, who_comes_after_a_subject_that_spoils_its_input_sees_the_right_one) {
  struct fold_subject subjects[3] = {mutant("mutant/input_swapped"), mutant("mutant/in_zone"),
                                     *fold_subject_find("host/sequential", FOLD_HOST)};
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

Test(judge, a_row_that_is_too_long_for_its_subject_is_skipped_with_the_reason) {
  struct fold_subject subjects[2] = {*fold_subject_find("host/sequential", FOLD_HOST),
                                     *fold_subject_find("host/sequential", FOLD_HOST)};
  subjects[0].name = "as long as it may be";
  subjects[0].longest = 4;
  subjects[1].name = "too long";
  subjects[1].longest = 3;
  struct fold_registry registry = {subjects, 2};
  struct literal l;
  struct fold_selection selection = {.claims = "replays", .engine = -1, .repeats = 1};
  struct tally t = {0};
  struct fold_sink sink = {.judgement = tally_take, .context = &t};
  volatile int stop = 0;
  cr_expect_eq(fold_verify(&registry, &selection, CASE(&l, 1, 2, 3, 4), NULL, &sink, &stop).code, FOLD_OK);
  cr_expect_eq(t.count[FOLD_REPLAYS][FOLD_HELD], 1);
  cr_expect_eq(t.count[FOLD_REPLAYS][FOLD_SKIPPED], 1);
  cr_expect_str_eq(t.last[FOLD_REPLAYS].reason, "a slow subject, judged on rows of up to 3 terms");
}
