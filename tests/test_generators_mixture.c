/* test_generators_mixture.c: the rows of generator `mixture`: their kinds, that they depend on nothing but seed and row, and what their
 * kinds promise.
 */
#include "fixtures/generate.h"
#include "generate_help.h"

enum { ROWS = 512, COLS = 61 };

static double value_of(const struct fold_source *source, uint64_t bits) {
  return fold_bits_to_double(source->dtype, bits);
}

static enum fold_mixture_kind kind_of(const struct fold_source *source, uint64_t row) {
  const struct fold_recipe recipe = fold_recipe_of(source);
  return fold_mixture_row_of(&recipe, row).kind;
}

static bool is_exact(enum fold_mixture_kind kind) { return kind <= FOLD_MIXTURE_CANCELLING; }

static bool is_special(enum fold_dtype dtype, uint64_t bits) {
  return fold_bits_class(dtype, bits) == FOLD_NAN || fold_bits_class(dtype, bits) == FOLD_INFINITE;
}

/* The first seed from `seed` on whose rows share a kind, or each have their own. */
static uint64_t seed_that(bool shares, enum fold_dtype dtype, uint64_t seed) {
  while ((fold_mixture_shared(dtype, seed) > 0) != shares) seed++;
  return seed;
}

Test(generators_mixture, one_seed_in_four_has_one_kind_for_all_rows_and_inputs) {
  unsigned shared = 0;
  for (uint64_t seed = 0; seed < 4000; seed++) {
    const struct fold_source source = source_of("mixture", FOLD_F32, seed * 0x9e3779b97f4a7c15u >> 2, COLS);
    const unsigned all = fold_mixture_shared(FOLD_F32, source.seed);
    shared += all > 0;
    cr_expect_eq(all, fold_mixture_shared(FOLD_F32, fold_source_of_input(&source, 1).seed));
    for (uint64_t row = 1; row < 20 && all; row++) cr_expect_eq(kind_of(&source, row), kind_of(&source, 0));
  }
  cr_expect(fabs(shared - 1000.0) <= 5 * sqrt(750), "%u of 4000", shared);
}

/* Within 5 standard deviations of its weight. */
Test(generators_mixture, each_kind_has_its_share_of_rows) {
  enum { N = 1 << 16 };
  static const unsigned weights[FOLD_MIXTURE_NUMBER][2] = {
#define FOLD_MIXTURE(KIND, floats, integers) {floats, integers},
      FOLD_MIXTURE_KINDS(FOLD_MIXTURE)
#undef FOLD_MIXTURE
  };
  static const enum fold_dtype dtypes[2] = {FOLD_F16, FOLD_I8};
  for (unsigned d = 0; d < 2; d++) {
    const struct fold_source source = source_of("mixture", dtypes[d], seed_that(false, dtypes[d], 1), COLS);
    unsigned n[FOLD_MIXTURE_NUMBER] = {0}, all = 0;
    for (uint64_t row = 0; row < N; row++) n[kind_of(&source, row)]++;
    for (unsigned k = 0; k < FOLD_MIXTURE_NUMBER; k++) {
      const double p = weights[k][d] / 256.0;
      all += weights[k][d];
      cr_expect(fabs(n[k] - p * N) <= 5 * sqrt(N * p), "kind %u: %u rows of %d, not %g", k, n[k], N, p * N);
    }
    cr_expect_eq(all, 256u);
  }
}

static bool same_sum(const struct fold_source *a, const struct fold_source *b, size_t cols, uint64_t row, double *sum) {
  uint64_t *x = patterns_of(a, row * cols, cols), *y = b ? patterns_of(b, 3 * cols, cols) : NULL;
  double forth = 0, back = 0, magnitudes = 0;
  mpfr_t exact, one;
  mpfr_inits2(EXACT_BITS, exact, one, (mpfr_ptr)0);
  mpfr_set_zero(exact, 1);
  for (size_t c = 0; c < cols; c++) {
    const double there = value_of(a, x[c]) * (y ? value_of(b, y[c]) : 1);
    const size_t last = cols - 1 - c;
    forth = accumulate(a->dtype, forth, there);
    back = accumulate(a->dtype, back, value_of(a, x[last]) * (y ? value_of(b, y[last]) : 1));
    magnitudes += fabs(there);
    mpfr_add_d(exact, exact, there, MPFR_RNDN);
  }
  const bool same = mpfr_cmp_d(exact, forth) == 0 && forth == back;
  *sum = magnitudes;
  mpfr_clears(exact, one, (mpfr_ptr)0);
  free(x), free(y);
  return same;
}

