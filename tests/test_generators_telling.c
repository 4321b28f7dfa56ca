/* test_generators_telling.c: the generators of generate_telling.h: what their rows add up to, and where what tells stands. */
#include "fixtures/generate.h"
#include "generate_help.h"

static const size_t lengths[] = {1, 2, 3, 8, 15, 16, 17, 46, 301, 4096};
enum { LENGTHS = sizeof lengths / sizeof *lengths, SECOND_ROW = 2 };

/* The exact sum, or with `other` that of the products; *whole: the sum of the magnitudes. */
static double exact_of(const struct fold_source *source, const struct fold_source *other, size_t n, double *whole) {
  uint64_t *x = patterns_of(source, SECOND_ROW * n, n), *y = other ? patterns_of(other, SECOND_ROW * n, n) : NULL;
  double sum = 0;
  *whole = 0;
  for (size_t i = 0; i < n; i++) {
    const double term = fold_bits_to_double(source->dtype, x[i]) * (y ? fold_bits_to_double(source->dtype, y[i]) : 1);
    sum += term, *whole += fabs(term);
  }
  free(x), free(y);
  return sum;
}

/* So small a sum, which no order rounds, shows each term in any dtype: none is below 1, and the sum takes two bits, or a few in a dtype of
 * many. */
Test(generators_telling, balanced_rows_leave_a_small_rest_and_no_order_rounds) {
  for (int d = 0; d < FOLD_FLOATS; d++)
    for (int k = 0; k < LENGTHS; k++) {
      const size_t n = lengths[k];
      const struct fold_source source = source_of("balanced", d, 7, n), other = fold_source_of_input(&source, 1);
      const double rest = d == FOLD_F32 ? 2049 : d == FOLD_F64 ? 0x1p25 + 1 : 1, want = rest + (n % 2 == 0);
      double whole;
      cr_expect_eq(exact_of(&source, NULL, n, &whole), want, "%s %zu", fold_dtype_name(source.dtype), n);
      cr_expect(whole < (d == FOLD_F64 ? 0x1p53 : 0x1p24));
      cr_expect_eq(exact_of(&source, &other, n, &whole), want, "%s %zu: products", fold_dtype_name(source.dtype), n);
      cr_expect(whole < (d == FOLD_F64 ? 0x1p53 : 0x1p24));
      uint64_t *x = patterns_of(&source, 0, n);
      for (size_t i = 0; i < n; i++) cr_expect(fabs(fold_bits_to_double(source.dtype, x[i])) >= 1);
      free(x);
    }
}

Test(generators_telling, cancelling_rows_are_zero_but_not_their_ends) {
  for (int d = 0; d < FOLD_FLOATS; d++)
    for (int k = 1; k < LENGTHS; k++) {
      const size_t n = lengths[k];
      const struct fold_source source = source_of("cancelling", d, 7, n), other = fold_source_of_input(&source, 1);
      double whole, products;
      cr_expect_eq(exact_of(&source, NULL, n, &whole), 0);
      cr_expect_eq(exact_of(&source, &other, n, &products), 0);
      cr_expect(whole > 0 && whole < 0x1p24 && products < 0x1p24);
      uint64_t *x = patterns_of(&source, 0, n);
      cr_expect(fold_bits_to_double(source.dtype, x[n - 1]) != 0);
      free(x);
    }
}

/* A shortcut for rows with many zeros begins at some share of them. */
Test(generators_telling, cancelling_rows_have_four_shares_of_zeros) {
  enum { COLS = 1600 };
  static const double shares[] = {0.25, 0.5, 0.75, 0.875};
  const struct fold_source source = source_of("cancelling", FOLD_F32, 4, COLS);
  uint64_t *x = patterns_of(&source, 0, 4 * COLS);
  for (size_t r = 0; r < 4; r++) {
    double zeros = 0;
    for (size_t i = r * COLS; i < (r + 1) * COLS; i++) zeros += x[i] == 0;
    cr_expect(fabs(zeros / COLS - shares[r]) < 0.05, "row %zu: %g of zeros", r, zeros / COLS);
  }
  free(x);
}

