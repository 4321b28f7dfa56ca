/* test_judge_table.c: which verdicts are counted: those of promises, not of probes; and of peers only refutations that
 * are no known defects. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "literal.h"
#include "records/table.h"

Test(judge_table, the_hash_of_results_takes_all_nans_for_one_and_no_two_zeros) {
  uint32_t a[] = {0x7fc00000, 0}, b[] = {0xffc12345, 0}, c[] = {0x7fc00000, 0x80000000}, d[] = {0, 0x7fc00000};
  uint64_t hash = fold_results_hash(FOLD_F32, a, 2);
  cr_expect_eq(fold_results_hash(FOLD_F32, b, 2), hash);
  cr_expect_neq(fold_results_hash(FOLD_F32, c, 2), hash);
  cr_expect_neq(fold_results_hash(FOLD_F32, d, 2), hash);
  cr_expect_neq(fold_results_hash(FOLD_F32, a, 1), hash);
}

/* Whatever lies behind the results; each of them counts. */
Test(judge_table, the_hash_of_results_is_of_them_alone) {
  static const size_t rows[] = {1, 63, 64, 65, 127, 128, 129, 130, 255, 256, 257, 300, 511, 513};
  static unsigned char results[8 * 700], other[sizeof results];
  for (size_t i = 0; i < sizeof results; i++) results[i] = (unsigned char)(i * 37 >> 3);
  for (int d = 0; d < FOLD_FLOATS; d++)
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
      const size_t nbytes = rows[i] * fold_dtype_size((enum fold_dtype)d);
      const uint64_t hash = fold_results_hash((enum fold_dtype)d, results, rows[i]);
      memcpy(other, results, sizeof other);
      memset(other + nbytes, 0x3c, sizeof other - nbytes);
      cr_expect_eq(fold_results_hash((enum fold_dtype)d, other, rows[i]), hash, "dtype %d, %zu rows", d, rows[i]);
      other[nbytes - (fold_dtype_size((enum fold_dtype)d) > 1 ? 2 : 1)] ^= 1;
      cr_expect_neq(fold_results_hash((enum fold_dtype)d, other, rows[i]), hash, "dtype %d, %zu rows", d, rows[i]);
    }
}

/* Each comes out once, and after all that its row names; what is judged over all runs comes after whatever may make one. */
Test(judge_table, claims_are_judged_in_the_order_that_their_rows_ask_for) {
  const uint64_t all = FOLD_CLAIM(FOLD_CLAIMS) - 1;
  static const enum fold_claim_id over_runs[] = {FOLD_STAYS_IN_BOUNDS, FOLD_LEAVES_NO_TRACE, FOLD_RANK_AGREEMENT,
                                                 FOLD_KEEPS_INPUT};
  const struct fold_claim *claim;
  uint64_t left = all, over = 0;
  for (size_t i = 0; i < sizeof over_runs / sizeof *over_runs; i++) over |= FOLD_CLAIM(over_runs[i]);
  for (size_t turn = 0; (claim = fold_claims_next(left)); turn++) {
    cr_assert(left & FOLD_CLAIM(claim->id), "%s comes twice", claim->name);
    cr_expect(!(over & FOLD_CLAIM(claim->id)) || !(left & ~over), "%s: not after all runs", claim->name);
    left &= ~FOLD_CLAIM(claim->id);
  }
  cr_expect_eq(left, 0, "0x%llx are never judged", (unsigned long long)left);
  cr_expect_eq(fold_claims_next(FOLD_CLAIM(FOLD_KEEPS_INPUT) | FOLD_CLAIM(FOLD_WRITES_OUTPUT))->id, FOLD_WRITES_OUTPUT);
  cr_expect_eq(fold_claims_next(FOLD_CLAIM(FOLD_KEEPS_INPUT))->id, FOLD_KEEPS_INPUT, "alone it waits for no other claim");
}

static void add_of(struct fold_table *table, enum fold_dtype dtype, enum fold_claim_id claim, bool promised,
                   enum fold_verdict verdict, double backward) {
  size_t n;
  const struct fold_case c = {.name = "a case", .dtype = dtype, .problem = fold_rows_problem(FOLD_SUM)};
  struct fold_judgement j = {
      .subject = table->registry->subjects, .c = &c, .claim = &fold_claims(&n)[claim], .promised = promised};
  j.finding =
      (struct fold_finding){.verdict = verdict, .ulps = 1e15, .backward = backward, .fraction = 1, .reason = "why"};
  fold_table_add(table, &j);
}
static void add(struct fold_table *table, enum fold_claim_id claim, bool promised, enum fold_verdict verdict,
                double backward) {
  add_of(table, FOLD_F32, claim, promised, verdict, backward);
}

