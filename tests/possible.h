/* possible.h: whether a result is among those that a bound leaves possible, and which kinds of them were seen, for the
 * tests of outcomes. */
#ifndef FOLD_POSSIBLE_H
#define FOLD_POSSIBLE_H

#include "base/bits.h"
#include "oracles/bound.h"

/* What was seen, so that a test that tries nothing fails. */
struct seen {
  size_t exact, rounded, finite, infinite, nan, demanded, either;
};

/* Whether `got` is one of the possible results. */
static inline bool is_possible(const struct fold_truth *truth, enum fold_dtype dtype, mpfr_srcptr bound,
                               const struct fold_outcomes *may, uint64_t got) {
  enum fold_class class = fold_bits_class(dtype, got);
  if (class == FOLD_NAN) return may->nan;
  if (class == FOLD_INFINITE) return may->infinite[got & fold_format_of(dtype).sign ? 1 : 0];
  mpfr_t error;
  mpfr_init2(error, 256);
  fold_truth_error(error, truth, dtype, got);
  bool possible = may->finite && mpfr_lessequal_p(error, bound);
  mpfr_clear(error);
  uint64_t magnitude = ~fold_format_of(dtype).sign, want = truth->rounded[dtype];
  return possible && (!may->exact || got == want || !((got | want) & magnitude));
}

static inline void count(struct seen *seen, enum fold_dtype dtype, const struct fold_outcomes *may, uint64_t got) {
  enum fold_class class = fold_bits_class(dtype, got);
  bool overflow = may->infinite[0] || may->infinite[1];
  if (!fold_format_of(dtype).infinities) overflow = may->nan, seen->infinite += class == FOLD_NAN;
  seen->exact += may->exact && class < FOLD_INFINITE;
  seen->rounded += !may->exact && class < FOLD_INFINITE;
  seen->finite += class < FOLD_INFINITE && overflow;
  seen->infinite += class == FOLD_INFINITE;
  seen->nan += class == FOLD_NAN;
  seen->demanded += !may->finite && (!may->nan || !fold_format_of(dtype).infinities);
  seen->either += may->finite && overflow;
}

#endif