/* Ties of the result, ties that a term far below breaks either way, and significands of ones, which carry. */
Test(generators_telling, result_ties_are_ties_or_broken_ones_of_every_kind) {
  enum { ROWS = 512 };
  for (int d = 0; d < FOLD_FLOATS; d++) {
    const struct fold_source source = source_of("result_ties", d, 3, 4);
    const struct fold_format f = fold_format_of(source.dtype);
    uint64_t *x = patterns_of(&source, 0, 4 * ROWS);
    size_t up = 0, down = 0, ties = 0, ones = 0;
    for (size_t r = 0; r < ROWS; r++) {
      const uint64_t *row = x + 4 * r;
      const double base = fold_bits_to_double(source.dtype, row[0]), half = fold_bits_to_double(source.dtype, row[1]),
                   breaks = fold_bits_to_double(source.dtype, row[2]);
      cr_expect_eq(fabs(half), fold_ulp(source.dtype, base) / 2, "%s row %zu", fold_dtype_name(source.dtype), r);
      cr_expect_eq(signbit(base) != 0, signbit(half) != 0);
      cr_expect(fabs(breaks) < fabs(half) && row[3] == 0);
      ties += breaks == 0, up += breaks * base > 0, down += breaks * base < 0;
      ones += (row[0] & f.fraction) == f.fraction;
      if (f.precision <= 11) cr_expect_eq((double)((float)base + (float)half + (float)breaks), base + half + breaks);
    }
    cr_expect(ties > 50 && up > 50 && down > 50 && ones > 50, "%s: %zu %zu %zu %zu", fold_dtype_name(source.dtype),
              ties, up, down, ones);
    free(x);
  }
}

/* Four times as many rows as there are places have each; of long rows, which have more, 64 have one in each sixteenth. */
static void expect_each_place(const char *name, enum fold_dtype dtype, size_t cols, bool (*tells)(double)) {
  const size_t rows = cols < 64 ? 4 * cols : 64, part = cols < 64 ? 1 : (cols + 15) / 16;
  const struct fold_source source = source_of(name, dtype, 5, cols);
  uint64_t *x = patterns_of(&source, 0, rows * cols);
  bool there[64] = {false};
  for (size_t i = 0; i < rows * cols; i++) there[i % cols / part] |= tells(fold_bits_to_double(dtype, x[i]));
  for (size_t c = 0; c < cols; c += part)
    cr_expect(there[c / part], "%s %s: no row has one from column %zu of %zu on", name, fold_dtype_name(dtype), c,
              cols);
  free(x);
}

static bool is_nan(double x) { return isnan(x); }
static bool is_inf_or_zero(double x) { return isinf(x) || x == 0; }
static bool is_plus_zero(double x) { return x == 0 && !signbit(x); }

Test(generators_telling, each_place_has_what_tells) {
  static const size_t cols[] = {2, 7, 33, 63, 300};
  for (int d = 0; d < FOLD_FLOATS; d++)
    for (int k = 0; k < 5; k++) {
      expect_each_place("nan_places", (enum fold_dtype)d, cols[k], is_nan);
      if (d != FOLD_E4M3) expect_each_place("inf_places", (enum fold_dtype)d, cols[k], is_inf_or_zero);
      expect_each_place("zero_places", (enum fold_dtype)d, cols[k], is_plus_zero);
    }
}

/* Quiet and signalling ones, and two or three in a row. */
Test(generators_telling, nan_places_have_each_kind) {
  enum { COLS = 33, ROWS = 4 * COLS };
  for (int d = 0; d < FOLD_E4M3; d++) {
    const struct fold_source source = source_of("nan_places", d, 0, COLS);
    const struct fold_format f = fold_format_of(source.dtype);
    uint64_t *x = patterns_of(&source, 0, COLS * ROWS);
    size_t signalling = 0, negative = 0, pairs = 0, triples = 0;
    for (size_t r = 0; r < ROWS; r++) {
      size_t nans = 0;
      for (size_t i = r * COLS; i < (r + 1) * COLS; i++) {
        if (!isnan(fold_bits_to_double(source.dtype, x[i]))) continue;
        nans++, signalling += !(x[i] & (f.fraction + 1) / 2), negative += (x[i] & f.sign) != 0;
      }
      cr_expect(nans >= 1 && nans <= 3);
      pairs += nans == 2, triples += nans == 3;
    }
    cr_expect(signalling == 2 * COLS && negative == COLS && pairs + triples == COLS && pairs > 9 && triples > 9,
              "%zu %zu %zu", signalling, negative, pairs);
    free(x);
  }
}

/* So that the second input of products has what the first has otherwise. */
Test(generators_telling, seeds_from_2_to_the_62_on_swap_the_inputs) {
  enum { COLS = 33, N = 4 * COLS * COLS };
  const struct fold_source swapped = source_of("nan_places", FOLD_F32, ((uint64_t)1 << 62) + 1, COLS),
                           other = fold_source_of_input(&swapped, 1);
  uint64_t *x = patterns_of(&swapped, 0, N), *y = patterns_of(&other, 0, N);
  size_t first = 0, second = 0;
  for (size_t i = 0; i < N; i++)
    first += isnan(fold_bits_to_double(FOLD_F32, x[i])), second += isnan(fold_bits_to_double(FOLD_F32, y[i]));
  cr_expect(first == 0 && second > COLS, "%zu and %zu", first, second);
  free(x), free(y);
}

