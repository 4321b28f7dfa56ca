/* test_error.c: a result's error, also where the exact result is only enclosed, and its ratio to the bound are never
 * too small. */
#include <criterion/criterion.h>

#include "base/bits.h"
#include "cleanup.h"
#include "oracles/exact.h"

/* |got - exact| counts the farther end of [exact, exact_up], on whichever side of it the result is, and within. */
Test(error, of_an_enclosed_truth_the_farther_end_counts) {
  static const struct {
    double low, up, got, error;
  } rows[] = {
      {1, 1 + 0x1p-40, 0.5, 0.5 + 0x1p-40},
      {1, 1 + 0x1p-40, 1.5, 0.5},
      {-1, -1 - 0x1p-40, -0.5, 0.5 + 0x1p-40},
      {-1, -1 - 0x1p-40, -1.5, 0.5},
      {1, 1.75, 1.25, 0.5},
      {1, 1.75, 1.5, 0.5},
      {-1, -1.75, -1.25, 0.5},
      {1, 1, 1, 0},
      {1, 1 + 0x1p-40, -1, 2 + 0x1p-40},
  };
  TRUTH(truth);
  mpfr_t error;
  mpfr_init2(error, 64);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    mpfr_set_d(truth.exact, rows[i].low, MPFR_RNDN);
    mpfr_set_d(truth.exact_up, rows[i].up, MPFR_RNDN);
    fold_truth_error(error, &truth, FOLD_F32, fold_bits_from_double(FOLD_F32, rows[i].got));
    cr_expect(mpfr_cmp_d(error, rows[i].error) == 0, "row %zu: %a", i, mpfr_get_d(error, MPFR_RNDN));
  }
  mpfr_clear(error);
}

/* In two bits 1 + 2^-20 is 1.5, and not 1: of either end, on either side. */
Test(error, is_rounded_away_from_zero) {
  static const double ends[][2] = {{1 + 0x1p-20, 1}, {1, 1 + 0x1p-20}, {-1 - 0x1p-20, -1}, {-1, -1 - 0x1p-20}};
  TRUTH(truth);
  mpfr_t error;
  mpfr_init2(error, 2);
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    mpfr_set_d(truth.exact, ends[i][0], MPFR_RNDN);
    mpfr_set_d(truth.exact_up, ends[i][1], MPFR_RNDN);
    fold_truth_error(error, &truth, FOLD_F32, 0);
    cr_expect(mpfr_cmp_d(error, 1.5) == 0, "%a, %a: %a", ends[i][0], ends[i][1], mpfr_get_d(error, MPFR_RNDN));
  }
  mpfr_clear(error);
}

Test(error, its_ratios_are_rounded_up) {
  struct fold_truth truth = {.rounded = {[FOLD_F32] = fold_f32_bits(3)}};
  mpfr_t a, b;
  mpfr_inits2(64, a, b, (mpfr_ptr)0);
  mpfr_set_ui(a, 0, MPFR_RNDN);
  mpfr_set_ui(b, 0, MPFR_RNDN);
  cr_expect_eq(fold_ratio_up(a, b), 0, "nothing of nothing");
  mpfr_set_ui(a, 1, MPFR_RNDN);
  mpfr_set_ui(b, 3, MPFR_RNDN);
  cr_expect_eq(fold_ratio_up(a, b), 0x1.5555555555556p-2, "%a", fold_ratio_up(a, b));
  mpfr_set_ui_2exp(a, 1, 0, MPFR_RNDN);
  mpfr_nextabove(a);
  mpfr_set_ui(b, 1, MPFR_RNDN);
  cr_expect_eq(fold_ratio_up(a, b), 1 + 0x1p-52, "the quotient fits 64 bits and not 53: %a", fold_ratio_up(a, b));
  /* The last place of 3 is 2^-22. */
  mpfr_set_ui_2exp(a, 5, -24, MPFR_RNDN);
  cr_expect_eq(fold_truth_ulps(a, &truth, FOLD_F32), 1.25);
  mpfr_nextabove(a);
  cr_expect_eq(fold_truth_ulps(a, &truth, FOLD_F32), 1.25 + 0x1p-52);
  mpfr_clears(a, b, (mpfr_ptr)0);
}
