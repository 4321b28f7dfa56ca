/* test_facts.c: the facts about CUB explain what was seen of it, and nothing else. tests/known/cccl-3.6.0.jsonl has
 * each refutation from an H200; the inputs are made again here, so no GPU is needed.
 */
#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "run/known_defects.h"
#include "run/runner.h"

/* A result as it was seen, or another in its place, and the fact that the harness finds for it. */
struct seen {
  struct fold_cases cases;
  struct fold_rig rig;
  struct fold_truths truths;
  struct fold_subject subject;
  void *input, *got;
  const struct fold_case *c;
};

static void open_seen(struct seen *s, const char *subject, const char *name, const json_t *results) {
  const struct fold_truth *truth;
  *s = (struct seen){.subject = {.name = subject, .engine = FOLD_HOST, .method = FOLD_PLAIN, .peer = true}};
  cr_assert_eq(fold_cases_load(FOLD_FIXTURE_FOLDER, "all", name, &s->cases).code, FOLD_OK);
  cr_assert_eq(s->cases.n, 1, "%s: %zu cases", name, s->cases.n);
  s->c = &s->cases.at[0];
  size_t size = fold_dtype_size(s->c->dtype), n = s->c->rows * s->c->cols;
  s->input = malloc(n * size + 1);
  s->got = malloc(s->c->rows * size + 1);
  cr_assert(s->input && s->got);
  cr_assert_eq(fold_rig_open_rows(&s->rig, FOLD_HOST, FOLD_SUM, s->c->dtype, n, s->c->rows).code, FOLD_OK);
  cr_assert_eq(fold_case_fill(s->c, 0, s->input, 1).code, FOLD_OK);
  memcpy(fold_rig_input(&s->rig), s->input, n * size);
  cr_assert_eq(fold_truths_open(&s->truths, s->c, s->input).code, FOLD_OK);
  /* Of many rows a record has the first: the others are taken to be right. */
  for (size_t row = 0; row < s->c->rows; row++) {
    const char *bits = json_string_value(json_array_get(results, row));
    cr_assert_eq(fold_truths_row(&s->truths, row, &truth).code, FOLD_OK);
    fold_bits_store(s->c->dtype, s->got, row, bits ? strtoull(bits, NULL, 16) : truth->rounded[s->c->dtype]);
  }
}

static void close_seen(struct seen *s) {
  fold_truths_close(&s->truths);
  fold_rig_close(&s->rig);
  fold_cases_free(&s->cases);
  free(s->input);
  free(s->got);
}

static const struct fold_claim *claim_named(const char *name) {
  size_t n;
  const struct fold_claim *claims = fold_claims(&n);
  for (size_t i = 0; i < n; i++)
    if (strcmp(claims[i].name, name) == 0) return &claims[i];
  cr_assert_fail("no claim %s", name);
  return NULL;
}

/* The verdict of the claim's judge on these results, and the fact that explains it. */
static const struct fold_fact *fact_of(struct seen *s, const char *claim, enum fold_verdict *verdict) {
  struct fold_finding finding;
  struct fold_trial trial = {
      .subject = &s->subject, .c = s->c, .rig = &s->rig, .truths = &s->truths, .got = s->got, .repeats = 3};
  fold_judge_claim(claim_named(claim), &trial, &finding);
  *verdict = finding.verdict;
  return fold_known(&trial, claim_named(claim), &finding);
}

static size_t each_seen(void (*look)(struct seen *s, const char *claim, const char *name)) {
  size_t n = 0, room = 0;
  char *line = NULL;
  FILE *file = fopen(SEEN_RECORDS, "r");
  cr_assert_not_null(file, SEEN_RECORDS);
  for (; getline(&line, &room, file) > 0; n++) {
    json_t *record = json_loads(line, 0, NULL);
    struct seen s;
    const char *name = json_string_value(json_object_get(record, "case"));
    cr_assert(record && name);
    open_seen(&s, json_string_value(json_object_get(record, "subject")), name, json_object_get(record, "results"));
    look(&s, json_string_value(json_object_get(record, "claim")), name);
    close_seen(&s);
    json_decref(record);
  }
  free(line);
  fclose(file);
  return n;
}

static void expect_known(struct seen *s, const char *claim, const char *name) {
  enum fold_verdict verdict;
  const struct fold_fact *fact = fact_of(s, claim, &verdict);
  cr_expect_eq(verdict, FOLD_REFUTED, "%s of %s: %s", claim, name, fold_verdict_name(verdict));
  cr_expect_not_null(fact, "%s of %s on %s is not known", claim, s->subject.name, name);
  if (!fact) return;
  cr_expect(fold_known_in(fact, "CCCL 3.6.0"));
  cr_expect(!fold_known_in(fact, "CCCL 3.0.1") && !fold_known_in(fact, "CCCL 3.6.1"), "seen in 3.6.0 alone");
}

Test(facts, what_was_seen_of_cccl_3_6_0_is_known_of_it) { cr_expect_eq(each_seen(expect_known), 98); }

/* The largest number, the infinity that the row has not, NaN where no term is infinite, a number of everyday size where the row's are
 * not: each is refuted, and new. */
static void expect_new(struct seen *s, const char *claim, const char *name) {
  enum fold_dtype dtype = s->c->dtype;
  struct fold_format f = fold_format_of(dtype);
  const struct fold_truth *truth;
  cr_assert_eq(fold_truths_row(&s->truths, 0, &truth).code, FOLD_OK);
  uint64_t exact = truth->rounded[dtype], seen = fold_bits_load(dtype, s->got, 0);
  bool infinite = fold_bits_class(dtype, exact) == FOLD_INFINITE;
  bool large = !infinite && fabs(fold_bits_to_double(dtype, exact)) > 1e200;
  const uint64_t others[] = {f.exponent - 1, f.exponent | (exact & f.sign ? 0 : f.sign),
                             fold_bits_from_double(dtype, infinite ? 1 : NAN),
                             fold_bits_from_double(dtype, large ? -1e305 : 1e-3)};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    enum fold_verdict verdict;
    fold_bits_store(dtype, s->got, 0, others[i]);
    const struct fold_fact *fact = fact_of(s, claim, &verdict);
    cr_expect_eq(verdict, FOLD_REFUTED, "%s: %#llx: %s", name, (unsigned long long)others[i],
                 fold_verdict_name(verdict));
    cr_expect_null(fact, "%s: %#llx for %#llx is taken to be known", name, (unsigned long long)others[i],
                   (unsigned long long)exact);
  }
  fold_bits_store(dtype, s->got, 0, seen);
  /* Another subject, another claim and another operation are not what was seen. */
  enum fold_verdict verdict;
  s->subject.name = "cub/reduce";
  cr_expect_null(fact_of(s, claim, &verdict), "%s: of another subject", name);
  cr_expect_null(fact_of(s, "correctly_rounded", &verdict), "%s: of another claim", name);
}

Test(facts, another_result_on_the_same_terms_is_new) { cr_expect_eq(each_seen(expect_new), 98); }
