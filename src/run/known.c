/* known.c: matches refutations of peers to the facts in the registry.
 *
 * A fact must not forgive what it does not describe. So the rows are looked at, not the case's name: one row that is
 * wrong in any other way, and the refutation is new.
 */
#include "known.h"

#include <stdlib.h>
#include <string.h>

#include "bits.h"

/* What the terms of a row could excuse. */
struct terms {
  bool nan, plus_zero, minus_zero, has_got;
};

static struct terms terms_of(const struct fold_trial *trial, size_t row, uint64_t got) {
  const struct fold_case *c = trial->c;
  struct terms terms = {0};
  for (size_t i = 0; i < c->cols; i++) {
    uint64_t bits = fold_bits_load(c->dtype, trial->truths->input, row * c->cols + i);
    enum fold_class class = fold_bits_class(c->dtype, bits);
    bool negative = bits & fold_format_of(c->dtype).sign;
    terms.nan |= class == FOLD_NAN;
    terms.plus_zero |= class == FOLD_ZERO && !negative;
    terms.minus_zero |= class == FOLD_ZERO && negative;
    terms.has_got |= bits == got;
  }
  return terms;
}

static bool explains(const struct fold_fact *fact, const struct fold_trial *trial, size_t row, uint64_t got,
                     uint64_t exact) {
  enum fold_dtype dtype = trial->c->dtype;
  struct terms terms = terms_of(trial, row, got);
  if (fact->lapses & FOLD_LOSES_NAN && terms.nan && terms.has_got && fold_bits_class(dtype, got) != FOLD_NAN)
    return true;
  return fact->lapses & FOLD_LOSES_SIGN && terms.plus_zero && terms.minus_zero &&
         fold_bits_class(dtype, got) == FOLD_ZERO && fold_bits_class(dtype, exact) == FOLD_ZERO;
}

/* Counts the rows of `results` that are not exact; false when the fact does not explain one of them, or when the exact
 * result is not to be had. */
static bool explains_all(const struct fold_fact *fact, struct fold_trial *trial, const void *results, size_t *wrong) {
  enum fold_dtype dtype = trial->c->dtype;
  for (size_t row = 0; row < trial->c->rows; row++) {
    const struct fold_truth *truth;
    if (fold_truths_row(trial->truths, row, &truth).code != FOLD_OK) return false;
    uint64_t got = fold_bits_load(dtype, results, row);
    if (fold_bits_same(dtype, got, truth->rounded[dtype])) continue;
    if (!explains(fact, trial, row, got, truth->rounded[dtype])) return false;
    ++*wrong;
  }
  return true;
}

const struct fold_fact *fold_known(struct fold_trial *trial, const struct fold_claim *claim,
                                   const struct fold_finding *finding) {
  size_t n;
  const struct fold_fact *facts = fold_facts(&n);
  if (!trial->subject->peer || finding->verdict != FOLD_REFUTED) return NULL;
  for (size_t i = 0; i < n; i++) {
    size_t wrong = 0;
    if (strcmp(facts[i].subject, trial->subject->name) != 0 || !(facts[i].claims >> claim->id & 1)) continue;
    if (!(facts[i].ops >> trial->c->op & 1) || !explains_all(&facts[i], trial, trial->got, &wrong)) continue;
    /* A permuted max or min has the same exact result, so its rows are judged as those of the base run are. */
    if (claim->id == FOLD_PERMUTATION_INVARIANT && !explains_all(&facts[i], trial, trial->other, &wrong)) continue;
    if (wrong > 0) return &facts[i];
  }
  return NULL;
}

/* "Open MPI v4.1.6": the series is all but the last number. False for a text that ends otherwise. */
static bool patch_of(const char *version, size_t *series, unsigned long *patch) {
  const char *dot = strrchr(version, '.');
  char *end;
  if (dot == NULL || dot[1] < '0' || dot[1] > '9') return false;
  *series = (size_t)(dot - version);
  *patch = strtoul(dot + 1, &end, 10);
  return *end == '\0';
}

static bool spans(const struct fold_versions *span, const char *version) {
  size_t series, first_series, last_series;
  unsigned long patch, first, last;
  if (strcmp(version, span->first) == 0 || strcmp(version, span->last) == 0) return true;
  if (!patch_of(version, &series, &patch) || !patch_of(span->first, &first_series, &first) ||
      !patch_of(span->last, &last_series, &last))
    return false;
  return series == first_series && strncmp(version, span->first, series) == 0 && first < patch && patch < last;
}

bool fold_known_in(const struct fold_fact *fact, const char *version) {
  for (size_t i = 0; i < sizeof fact->seen / sizeof *fact->seen && fact->seen[i].first; i++)
    if (spans(&fact->seen[i], version)) return true;
  return false;
}