static char *print_table(const struct fold_table *table) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  fold_table_print(table, false, false, out);
  fclose(out);
  return text;
}

/* The worst over all dtypes, with the one that has it; of a sum of bf16 in f32 it is the result's. */
Test(judge_table, the_worst_error_stands_with_its_dtype) {
  struct fold_subject subject = plant(0, NULL, FOLD_PLAIN, 0);
  struct fold_registry registry = {&subject, 1};
  struct fold_table table;
  static const struct {
    enum fold_dtype dtype;
    double backward;
    const char *prints;
  } rows[] = {
      {FOLD_F64, NAN, "      -\n"},      {FOLD_F64, 0, "     0 f64\n"},     {FOLD_BF16, 0.9754, " 0.975 bf16\n"},
      {FOLD_F32, 0.5, " 0.975 bf16\n"},  {FOLD_F32, 1.82, " 1.82 f32\n"},   {FOLD_F64, NAN, " 1.82 f32\n"},
      {FOLD_E5M2, 123.4, " 123 e5m2\n"}, {FOLD_F16, 1e7, " 1.0e+07 f16\n"}, {FOLD_F32, INFINITY, " inf f32\n"}};
  cr_assert_eq(fold_table_open(&table, &registry).code, FOLD_OK);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    add_of(&table, rows[i].dtype, FOLD_BOUNDED, true, FOLD_HELD, rows[i].backward);
    char *text = print_table(&table);
    cr_expect(strstr(text, rows[i].prints), "row %zu: %s", i, text);
    cr_expect_eq(strstr(text, "\nworst error: ") != NULL, i > 0, "row %zu: %s", i, text);
    free(text);
  }
  fold_table_close(&table);
}

Test(judge_table, the_table_counts_promises_and_not_probes) {
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
  cr_expect_eq(table.promised[FOLD_BOUNDED].backward, 4, "the worst");
  FILE *out = open_memstream(&text, &size);
  fold_table_print(&table, false, false, out);
  fold_table_close_line(&table, false, "; and more", "", out);
  fclose(out);
  cr_expect(strstr(text, "\n5 held, 3 refuted, 1 skipped; and more\n") != NULL, "%s", text);
  cr_expect(strstr(text, "1 broken") != NULL, "%s", text);
  cr_expect(strstr(text, "not claimed, not counted") != NULL, "%s", text);
  cr_expect(strchr(text, '\033') == NULL);
  free(text);
  fold_table_close(&table);
}

Test(judge_table, what_refutes_a_peer_counts_unless_it_is_known) {
  struct fold_subject subjects[] = {plant(0, NULL, FOLD_PLAIN, 0), plant(0, NULL, FOLD_PLAIN, 0)};
  subjects[0].peer = true;
  struct fold_registry registry = {subjects, 2};
  struct fold_table table;
  size_t total[FOLD_VERDICTS], known, n;
  cr_assert_eq(fold_table_open(&table, &registry).code, FOLD_OK);
  for (int i = 0; i < 2; i++) add(&table, FOLD_RUN_TO_RUN, true, FOLD_REFUTED, NAN);
  add(&table, FOLD_RUN_TO_RUN, true, FOLD_BROKEN, NAN);
  fold_table_total(&table, false, total, &known);
  cr_expect(known == 0 && total[FOLD_REFUTED] == 2 && total[FOLD_BROKEN] == 1, "whichever subject made it");
  struct fold_case c = {.problem = fold_rows_problem(FOLD_SUM), .name = "a case"};
  struct fold_judgement j = {.subject = subjects,
                             .c = &c,
                             .claim = &fold_claims(&n)[FOLD_RUN_TO_RUN],
                             .promised = true,
                             .finding = {.verdict = FOLD_REFUTED, .ulps = NAN, .backward = NAN, .fraction = NAN},
                             .fact = fold_facts(&n),
                             .known = true};
  fold_table_add(&table, &j);
  fold_table_total(&table, false, total, &known);
  cr_expect(known == 1 && total[FOLD_REFUTED] == 2 && table.tally[0].n == 1);
  fold_table_total(&table, true, total, &known);
  cr_expect(known == 0 && total[FOLD_REFUTED] == 3);
  fold_table_close(&table);
}