/* In dot products: an infinity meets a zero in each place, from either side. */
Test(generators_telling, infinities_meet_zeros_of_the_other_input) {
  enum { COLS = 33, ROWS = 4 * COLS };
  const struct fold_source source = source_of("inf_places", FOLD_F32, 0, COLS),
                           other = fold_source_of_input(&source, 1);
  uint64_t *x = patterns_of(&source, 0, COLS * ROWS), *y = patterns_of(&other, 0, COLS * ROWS);
  size_t first = 0, second = 0, alone = 0;
  for (size_t i = 0; i < COLS * ROWS; i++) {
    const double a = fold_bits_to_double(FOLD_F32, x[i]), b = fold_bits_to_double(FOLD_F32, y[i]);
    first += isinf(a) && b == 0, second += a == 0 && isinf(b), alone += isinf(a) && isfinite(b) && b != 0;
  }
  cr_expect(first == COLS && second == COLS && alone == 2 * COLS, "%zu %zu %zu", first, second, alone);
  free(x), free(y);
}

/* Exactly zero; and most products are rounded. */
Test(generators_telling, mirrored_products_cancel_and_are_not_exact) {
  enum { COLS = 301 };
  const struct fold_source source = source_of("mirrored_products", FOLD_F32, 4, COLS),
                           other = fold_source_of_input(&source, 1);
  uint64_t *x = patterns_of(&source, 0, COLS), *y = patterns_of(&other, 0, COLS);
  double sum = 0;
  size_t rounded = 0;
  for (size_t i = 0; i < COLS; i++) {
    const double product = fold_bits_to_double(FOLD_F32, x[i]) * fold_bits_to_double(FOLD_F32, y[i]);
    rounded += (double)(float)product != product;
    sum += product;
  }
  cr_expect(sum == 0 && rounded > COLS / 2, "%g, %zu rounded", sum, rounded);
  free(x), free(y);
}

/* Short dot products stay below the normal range, and some are halfway between two of its numbers. */
Test(generators_telling, subnormal_products_have_ties_below_the_normal_range) {
  for (int d = 0; d < FOLD_E4M3; d++) {
    const struct fold_source source = source_of("subnormal_products", d, 9, 8),
                             other = fold_source_of_input(&source, 1);
    const struct fold_format f = fold_format_of(source.dtype);
    uint64_t *x = patterns_of(&source, 0, 800), *y = patterns_of(&other, 0, 800);
    size_t ties = 0, fewer = 0;
    for (size_t r = 0; r < 100; r++) {
      double quarters = 0;
      for (size_t i = 8 * r; i < 8 * r + 8; i++)
        quarters += ldexp(fold_bits_to_double(source.dtype, x[i]), (2 - fold_format_least(f) + 1) / 2) *
                    ldexp(fold_bits_to_double(source.dtype, y[i]), (2 - fold_format_least(f)) / 2);
      ties += fmod(quarters, 4) == 2, fewer += quarters < ldexp(4, f.precision - 1);
      cr_expect_eq(quarters, floor(quarters));
    }
    cr_expect(ties >= 10 && (fewer == 100 || f.precision < 9), "%s: %zu ties, %zu", fold_dtype_name(source.dtype), ties,
              fewer);
    free(x), free(y);
  }
}

Test(generators_telling, the_others_rise_are_negative_or_whole) {
  for (int d = 0; d < FOLD_E4M3; d++) {
    const struct fold_source rising = source_of("rising", d, 1, 40), below = source_of("below_zero", d, 1, 40),
                             whole = source_of("whole", d, 1, 400);
    uint64_t *up = patterns_of(&rising, 0, 40), *low = patterns_of(&below, 0, 40), *n = patterns_of(&whole, 0, 400);
    double sum = 0;
    for (size_t i = 0; i < 40; i++) {
      cr_expect(i == 0 || fold_bits_to_double(rising.dtype, up[i]) > fold_bits_to_double(rising.dtype, up[i - 1]) ||
                d == FOLD_BF16);
      cr_expect(fold_bits_to_double(below.dtype, low[i]) < 0);
    }
    for (size_t i = 0; i < 400; i++) {
      const double x = fold_bits_to_double(whole.dtype, n[i]);
      cr_expect_eq(x, rint(x));
      sum += x;
    }
    cr_expect(sum > ldexp(1, fold_format_of(whole.dtype).precision), "%s: %g", fold_dtype_name(whole.dtype), sum);
    free(up), free(low), free(n);
  }
}

