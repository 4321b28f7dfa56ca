/* same_truth.h: two truths compared in every field. */
#ifndef SAME_TRUTH_H
#define SAME_TRUTH_H

#include <criterion/criterion.h>

#include "base/bits.h"
#include "oracles/exact.h"

static inline bool same_number(mpfr_srcptr a, mpfr_srcptr b) {
  if (mpfr_nan_p(a) || mpfr_nan_p(b)) return mpfr_nan_p(a) && mpfr_nan_p(b);
  return mpfr_equal_p(a, b) && !mpfr_signbit(a) == !mpfr_signbit(b);
}

static inline bool encloses_same(const struct fold_truth *a, const struct fold_truth *b) {
  if (a->enclosed != b->enclosed) return false;
  if (!a->enclosed) return same_number(a->exact, b->exact) && same_number(a->exact_up, b->exact_up);
  return mpfr_cmpabs(a->exact, b->exact_up) <= 0 && mpfr_cmpabs(b->exact, a->exact_up) <= 0;
}

static inline void expect_same_truth(const struct fold_truth *got, const struct fold_truth *want, const char *where) {
  for (int to = 0; to < FOLD_FLOATS; to++)
    cr_expect(got->rounded[to] == want->rounded[to], "%s to %s: got %llx, want %llx", where, fold_dtype_name(to),
              (unsigned long long)got->rounded[to], (unsigned long long)want->rounded[to]);
  cr_expect(encloses_same(got, want), "%s: exact", where);
  cr_expect(same_number(got->abs_sum, want->abs_sum), "%s: abs_sum", where);
  cr_expect(want->op != FOLD_SUM || same_number(got->finite, want->finite), "%s: finite", where);
  cr_expect(fold_bits_same(FOLD_F64, fold_f64_bits(got->condition), fold_f64_bits(want->condition)),
            "%s: condition %g, want %g", where, got->condition, want->condition);
  cr_expect(want->op != FOLD_PROD ||
                (got->least_exponent == want->least_exponent && same_number(got->largest, want->largest)),
            "%s: from 2^%g, want 2^%g", where, got->least_exponent, want->least_exponent);
  cr_expect(got->lowest == want->lowest, "%s: lowest bit 2^%ld, want 2^%ld", where, got->lowest, want->lowest);
  cr_expect(got->finite_terms == want->finite_terms && got->n == want->n && got->dtype == want->dtype &&
                got->op == want->op && got->factors == want->factors,
            "%s", where);
}

#endif
