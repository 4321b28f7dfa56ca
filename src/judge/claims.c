/* claims.c: the table of claims, and what all judges share. */
#include "judge.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "bits.h"

/* What a subject does to memory and leaves behind, and whether ranks agree, is judged last, over all the runs that the
 * other judges made. */
static const struct fold_claim claims[FOLD_CLAIMS] = {
    {FOLD_BOUNDED, "bounded", "an error above the bound of the order's own height", fold_judge_bounded},
    {FOLD_COMPENSATED, "compensated", "an error above the compensated method's bound", fold_judge_compensated},
    {FOLD_FAITHFUL, "faithful", "not the exact result, nor one of its two neighbours", fold_judge_faithful},
    {FOLD_CORRECTLY_ROUNDED, "correctly_rounded", "not the number nearest to the exact result",
     fold_judge_correctly_rounded},
    {FOLD_REPLAYS, "replays", "bits other than the replay of the declared order", fold_judge_replays},
    {FOLD_SAME_BITS_AS, "same_bits_as", "bits other than the twin's", fold_judge_same_bits_as},
    {FOLD_RUN_TO_RUN, "run_to_run", "other bits in a repeat", fold_judge_run_to_run},
    {FOLD_FRESH_PROCESS, "fresh_process",
     "other bits in a new process, with another environment and other freed memory", fold_judge_fresh_process},
    {FOLD_LAUNCH_INVARIANT, "launch_invariant", "other bits for another grid, block or number of threads",
     fold_judge_launch_invariant},
    {FOLD_ALIGNMENT_INVARIANT, "alignment_invariant", "other bits at another address, or for a sub-range and its copy",
     fold_judge_alignment_invariant},
    {FOLD_BATCH_INVARIANT, "batch_invariant", "a row's bits depend on the number of rows, or on its place",
     fold_judge_batch_invariant},
    {FOLD_SPLIT_INVARIANT, "split_invariant", "other bits from aligned shards, each reduced alone and joined",
     fold_judge_split_invariant},
    {FOLD_PERMUTATION_INVARIANT, "permutation_invariant", "other bits for the same terms in another order",
     fold_judge_permutation_invariant},
    {FOLD_MESSAGE_INVARIANT, "message_invariant", "other bits for the same elements in a shorter or a fused message",
     fold_judge_message_invariant},
    {FOLD_WORLD_INVARIANT, "world_invariant", "other bits with another number of ranks", fold_judge_world_invariant},
    {FOLD_WRITES_OUTPUT, "writes_output", "poison left in the output, or taken from it", fold_judge_writes_output},
    {FOLD_STAYS_IN_BOUNDS, "stays_in_bounds",
     "a guard around output, input or scratch overwritten; on hosts, a page beyond them touched",
     fold_judge_stays_in_bounds},
    {FOLD_LEAVES_NO_TRACE, "leaves_no_trace",
     "another rounding mode, flush to zero or OpenMP setting afterwards; a scratch's head not zero again",
     fold_judge_leaves_no_trace},
    {FOLD_RANK_AGREEMENT, "rank_agreement", "a rank has other bits than rank 0", fold_judge_rank_agreement},
    {FOLD_KEEPS_INPUT, "keeps_input", "an input changed; on hosts, written to at all", fold_judge_keeps_input},
};

const struct fold_claim *fold_claims(size_t *n) {
  *n = FOLD_CLAIMS;
  return claims;
}

/* Max and min never round: whatever the order, the result is the exact one. So every subject promises that. */
uint64_t fold_claims_of(const struct fold_subject *subject, enum fold_op op) {
  uint64_t promised = subject->claims;
  if (op == FOLD_MAX || op == FOLD_MIN) {
    promised &= ~FOLD_CLAIM(FOLD_BOUNDED);
    promised |= FOLD_CLAIM(FOLD_CORRECTLY_ROUNDED) | FOLD_CLAIM(FOLD_PERMUTATION_INVARIANT);
  }
  return promised;
}

const char *fold_verdict_name(enum fold_verdict verdict) {
  static const char *const names[FOLD_VERDICTS] = {"held", "refuted", "skipped", "broken"};
  return names[verdict];
}

void fold_judge_claim(const struct fold_claim *claim, struct fold_trial *trial, struct fold_finding *finding) {
  /* Broken until a judge says otherwise: a judge that forgets to speak must not turn green. */
  *finding = (struct fold_finding){.verdict = FOLD_BROKEN, .reason = "no finding", .ulps = NAN, .fraction = NAN};
  claim->judge(trial, finding);
  if (finding->verdict != FOLD_HELD || finding->comparisons > 0) return;
  fold_find_skipped(finding, "no row");
  if (trial->c->rows > 0) fold_find_failed(finding, fold_error(FOLD_ENVIRONMENT, "held, and nothing was compared"));
}

void fold_find_held(struct fold_finding *finding) {
  finding->verdict = FOLD_HELD;
  finding->reason[0] = '\0';
}

void fold_find_refuted(struct fold_finding *finding, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(finding->reason, sizeof finding->reason, format, args);
  va_end(args);
  finding->verdict = FOLD_REFUTED;
}

void fold_find_skipped(struct fold_finding *finding, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(finding->reason, sizeof finding->reason, format, args);
  va_end(args);
  finding->verdict = FOLD_SKIPPED;
}

void fold_find_failed(struct fold_finding *finding, fold_status status) {
  fold_find_skipped(finding, "%.*s", (int)sizeof finding->reason - 1, status.text);
  if (status.code != FOLD_UNSUPPORTED) finding->verdict = FOLD_BROKEN;
}

