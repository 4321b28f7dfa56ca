/* test_generators_rows.c: the generators whose promise is about a whole row: its exact sum, its partial sums, its
 * places.
 *
 * Exact sums are MPFR's at a precision where each addition is exact; ties are told in integers.
 */
#include "fixtures/generate.h"
#include "generate_help.h"

static double value_at(const struct fold_source *source, uint64_t bits) {
  return fold_bits_to_double(source->dtype, bits);
}

Test(generators_rows, pathological_sums_to_a_third_of_its_length) {
  const size_t thirds[] = {1, 2, 33, 341, 1000};
  for (int d = 0; d < FOLD_E4M3; d++)
    for (int t = 0; t < 5; t++) {
      size_t k = thirds[t];
      struct fold_source source = source_of("pathological", d, 1, 3 * k);
      uint64_t *row = patterns_of(&source, 6 * k, 3 * k); /* the third row */
      mpfr_t sum, abs_sum;
      exact_sums(source.dtype, row, 3 * k, sum, abs_sum);
      double want = d == FOLD_F16 ? (double)k * 0x1p-10 : (double)k;
      cr_expect(mpfr_cmp_d(sum, want) == 0, "%s k %zu: %g", fold_dtype_name(source.dtype), k,
                mpfr_get_d(sum, MPFR_RNDN));
      double large = value_at(&source, row[0]), small = value_at(&source, row[1]);
      /* What it provokes: f32 accumulators lose the small term. f64 keeps it, and is a control. */
      cr_expect((accumulate(source.dtype, large, small) == large) == (d != FOLD_F64), "%s",
                fold_dtype_name(source.dtype));
      if (d >= FOLD_F32) cr_expect(large == 1e8 && small == 1 && value_at(&source, row[2]) == -1e8);
      free(row), mpfr_clears(sum, abs_sum, (mpfr_ptr)0);
    }
}

/* Odd rows start again at plus: the sign goes by column. */
Test(generators_rows, alternating_signs_go_by_column) {
  enum { COLS = 77, N = 100 * COLS };
  int wrong = 0;
  for (int d = 0; d < FOLD_E4M3; d++) {
    struct fold_source source = source_of("alternating", d, 2, COLS);
    uint64_t *x = patterns_of(&source, 0, N);
    for (size_t i = 0; i < N; i++) {
      double v = value_at(&source, x[i]);
      if (!(fabs(v) >= 1 && fabs(v) < 2 && (v < 0) == (i % COLS % 2 == 1)))
        TELL(wrong, "%s %zu: %g", fold_dtype_name(source.dtype), i, v);
    }
    free(x);
  }
}

/* |v - 1/k| <= ulp/2 in MPFR at 128 bits, far beyond what decides. */
Test(generators_rows, harmonic_is_the_nearest_to_its_fraction) {
  enum { COLS = 70000 };
  mpfr_t error;
  mpfr_init2(error, 128);
  int wrong = 0;
  for (int d = 0; d < FOLD_E4M3; d++) {
    struct fold_source source = source_of("harmonic", d, 3, COLS);
    uint64_t *x = patterns_of(&source, 5 * (uint64_t)COLS, COLS);
    for (size_t c = 0; c < COLS; c++) {
      double v = value_at(&source, x[c]);
      mpfr_set_ui(error, 1, MPFR_RNDN);
      mpfr_div_ui(error, error, c + 1, MPFR_RNDN);
      mpfr_sub_d(error, error, v, MPFR_RNDN);
      mpfr_abs(error, error, MPFR_RNDN);
      if (!(mpfr_cmp_d(error, fold_ulp(source.dtype, v) / 2) <= 0))
        TELL(wrong, "%s 1/%zu: %g", fold_dtype_name(source.dtype), c + 1, v);
    }
    free(x);
  }
  mpfr_clear(error);
}

/* The sum is ulp(2^emax), and one more in odd rows; partial sums leave the format from the second term on. */
Test(generators_rows, overflow_partial_overflows_on_the_way_only) {
  const size_t lengths[] = {2, 3, 4, 5, 64, 1001, 16384};
  for (int d = 0; d < FOLD_E4M3; d++)
    for (int l = 0; l < 7; l++) {
      size_t cols = lengths[l];
      struct fold_source source = source_of("overflow_partial", d, 4, cols);
      struct fold_format f = fold_format_of(source.dtype);
      uint64_t *row = patterns_of(&source, 3 * cols, cols);
      double largest = fold_bits_to_double(source.dtype, f.exponent - 1), ulp = fold_power(f.emax - f.precision + 1),
             partial = 0;
      int wrong = 0;
      bool left = false;
      for (size_t c = 0; c < cols; c++) {
        double v = value_at(&source, row[c]);
        if (!(fabs(v) <= largest))
          TELL(wrong, "%s cols %zu: term %zu is %g", fold_dtype_name(source.dtype), cols, c, v);
        partial = accumulate(source.dtype, partial, v);
        left = left || !(fabs(partial) <= largest);
      }
      mpfr_t sum, abs_sum;
      exact_sums(source.dtype, row, cols, sum, abs_sum);
      cr_expect(mpfr_cmp_d(sum, ulp * (double)(1 + cols % 2)) == 0, "%s cols %zu", fold_dtype_name(source.dtype), cols);
      cr_expect(left == (cols >= 4), "%s cols %zu", fold_dtype_name(source.dtype), cols);
      if (d != FOLD_F16)
        cr_expect(isfinite(partial) == (cols < 4), "%s cols %zu: %g", fold_dtype_name(source.dtype), cols, partial);
      free(row), mpfr_clears(sum, abs_sum, (mpfr_ptr)0);
    }
}