/* In both directions, and products with each exact row of the other input. */
Test(generators_mixture, sums_of_exact_kinds_round_nowhere) {
  static const size_t lengths[] = {1, 2, 7, 16, 300, 2048};
  int wrong = 0, tried = 0;
  for (int d = 0; d < FOLD_FLOATS; d++)
    for (int l = 0; l < 6; l++) {
      const struct fold_source source = source_of("mixture", d, seed_that(false, (enum fold_dtype)d, 77), lengths[l]);
      for (uint64_t row = 0; row < 200; row++) {
        struct fold_source other = fold_source_of_input(&source, 1);
        double magnitudes;
        if (!is_exact(kind_of(&source, row))) continue;
        tried++;
        if (!same_sum(&source, NULL, lengths[l], row, &magnitudes))
          TELL(wrong, "%s: row %zu of %zu, kind %d", fold_dtype_name(source.dtype), (size_t)row, lengths[l],
               kind_of(&source, row));
        for (; !is_exact(kind_of(&other, 3)); other.seed += 2) continue;
        other.seed += row % 4 * 2;
        if (is_exact(kind_of(&other, 3)) && !same_sum(&source, &other, lengths[l], row, &magnitudes))
          TELL(wrong, "%s: products of row %zu of %zu, kinds %d and %d", fold_dtype_name(source.dtype), (size_t)row,
               lengths[l], kind_of(&source, row), kind_of(&other, 3));
      }
    }
  cr_expect(tried > 3000, "%d rows", tried);
}

/* And the sums of rows, times the largest factor that there is. */
Test(generators_mixture, all_terms_and_sums_are_finite) {
  static const size_t lengths[] = {1, 5, 64, 1000, 8192};
  int wrong = 0;
  for (int d = 0; d < FOLD_FLOATS; d++)
    for (int l = 0; l < 5; l++) {
      const double most =
          value_of(&(struct fold_source){.dtype = (enum fold_dtype)d}, fold_format_of((enum fold_dtype)d).beyond - 1);
      const struct fold_source source = source_of("mixture", d, seed_that(false, (enum fold_dtype)d, 5), lengths[l]);
      const struct fold_source second = fold_source_of_input(&source, 1);
      for (uint64_t row = 0; row < 300; row++) {
        uint64_t *x = patterns_of(&source, row * lengths[l], lengths[l]),
                 *y = patterns_of(&second, row * lengths[l], lengths[l]);
        const enum fold_mixture_kind kind = kind_of(&source, row);
        double sum = 0;
        for (size_t c = 0; c < lengths[l]; c++) {
          const double here = value_of(&source, x[c]), there = value_of(&second, y[c]);
          if (is_special(source.dtype, x[c]) || !(fabs(there) <= 8))
            TELL(wrong, "%s: row %zu, kind %d: %g and %g", fold_dtype_name(source.dtype), (size_t)row, kind, here,
                 there);
          sum += here;
        }
        if (d != FOLD_E4M3 && !(fabs(sum) * (is_exact(kind) || kind == FOLD_MIXTURE_RESULT_TIES ? 1 : 8) <= most))
          TELL(wrong, "%s: row %zu of %zu, kind %d: %g", fold_dtype_name(source.dtype), (size_t)row, lengths[l], kind,
               sum);
        free(x), free(y);
      }
    }
}