static void add_telling(struct fold_table *table, size_t subject, enum fold_claim_id claim, enum fold_telling telling) {
  size_t n;
  struct fold_judgement j = {
      .subject = &table->registry->subjects[subject],
      .subject_index = subject,
      .claim = &fold_claims(&n)[claim],
      .promised = true,
      .finding = {.verdict = FOLD_HELD, .ulps = NAN, .backward = NAN, .fraction = NAN, .telling = telling}};
  fold_table_add(table, &j);
}

static char *close_line(const struct fold_table *table, bool strict) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  fold_table_print(table, strict, false, out);
  fold_table_close_line(table, strict, "", "", out);
  fclose(out);
  return text;
}

Test(judge_table, a_promise_that_no_input_could_tell_is_named) {
  struct fold_subject subjects[13];
  struct fold_registry registry = {subjects, 13};
  struct fold_table table;
  for (size_t i = 0; i < 13; i++) subjects[i] = plant(0, NULL, FOLD_PLAIN, 0);
  cr_assert_eq(fold_table_open(&table, &registry).code, FOLD_OK);
  for (int i = 0; i < 3; i++) add_telling(&table, 0, FOLD_RUN_TO_RUN, FOLD_IDLE);
  add_telling(&table, 0, FOLD_RUN_TO_RUN, FOLD_TELLING);
  add_telling(&table, 0, FOLD_BOUNDED, FOLD_TELLING_UNKNOWN);
  cr_expect_eq(fold_table_untold(&table), 0, "one that tells is enough");
  char *text = close_line(&table, true);
  cr_expect(strstr(text, "  run_to_run                   4       0       0       3              -"), "%s", text);
  cr_expect(strstr(text, "  bounded                      1       0       0       -              -"), "%s", text);
  cr_expect(strstr(text, "insensitive inputs only") == NULL, "%s", text);
  free(text);
  for (size_t i = 1; i < 13; i++) add_telling(&table, i, FOLD_REPLAYS, FOLD_IDLE);
  add_telling(&table, 1, FOLD_LAUNCH_INVARIANT, FOLD_IDLE);
  cr_expect_eq(fold_table_untold(&table), 13);
  text = close_line(&table, false);
  cr_expect(strstr(text, "       1              -\n    order-insensitive inputs only\n"), "%s", text);
  cr_expect(strstr(text, "\n13 claims about order held on order-insensitive inputs only: ") &&
                strstr(text, " (--strict refuses that)\n"),
            "%s", text);
  cr_expect(strstr(text, "\n  and 9 more subjects\n"), "%s", text);
  free(text);
  text = close_line(&table, true);
  cr_expect(
      strstr(text,
             ", which --strict refuses\n  planted on host: replays launch_invariant\n  planted on host: replays\n"),
      "%s", text);
  cr_expect(strstr(text, "\n  and 2 more subjects\n18 held, 0 refuted, 0 skipped\n"), "%s", text);
  free(text);
  fold_table_close(&table);
}

/* What was refuted was told; what was not asked for, as of older records, is neither. */
Test(judge_table, a_refuted_promise_is_not_one_that_nothing_could_tell) {
  struct fold_subject subject = plant(0, NULL, FOLD_PLAIN, 0);
  struct fold_registry registry = {&subject, 1};
  struct fold_table table;
  cr_assert_eq(fold_table_open(&table, &registry).code, FOLD_OK);
  add_telling(&table, 0, FOLD_REPLAYS, FOLD_TELLING_UNKNOWN);
  cr_expect_eq(fold_table_untold(&table), 0);
  add_telling(&table, 0, FOLD_RUN_TO_RUN, FOLD_IDLE);
  cr_expect_eq(fold_table_untold(&table), 1);
  add(&table, FOLD_RUN_TO_RUN, true, FOLD_REFUTED, NAN);
  cr_expect_eq(fold_table_untold(&table), 0);
  add(&table, FOLD_FRESH_PROCESS, true, FOLD_SKIPPED, NAN);
  cr_expect_eq(fold_table_untold(&table), 0);
  fold_table_close(&table);
}