bool fold_trial_same(struct fold_trial *trial, struct fold_finding *finding, const void *got, const void *want,
                     size_t rows, const char *what) {
  enum fold_dtype dtype = trial->c->dtype;
  finding->comparisons += rows;
  if (memcmp(got, want, rows * fold_dtype_size(dtype)) == 0) return true;
  for (size_t r = 0; r < rows; r++) {
    uint64_t g = fold_bits_load(dtype, got, r), w = fold_bits_load(dtype, want, r);
    if (fold_bits_same(dtype, g, w)) continue;
    finding->row = r;
    finding->compared = true;
    finding->got = g;
    finding->want = w;
    fold_find_refuted(finding, "%s", what);
    return false;
  }
  return true;
}

/* Above an infinity, without its sign, a pattern is a NaN. A gigabyte passes through here: loops without a branch, which the
 * compiler makes vectors of. */
#define UNIFY(type)                                                            \
  _Pragma("omp simd") for (size_t r = 0; r < rows; r++) {                      \
    type bits;                                                                 \
    memcpy(&bits, at + r * sizeof bits, sizeof bits);                          \
    bits = (type)(bits & (type)~f.sign) > (type)f.exponent ? (type)nan : bits; \
    memcpy(at + r * sizeof bits, &bits, sizeof bits);                          \
  }
void fold_results_unify(enum fold_dtype dtype, void *results, size_t rows) {
  struct fold_format f = fold_format_of(dtype);
  uint64_t nan = fold_bits_from_double(dtype, NAN);
  unsigned char *at = results;
  switch (f.bits) {
    case 16: UNIFY(uint16_t) return;
    case 32: UNIFY(uint32_t) return;
    default: UNIFY(uint64_t) return;
  }
}
#undef UNIFY

uint64_t fold_results_hash(enum fold_dtype dtype, const void *results, size_t rows) {
  unsigned char some[512];
  size_t size = fold_dtype_size(dtype), most = sizeof some / size;
  uint64_t hash = 0;
  for (size_t at = 0; at < rows; at += most) {
    size_t n = rows - at < most ? rows - at : most;
    memcpy(some, (const unsigned char *)results + at * size, n * size);
    fold_results_unify(dtype, some, n);
    for (size_t r = 0; r < n; r++) {
      uint64_t bits = fold_bits_load(dtype, some, r);
      hash = XXH3_64bits_withSeed(&bits, sizeof bits, hash);
    }
  }
  return hash;
}

fold_status fold_truths_open(struct fold_truths *truths, const struct fold_case *c, const void *input) {
  *truths = (struct fold_truths){.c = c, .input = input};
  truths->row = calloc(c->rows + 1, sizeof *truths->row);
  truths->known = calloc(c->rows + 1, sizeof *truths->known);
  truths->weighed = calloc(c->rows + 1, sizeof *truths->weighed);
  if (truths->row && truths->known && truths->weighed) return fold_ok();
  fold_truths_close(truths);
  return fold_error(FOLD_NO_MEMORY, "not enough memory for the truths of %zu rows", c->rows);
}

void fold_truths_close(struct fold_truths *truths) {
  if (truths->row && truths->known)
    for (size_t r = 0; r < truths->c->rows; r++)
      if (truths->known[r]) fold_truth_free(&truths->row[r]);
  free(truths->row);
  free(truths->known);
  free(truths->weighed);
  *truths = (struct fold_truths){0};
}

fold_status fold_truths_row(struct fold_truths *truths, size_t row, const struct fold_truth **truth) {
  const struct fold_case *c = truths->c;
  *truth = &truths->row[row];
  if (truths->known[row]) return fold_ok();
  const unsigned char *terms = (const unsigned char *)truths->input + row * c->cols * fold_dtype_size(c->dtype);
  fold_truth_init(&truths->row[row]);
  fold_status status = fold_oracle_exact(c->dtype, c->op, terms, c->cols, 0, &truths->row[row]);
  truths->known[row] = status.code == FOLD_OK;
  if (truths->known[row]) return status;
  fold_truth_free(&truths->row[row]);
  *truth = NULL;
  return status;
}

/* Read with more bits than any exact sum has: a text that is rounded even so is no exact sum. Zeros keep their signs. */
fold_status fold_truths_check_expected(struct fold_truths *truths) {
  const struct fold_case *c = truths->c;
  const struct fold_truth *truth;
  if (c->expect == NULL || c->rows != 1 || fold_case_problem(c)->id != FOLD_ROWS_SUM) return fold_ok();
  FOLD_TRY(fold_truths_row(truths, 0, &truth));
  mpfr_t want;
  char *end;
  mpfr_init2(want, 4096);
  int rounded = mpfr_strtofr(want, c->expect, &end, 0, MPFR_RNDN);
  bool nan = mpfr_nan_p(want) && mpfr_nan_p(truth->exact);
  bool equal = nan || (mpfr_equal_p(want, truth->exact) && mpfr_signbit(want) == mpfr_signbit(truth->exact));
  mpfr_clear(want);
  if (equal && rounded == 0 && *end == '\0') return fold_ok();
  char *exact = mpfr_number_p(truth->exact) ? fold_mpfr_decimal(truth->exact) : NULL;
  fold_status status = fold_error(FOLD_BAD_INPUT, "%s: expect_sum %.60s of %s: the exact sum is %.80s", c->where,
                                  c->expect, c->name, exact ? exact : "not finite");
  free(exact);
  return status;
}