/* Each kind, by what its rows have. */
Test(generators_mixture, the_kinds_are_what_they_are_called) {
  int wrong = 0;
  unsigned seen = 0;
  for (int d = 0; d < FOLD_FLOATS; d++) {
    const enum fold_dtype dtype = (enum fold_dtype)d;
    const struct fold_format f = fold_format_of(dtype);
    const struct fold_source source = source_of("mixture", d, seed_that(false, dtype, 9), COLS);
    for (uint64_t row = 0; row < ROWS; row++) {
      uint64_t *x = patterns_of(&source, row * COLS, COLS);
      unsigned zeros = 0, ones = 0, subnormal = 0, powers = 0, same = 0, rising = 0;
      double most = 0, sum = 0;
      for (size_t c = 0; c < COLS; c++) {
        const double here = value_of(&source, x[c]);
        zeros += here == 0, ones += here == 1, same += x[c] == x[0], sum += here, most = fmax(most, fabs(here));
        subnormal += fold_bits_class(dtype, x[c]) == FOLD_SUBNORMAL;
        powers += here != 0 && (x[c] & f.fraction) == 0;
        rising += c > 0 && here > value_of(&source, x[c - 1]);
      }
      const enum fold_mixture_kind kind = kind_of(&source, row);
      bool right = true;
      seen |= 1u << kind;
      switch ((int)kind) {
        case FOLD_MIXTURE_WHOLE: right = zeros < 20 && most == 8; break;
        case FOLD_MIXTURE_SPARSE_WHOLE: right = zeros > 28 && most > 1; break;
        case FOLD_MIXTURE_HALF_WHOLE: right = zeros > 5 && zeros < 55; break;
        case FOLD_MIXTURE_TWOS: right = powers == COLS; break;
        case FOLD_MIXTURE_SPARSE_TWOS: right = zeros > 28 && powers + zeros == COLS; break;
        case FOLD_MIXTURE_LONE: right = zeros == COLS - 1; break;
        case FOLD_MIXTURE_ONES: right = ones == COLS; break;
        case FOLD_MIXTURE_SAME:
        case FOLD_MIXTURE_SAME_WHOLE: right = same == COLS && most > 0; break;
        case FOLD_MIXTURE_STEPS: right = rising == COLS - 1 || (f.bits == 8 && rising > 15); break;
        case FOLD_MIXTURE_PLACES: right = ones == 1 && powers + zeros == COLS; break;
        case FOLD_MIXTURE_BALANCED: right = sum == 1 && zeros == 0; break;
        case FOLD_MIXTURE_CANCELLING: right = sum == 0 && zeros > 0 && most > 0; break;
        case FOLD_MIXTURE_FEW_ZEROS: right = zeros < 20; break;
        case FOLD_MIXTURE_SUBNORMALS: right = subnormal == COLS; break;
        case FOLD_MIXTURE_LOW: right = most <= fold_power(f.emin + 34 < f.emax ? f.emin + 34 : f.emax); break;
        case FOLD_MIXTURE_HIGH: right = most * 8 * 2 * COLS > fold_power(f.emax - 3); break;
        case FOLD_MIXTURE_ZEROS: right = zeros == COLS; break;
        case FOLD_MIXTURE_HIDDEN_PAIR: right = most >= 8 * fabs(sum - 0) / COLS && zeros == 0; break;
        default: break;
      }
      if (!right)
        TELL(wrong, "%s: row %zu, kind %d: %u zeros, %u ones, most %g, sum %g", fold_dtype_name(dtype), (size_t)row,
             kind, zeros, ones, most, sum);
      free(x);
    }
  }
  cr_expect_eq(seen, (1u << FOLD_MIXTURE_NUMBER) - 1, "%x", seen);
}

/* The large pair, without which the rest is small. */
Test(generators_mixture, a_hidden_pair_absorbs_the_other_terms) {
  for (int d = 0; d < FOLD_E4M3; d++) {
    const enum fold_dtype dtype = (enum fold_dtype)d;
    const struct fold_source source = source_of("mixture", d, seed_that(false, dtype, 9), COLS);
    for (uint64_t row = 0; row < ROWS; row++) {
      if (kind_of(&source, row) != FOLD_MIXTURE_HIDDEN_PAIR) continue;
      uint64_t *x = patterns_of(&source, row * COLS, COLS);
      size_t plus = 0, minus = 0;
      double large = 0, rest = 0;
      for (size_t c = 0; c < COLS; c++) large = fmax(large, value_of(&source, x[c]));
      for (size_t c = 0; c < COLS; c++) {
        const double here = value_of(&source, x[c]);
        plus += here == large, minus += here == -large;
        rest = fmax(rest, fabs(here) == large ? 0 : fabs(here));
      }
      cr_expect(plus == 1 && minus == 1 && large >= 0x1p17 * rest, "%s: row %zu: %zu %zu %g %g", fold_dtype_name(dtype),
                (size_t)row, plus, minus, large, rest);
      free(x);
    }
  }
}

/* One row in eight has one to three, anywhere; the other terms are those of `mixture`. */
Test(generators_mixture, special_values_are_of_all_kinds_and_in_one_row_of_eight) {
  enum { N = 8000, WIDTH = 7 };
  for (int d = 0; d < FOLD_FLOATS; d++) {
    const enum fold_dtype dtype = (enum fold_dtype)d;
    const struct fold_format f = fold_format_of(dtype);
    const struct fold_source plain = source_of("mixture", d, 21, WIDTH),
                             source = source_of("mixture_special", d, 21, WIDTH);
    uint64_t *x = patterns_of(&source, 0, N * WIDTH), *y = patterns_of(&plain, 0, N * WIDTH);
    unsigned rows = 0, quiet = 0, loud = 0, plus = 0, minus = 0, negative = 0, places = 0, other = 0;
    uint64_t payload = 0;
    for (size_t row = 0; row < N; row++) {
      unsigned here = 0;
      for (size_t c = 0; c < WIDTH; c++) {
        const uint64_t bits = x[row * WIDTH + c];
        const bool special = is_special(dtype, bits), is_nan = fold_bits_class(dtype, bits) == FOLD_NAN;
        if (!special) other += bits != y[row * WIDTH + c];
        here += special;
        if (special) places |= 1u << c;
        if (is_nan) payload |= bits & (f.fraction >> 1);
        quiet += is_nan && bits & (f.fraction + 1) / 2, loud += is_nan && !(bits & (f.fraction + 1) / 2);
        negative += is_nan && bits & f.sign;
        plus += special && !is_nan && !(bits & f.sign), minus += special && !is_nan && bits & f.sign;
      }
      rows += here > 0;
      cr_expect(here <= 3);
    }
    cr_expect(fabs(rows - N / 8.0) <= 5 * sqrt(N / 8.0), "%s: %u rows", fold_dtype_name(dtype), rows);
    cr_expect(other == 0 && places == (1u << WIDTH) - 1 && negative > 100 && quiet > 100);
    cr_expect((loud > 100 && plus > 100 && minus > 100) == f.infinities, "%s: %u %u %u", fold_dtype_name(dtype), loud,
              plus, minus);
    cr_expect(payload == (f.fraction >> 1), "%s: %llx", fold_dtype_name(dtype), (unsigned long long)payload);
    free(x), free(y);
  }
}