/* Half an ulp above the largest number and more rounds to infinity (the tie too: the largest is odd). */
Test(generators_rows, overflow_sum_overflows_in_the_exact_sum_only) {
  const size_t lengths[] = {3, 7, 8, 64, 1001, 16384};
  for (int d = 0; d < FOLD_E4M3; d++)
    for (int l = d < FOLD_F32 ? 1 : 0; l < 6; l++) {
      size_t cols = lengths[l];
      struct fold_source source = source_of("overflow_sum", d, 5, cols);
      struct fold_format f = fold_format_of(source.dtype);
      uint64_t *row = patterns_of(&source, 2 * cols, cols), largest = f.exponent - 1;
      double partial = 0;
      for (size_t c = 0; c < cols; c++) partial = accumulate(source.dtype, partial, value_at(&source, row[c]));
      cr_expect(fold_bits_from_double(source.dtype, partial) == largest, "%s cols %zu: %a",
                fold_dtype_name(source.dtype), cols, partial);
      mpfr_t sum, abs_sum;
      exact_sums(source.dtype, row, cols, sum, abs_sum);
      mpfr_sub_d(sum, sum, fold_bits_to_double(source.dtype, largest), MPFR_RNDN);
      cr_expect(mpfr_cmp_d(sum, fold_power(f.emax - f.precision)) >= 0, "%s cols %zu", fold_dtype_name(source.dtype),
                cols);
      free(row), mpfr_clears(sum, abs_sum, (mpfr_ptr)0);
    }
}

/* Sum |x| / |sum x| of one row against what was wanted; condition.c derives the factor. */
static void expect_condition(struct fold_source source, uint64_t r, double want, int *wrong) {
  size_t cols = source.cols;
  uint64_t *row = patterns_of(&source, r * cols, cols), sign = fold_format_of(source.dtype).sign;
  mpfr_t sum, abs_sum;
  exact_sums(source.dtype, row, cols, sum, abs_sum);
  mpfr_div(abs_sum, abs_sum, sum, MPFR_RNDN);
  double got = fabs(mpfr_get_d(abs_sum, MPFR_RNDN)), factor = 2 * M_SQRT2;
  if (!(got >= want / factor && got / factor <= want))
    TELL(*wrong, "%s cols %zu row %zu: condition %g, want %g", fold_dtype_name(source.dtype), cols, (size_t)r, got,
         want);
  for (size_t c = 0; c < cols / 2; c++)
    if (!fold_is_residual(cols, c) && row[c] != (row[cols - 1 - c] ^ sign))
      TELL(*wrong, "%s cols %zu: columns %zu and %zu do not cancel", fold_dtype_name(source.dtype), cols, c,
           cols - 1 - c);
  free(row), mpfr_clears(sum, abs_sum, (mpfr_ptr)0);
}

/* A ladder of conditions from 32 to 1e300: what the check accepts is reached, what it refuses starts at one point. */
Test(generators_rows, ill_conditioned_reaches_every_condition_that_is_accepted) {
  const size_t lengths[] = {4, 5, 31, 33, 64, 65, 100, 1000};
  const double least_reach[] = {1e8, 1e60, 1e60, 1e300};
  int wrong = 0;
  for (int d = 0; d < FOLD_E4M3; d++)
    for (int l = 0; l < 8; l++) {
      double reached = 0;
      bool refused = false;
      for (int e = 5; e < 1024; e += d == FOLD_F64 ? 31 : 2) {
        struct fold_source source = source_of("ill_conditioned", d, 17, lengths[l]);
        source.condition = ldexp(1.4142, e);
        bool accepted = fold_source_check(&source).code == FOLD_OK;
        if (accepted && refused)
          TELL(wrong, "%s cols %zu: 2^%d accepted, less refused", fold_dtype_name(source.dtype), source.cols, e);
        refused = !accepted;
        if (!accepted) continue;
        reached = source.condition;
        for (uint64_t r = 0; r < 3; r++) expect_condition(source, r, source.condition, &wrong);
      }
      cr_expect(reached >= least_reach[d], "%s cols %zu: only %g", fold_dtype_name((enum fold_dtype)d), lengths[l],
                reached);
      cr_expect(refused || d == FOLD_F64);
    }
}

