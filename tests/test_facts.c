/* test_facts.c: the facts about CUB and cuBLASLt explain what was seen of them, and nothing else. The files of tests/known have
 * each refutation from an H200; the inputs are made again here, so no GPU is needed.
 */
#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "compare/remake.h"
#include "run/known_defects.h"
#include "run/runner.h"

/* A result as it was seen, or another in its place, and the fact that the harness finds for it. */
struct seen {
  struct fold_cases cases;
  struct fold_remade remade;
  struct fold_subject subject;
  void *got;
  const struct fold_case *c;
};

static void open_seen(struct seen *s, const char *subject, const char *name, const json_t *results) {
  const struct fold_truth *truth;
  const unsigned by_tensor_cores = strncmp(subject, "cublas/", 7) == 0 ? 1u << FOLD_F16 | 1u << FOLD_BF16 : 0;
  *s = (struct seen){
      .subject = {
          .name = subject, .engine = FOLD_HOST, .method = FOLD_PLAIN, .truncated = by_tensor_cores, .peer = true}};
  cr_assert_eq(fold_cases_load(FOLD_FIXTURE_FOLDER, "all", name, &s->cases).code, FOLD_OK);
  cr_assert_eq(s->cases.n, 1, "%s: %zu cases", name, s->cases.n);
  s->c = &s->cases.at[0];
  cr_assert_eq(fold_remake(&s->remade, s->c).code, FOLD_OK);
  s->got = malloc(fold_case_results(s->c) * fold_dtype_size(s->c->dtype) + 1);
  cr_assert(s->got);
  /* Of many rows a record has the first: the others are taken to be right. */
  for (size_t row = 0; row < fold_case_results(s->c); row++) {
    const char *bits = json_string_value(json_array_get(results, row));
    cr_assert_eq(fold_truths_row(&s->remade.truths, row, &truth).code, FOLD_OK);
    fold_bits_store(s->c->dtype, s->got, row, bits ? strtoull(bits, NULL, 16) : truth->rounded[s->c->dtype]);
  }
}

static void close_seen(struct seen *s) {
  fold_remade_free(&s->remade);
  fold_cases_free(&s->cases);
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
      .subject = &s->subject, .c = s->c, .truths = &s->remade.truths, .got = s->got, .repeats = 3};
  fold_judge_claim(claim_named(claim), &trial, &finding);
  *verdict = finding.verdict;
  return fold_known(&trial, claim_named(claim), &finding);
}

static size_t each_seen(const char *file_name, void (*look)(struct seen *s, const char *claim, const char *name)) {
  size_t n = 0, room = 0;
  char *line = NULL;
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", SEEN_RECORDS, file_name);
  FILE *file = fopen(path, "r");
  cr_assert_not_null(file, "%s", path);
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
  const bool cublas = strncmp(s->subject.name, "cublas/", 7) == 0;
  cr_expect(fold_known_in(fact, cublas ? "cuBLAS 13.1.0" : "CCCL 3.6.0"));
  cr_expect(!fold_known_in(fact, cublas ? "cuBLAS 13.0.0" : "CCCL 3.0.1"), "seen in one version alone");
  cr_expect(!fold_known_in(fact, cublas ? "cuBLAS 13.1.1" : "CCCL 3.6.1"), "seen in one version alone");
}

Test(facts, what_was_seen_of_cccl_3_6_0_is_known_of_it) {
  cr_expect_eq(each_seen("cccl-3.6.0.jsonl", expect_known), 98);
}
Test(facts, what_was_seen_of_cublas_13_1_0_is_known_of_it) {
  cr_expect_eq(each_seen("cublas-13.1.0.jsonl", expect_known), 5);
  cr_expect_eq(each_seen("cublas-13.1.0-tails.jsonl", expect_known), 10);
}

/* The largest number, the infinity that the row has not, NaN where no term is infinite, a number of everyday size where the row's are
 * not: each is refuted, and new. */
static void expect_new(struct seen *s, const char *claim, const char *name) {
  enum fold_dtype dtype = s->c->dtype;
  struct fold_format f = fold_format_of(dtype);
  const struct fold_truth *truth;
  cr_assert_eq(fold_truths_row(&s->remade.truths, 0, &truth).code, FOLD_OK);
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

Test(facts, another_result_on_the_same_terms_is_new) { cr_expect_eq(each_seen("cccl-3.6.0.jsonl", expect_new), 98); }

/* A result two numbers from `bits` is refuted, and new; so is what was seen, of another subject. */
static void expect_new_beside(struct seen *s, const char *claim, const char *name, size_t row, uint64_t bits,
                              const char *other) {
  const enum fold_dtype dtype = s->c->dtype;
  const uint64_t seen = fold_bits_load(dtype, s->got, row);
  enum fold_verdict verdict;
  for (int apart = -2; apart <= 2; apart += 4) {
    fold_bits_store(dtype, s->got, row, bits + (uint64_t)apart);
    const struct fold_fact *fact = fact_of(s, claim, &verdict);
    cr_expect_eq(verdict, FOLD_REFUTED, "%s: %d numbers beside: %s", name, apart, fold_verdict_name(verdict));
    cr_expect_null(fact, "%s: %d numbers beside is taken to be known", name, apart);
  }
  fold_bits_store(dtype, s->got, row, seen);
  s->subject.name = other;
  cr_expect_null(fact_of(s, claim, &verdict), "%s: of %s", name, other);
  cr_expect_eq(verdict, FOLD_REFUTED);
}

/* Two roundings to f16 give a number beside the nearest one at most; a product without a bias is rounded once. */
static void expect_no_more_than_two_roundings(struct seen *s, const char *claim, const char *name) {
  const struct fold_truth *truth;
  cr_assert_eq(fold_truths_row(&s->remade.truths, 1, &truth).code, FOLD_OK);
  expect_new_beside(s, claim, name, 1, truth->rounded[FOLD_F16], "cublas/lt_gemm");
}

Test(facts, a_result_that_two_roundings_do_not_give_is_new) {
  cr_expect_eq(each_seen("cublas-13.1.0.jsonl", expect_no_more_than_two_roundings), 5);
}

/* Above a power of two numbers lie half as close below it, so that the next one is within one rounding. Without a workspace k is not split. */
static void expect_the_tail_alone(struct seen *s, const char *claim, const char *name) {
  expect_new_beside(s, claim, name, 0, fold_bits_load(s->c->dtype, s->got, 0), "cublas/lt_gemm_0");
}

Test(facts, a_sum_that_lacks_other_terms_than_its_tail_is_new) {
  cr_expect_eq(each_seen("cublas-13.1.0-tails.jsonl", expect_the_tail_alone), 10);
}