/* Of a row of factors: its product, which no partial one takes far away, from either end. */
static double product_of(const struct fold_source *source, const uint64_t *x, size_t n, bool back, int *wrong) {
  double product = 1;
  for (size_t c = 0; c < n; c++) {
    product *= value_of(source, x[back ? n - 1 - c : c]);
    if (product != 0 && !(fabs(product) < 0x1p100 && fabs(product) > 0x1p-100))
      TELL(*wrong, "%s: %g after %zu of %zu terms", fold_dtype_name(source->dtype), product, c + 1, n);
  }
  return product;
}

/* Exact where the kind says so; near 1 otherwise, so that a lost term, which is none, shows. */
Test(generators_mixture, products_of_factors_stay_in_the_range) {
  static const size_t lengths[] = {1, 2, 7, 300, 8192};
  int wrong = 0;
  unsigned seen = 0;
  for (int d = 0; d < FOLD_FLOATS; d++)
    for (int l = 0; l < 5; l++) {
      const size_t n = lengths[l];
      const struct fold_source source = source_of("mixture_factors", d, 3, n);
      const struct fold_recipe recipe = fold_recipe_of(&source);
      for (uint64_t row = 0; row < 100; row++) {
        uint64_t *x = patterns_of(&source, row * n, n);
        const struct fold_mixture_row plan = fold_mixture_row_of(&recipe, row);
        const enum fold_factors_kind kind = fold_factors_kind_of(&plan);
        const double product = product_of(&source, x, n, false, &wrong), back = product_of(&source, x, n, true, &wrong);
        size_t others = 0, zeros = 0;
        for (size_t c = 0; c < n; c++) others += value_of(&source, x[c]) != 1, zeros += value_of(&source, x[c]) == 0;
        bool right = product == back;
        if (kind == FOLD_FACTORS_TWOS) right &= product == (n % 2 ? 2 : 1) && others == n;
        if (kind == FOLD_FACTORS_LONE) right &= others == 1 && product >= 1.25 && product <= 8.25;
        if (kind == FOLD_FACTORS_SIGNS) right &= fabs(product) == 1;
        if (kind == FOLD_FACTORS_ZERO) right &= product == 0 && zeros == 1;
        if (kind == FOLD_FACTORS_RECIPROCALS) right = fabs(product) > 0 && zeros == 0;
        if (!right)
          TELL(wrong, "%s: row %zu of %zu, kind %d: %g, %g; %zu, %zu", fold_dtype_name(source.dtype), (size_t)row, n,
               (int)kind, product, back, others, zeros);
        seen |= 1u << kind;
        free(x);
      }
    }
  cr_expect_eq(seen, 1u << FOLD_FACTORS_TWOS | 1u << FOLD_FACTORS_LONE | 1u << FOLD_FACTORS_SIGNS |
                         1u << FOLD_FACTORS_RECIPROCALS | 1u << FOLD_FACTORS_ZERO);
}

/* Even ones would make the product 0 modulo the width. */
Test(generators_mixture, factors_of_integers_are_odd) {
  for (int d = FOLD_I8; d <= FOLD_I64; d++) {
    const struct fold_source source = source_of("mixture_factors", d, 3, 40);
    uint64_t *x = patterns_of(&source, 0, 400), all = 0;
    for (size_t i = 0; i < 400; i++) {
      cr_expect_eq(x[i] & 1, 1u);
      all |= x[i];
    }
    cr_expect_eq(all, fold_format_mask(fold_format_of(source.dtype)));
    free(x);
  }
}