Test(generators_rows, ill_conditioned_reaches_its_default_in_long_rows) {
  const double usual[] = {1e8, 1e10, 1e10, 1e20};
  int wrong = 0;
  for (int d = 0; d < FOLD_E4M3; d++)
    for (size_t cols = 16384; cols <= 16385; cols++)
      for (uint64_t seed = 1; seed < 3; seed++)
        expect_condition(source_of("ill_conditioned", d, seed, cols), seed, usual[d], &wrong);
}

/* In integers of 2^-53 half units: the accumulator's unit is 2^54 of them while the sum is in its binade. */
static void expect_ties(const char *name, int d, uint64_t seed, size_t cols, int *wrong) {
  struct fold_source source = source_of(name, d, seed, cols);
  uint64_t *row = patterns_of(&source, cols, cols);
  bool near = strcmp(name, "near_ties") == 0;
  int precision = fold_accumulator_precision(source.dtype), b = d == FOLD_F16 ? 15 : precision, above = 0, below = 0;
  double per = fold_power(53 - (b - precision)), partial = value_at(&source, row[0]);
  const __int128 half = (__int128)1 << 53;
  for (size_t c = 1; c < cols; c++) {
    double v = value_at(&source, row[c]);
    __int128 sum = (__int128)(partial * 0x1p-40 * per) * ((__int128)1 << 40) + (__int128)(v * per),
             off = (sum & (2 * half - 1)) - half;
    bool in_binade = partial >= fold_power(b) && partial < fold_power(b + 1);
    bool right = near ? off != 0 && off < half / 64 && off > -half / 64 : off == 0;
    above += off > 0, below += off < 0;
    if (!(in_binade && right))
      TELL(*wrong, "%s %s column %zu: %a + %a", name, fold_dtype_name(source.dtype), c, partial, v);
    partial = accumulate(source.dtype, partial, v);
  }
  /* cols - 1 coins: both sides of the tie, by five standard deviations. */
  if (near) cr_expect(abs(above - below) <= 5 * sqrt((double)cols), "%d above, %d below", above, below);
  free(row);
}

Test(generators_rows, ties_are_ties_in_the_accumulator) {
  int wrong = 0;
  for (int d = 0; d < FOLD_E4M3; d++) expect_ties("ties", d, 21, 1 << 17, &wrong);
}

Test(generators_rows, near_ties_lie_on_both_sides_of_a_tie) {
  int wrong = 0;
  for (int d = 0; d < FOLD_E4M3; d++) expect_ties("near_ties", d, 22, 1 << 17, &wrong);
}

/* Where each non-finite value stands; elsewhere the row is that of `normal`. */
static const struct {
  const char *name;
  double value;
  int quarters; /* of the row: 0 first, 2 middle, 4 last; 1 and 3 as inf_both has them */
} places[] = {
    {"nan_first", NAN, 0},
    {"nan_middle", NAN, 2},
    {"nan_last", NAN, 4},
    {"inf_first", INFINITY, 0},
    {"inf_middle", INFINITY, 2},
    {"inf_last", INFINITY, 4},
    {"neg_inf_middle", -INFINITY, 2},
    {"inf_both", INFINITY, 1},
};

static size_t column_of(int quarters, size_t cols) {
  const size_t at[] = {0, cols / 4, cols / 2, cols - 1 - cols / 4, cols - 1};
  return at[quarters];
}

Test(generators_rows, non_finite_values_stand_in_their_places) {
  const size_t lengths[] = {1, 2, 3, 4, 5, 8, 255, 1024};
  int wrong = 0;
  for (size_t p = 0; p < sizeof places / sizeof *places; p++)
    for (int d = 0; d < FOLD_E4M3; d++)
      for (int l = 0; l < 8; l++) {
        size_t cols = lengths[l], at = column_of(places[p].quarters, cols), both = column_of(3, cols);
        struct fold_source source = source_of(places[p].name, d, 31, cols), plain = source_of("normal", d, 31, cols);
        bool second = places[p].quarters == 1 && cols > 1;
        uint64_t *got = patterns_of(&source, 0, 3 * cols), *around = patterns_of(&plain, 0, 3 * cols);
        for (size_t i = 0; i < 3 * cols; i++) {
          uint64_t want = i % cols == at               ? fold_bits_from_double(source.dtype, places[p].value)
                          : second && i % cols == both ? fold_bits_from_double(source.dtype, -INFINITY)
                                                       : around[i];
          if (!fold_bits_same(source.dtype, got[i], want))
            TELL(wrong, "%s %s cols %zu element %zu", places[p].name, fold_dtype_name(source.dtype), cols, i);
        }
        free(got), free(around);
      }
}