/* Every term is there in some row, and each row's sum says which: no bit of it rounds. */
Test(generators_telling, powers_give_each_place_a_bit_in_one_row_of_those_before_the_last) {
  for (int d = 0; d < FOLD_FLOATS; d++)
    for (int k = 1; k < LENGTHS - 1; k++) {
      const size_t n = lengths[k], width = (size_t)fold_format_of((enum fold_dtype)d).precision;
      const size_t rows = (n + width - 1) / width, last = n - (rows - 1) * width;
      const struct fold_source source = source_of("powers", d, 1, n), other = fold_source_of_input(&source, 1);
      uint64_t *x = patterns_of(&source, 0, rows * n), *y = patterns_of(&other, 0, n);
      for (size_t i = 0; i < rows * n; i++) {
        const size_t first = (rows - 1 - i / n) * width, column = i % n;
        const double want = column >= first && column < first + width ? ldexp(1, (int)(column - first)) : 0;
        cr_expect_eq(fold_bits_to_double(source.dtype, x[i]), want, "%s %zu: %zu", fold_dtype_name(source.dtype), n, i);
      }
      cr_expect(fold_bits_to_double(source.dtype, x[n - 1]) == ldexp(1, (int)last - 1));
      for (size_t i = 0; i < n; i++) cr_expect_eq(fold_bits_to_double(source.dtype, y[i]), 1);
      const struct fold_source exchanged = source_of("powers", d, ((uint64_t)1 << 62) + 1, n);
      const struct fold_source second = fold_source_of_input(&exchanged, 1);
      uint64_t *z = patterns_of(&second, 0, rows * n);
      cr_expect_arr_eq(z, x, rows * n * sizeof *x, "%s %zu: the second input", fold_dtype_name(source.dtype), n);
      free(x), free(y), free(z);
    }
}

/* In rows of fewer than 64 the next place each; the other factor says which place it is. */
Test(generators_telling, a_lone_term_is_in_each_place_once) {
  enum { COLS = 33 };
  for (int d = 0; d < FOLD_FLOATS; d++) {
    const struct fold_source source = source_of("lone", d, 1, COLS), other = fold_source_of_input(&source, 1);
    uint64_t *x = patterns_of(&source, 0, COLS * COLS), *y = patterns_of(&other, 0, COLS * COLS);
    size_t seen[9] = {0};
    for (size_t i = 0; i < COLS * COLS; i++) {
      const double term = fold_bits_to_double(source.dtype, x[i]), factor = fold_bits_to_double(source.dtype, y[i]);
      cr_expect_eq(term, i % COLS == (i / COLS + 1) % COLS, "%zu", i);
      cr_assert(factor >= 1 && factor <= 8 && factor == floor(factor), "%g", factor);
      seen[(int)factor]++;
    }
    for (int f = 1; f <= 8; f++) cr_expect(seen[f] > COLS * COLS / 12, "%zu of %d", seen[f], f);
    free(x), free(y);
  }
}

/* Rows that are counted have ones; their products with the other input's rows are exact, and the other rows are balanced. */
Test(generators_telling, every_other_row_is_counted_while_the_significand_counts) {
  for (int d = 0; d < FOLD_FLOATS; d++)
    for (int k = 0; k < LENGTHS; k++) {
      const size_t n = lengths[k];
      const struct fold_source source = source_of("counted", d, 7, n), balanced = source_of("balanced", d, 7, n);
      const struct fold_source other = fold_source_of_input(&source, 1), mirror = fold_source_of_input(&balanced, 1);
      const bool counts = n < (size_t)1 << fold_format_of((enum fold_dtype)d).precision;
      uint64_t *x = patterns_of(&source, 0, 4 * n), *want = patterns_of(&balanced, 0, 4 * n);
      uint64_t *y = patterns_of(&other, 0, 4 * n), *second = patterns_of(&mirror, 0, 4 * n);
      for (size_t i = 0; i < 4 * n; i++) {
        const bool even = i / n % 2 == 0;
        cr_expect(even && counts ? fold_bits_to_double(source.dtype, x[i]) == 1 : x[i] == want[i], "%d %zu %zu", d, n,
                  i);
        cr_expect(even ? fold_bits_to_double(source.dtype, y[i]) == 1 : y[i] == second[i], "%d %zu %zu", d, n, i);
      }
      free(x), free(y), free(want), free(second);
    }
}

Test(generators_telling, few_terms_are_not_zero) {
  enum { COLS = 4000 };
  for (int d = 0; d < FOLD_FLOATS; d++) {
    const struct fold_source few = source_of("few", d, 1, COLS), other = fold_source_of_input(&few, 1);
    uint64_t *x = patterns_of(&few, 0, COLS), *y = patterns_of(&other, 0, COLS);
    size_t zeros = 0;
    for (size_t i = 0; i < COLS; i++) {
      const double term = fold_bits_to_double(few.dtype, x[i]), factor = fold_bits_to_double(few.dtype, y[i]);
      cr_expect(term >= 0 && term <= 8 && term == floor(term) && factor >= 1 && factor <= 8, "%g %g", term, factor);
      zeros += term == 0;
    }
    cr_expect(zeros > 0.72 * COLS && zeros < 0.78 * COLS, "%zu", zeros);
    free(x), free(y);
  }
}
