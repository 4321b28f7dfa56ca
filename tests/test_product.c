/* test_product.c: the product against GMP integers of full length; decimals read back. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "cleanup.h"
#include "integers.h"
#include "oracles/exact.h"
#include "oracles/truth.h"

#define MOST_TERMS 5000

/* The exact product of finite terms is product * 2^(what is returned). */
static long multiply_integers(mpz_t product, enum fold_dtype dtype, const void *in, size_t n) {
  mpz_t term;
  mpz_init(term);
  mpz_set_ui(product, 1);
  long exponent = 0;
  for (size_t i = 0; i < n; i++) {
    integer_of(term, dtype, fold_bits_load(dtype, in, i));
    mp_bitcnt_t zeros = mpz_sgn(term) ? mpz_scan1(term, 0) : 0;
    mpz_tdiv_q_2exp(term, term, zeros);
    mpz_mul(product, product, term);
    exponent += (long)zeros + unit_exponent(dtype);
  }
  mpz_clear(term);
  return exponent;
}

/* exact <= |product| <= exact_up, and equal where nothing is enclosed. */
static bool holds(const struct fold_truth *truth, const mpz_t product, long exponent) {
  mpfr_t value;
  mpfr_init2(value, (mpfr_prec_t)mpz_sizeinbase(product, 2) + 1);
  mpfr_set_z_2exp(value, product, exponent, MPFR_RNDN);
  bool within = mpfr_cmpabs(truth->exact, value) <= 0 && mpfr_cmpabs(value, truth->exact_up) <= 0;
  bool equal = mpfr_equal_p(truth->exact, value) && mpfr_equal_p(truth->exact_up, value);
  mpfr_clear(value);
  return truth->enclosed ? within && !equal : equal;
}

static void check_product(enum fold_dtype dtype, const void *in, size_t n, bool enclosed, const char *what) {
  struct fold_truth fast, slow;
  fold_truth_init(&fast);
  fold_truth_init(&slow);
  mpz_t product;
  mpz_init(product);
  long exponent = multiply_integers(product, dtype, in, n);
  cr_expect(fold_oracle_exact(dtype, FOLD_PROD, in, n, 1, &fast).code == FOLD_OK);
  cr_expect(fold_oracle_mpfr(dtype, FOLD_PROD, in, n, &slow).code == FOLD_OK);
  const char *name = fold_dtype_name(dtype);
  cr_expect(holds(&fast, product, exponent), "%s %s n=%zu: exact", what, name, n);
  cr_expect(holds(&slow, product, exponent), "%s %s n=%zu: exact by MPFR", what, name, n);
  cr_expect(fast.enclosed == enclosed && slow.enclosed == enclosed, "%s %s n=%zu: enclosed", what, name, n);
  for (int to = 0; to < FOLD_FLOATS && mpz_sgn(product); to++) {
    uint64_t want = round_integer(to, product, exponent);
    cr_expect(fast.rounded[to] == want && slow.rounded[to] == want, "%s %s n=%zu to %s: got %llx, MPFR %llx, want %llx",
              what, name, n, fold_dtype_name(to), (unsigned long long)fast.rounded[to],
              (unsigned long long)slow.rounded[to], (unsigned long long)want);
  }
  mpz_clear(product);
  fold_truth_free(&fast);
  fold_truth_free(&slow);
}

/* A term of either sign in [1/2, 2), so that products stay where rounding is interesting. */
static uint64_t near_one(enum fold_dtype dtype, uint64_t *state) {
  struct fold_format f = fold_format_of(dtype);
  uint64_t word = next_word(state), half = fold_bits_from_double(dtype, 0.5);
  return (half + (word % (2 * (f.fraction + 1)))) | (word >> 63 ? f.sign : 0);
}

Test(product, equals_integers) {
  static uint64_t data[80];
  uint64_t state = 12;
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++)
    for (int trial = 0; trial < 600; trial++) {
      size_t n = (size_t)trial % 71;
      for (size_t i = 0; i < n; i++)
        fold_bits_store(dtype, data, i, trial & 1 ? near_one(dtype, &state) : random_pattern(dtype, true, &state));
      check_product(dtype, data, n, false, trial & 1 ? "near one" : "finite patterns");
    }
  mpfr_free_cache();
}

/* Longer than what is held, yet its rounding must be that of all its bits. */
Test(product, encloses_what_it_cannot_hold) {
  static uint64_t data[MOST_TERMS];
  uint64_t state = 13;
  for (int dtype = FOLD_F32; dtype <= FOLD_F64; dtype++)
    for (int trial = 0; trial < 4; trial++) {
      for (size_t i = 0; i < MOST_TERMS; i++) fold_bits_store(dtype, data, i, near_one(dtype, &state));
      check_product(dtype, data, MOST_TERMS, true, "long");
      fold_bits_store(dtype, data, 77, 0);
      check_product(dtype, data, MOST_TERMS, false, "long with a zero");
    }
  mpfr_free_cache();
}

/* (1 + 2^-52)^1260 has 1260 * 52 + 1 bits; a factor 1 + 2^-15 makes them FOLD_PRODUCT_BITS, 1 + 2^-16 one more. */
Test(product, holds_just_as_many_bits_as_it_promises) {
  static double data[1261];
  cr_assert_eq(FOLD_PRODUCT_BITS, 1260 * 52 + 1 + 15);
  for (int i = 0; i < 1260; i++) data[i] = 1 + 0x1p-52;
  for (int more = 0; more < 2; more++) {
    data[1260] = more ? 1 + 0x1p-16 : 1 + 0x1p-15;
    check_product(FOLD_F64, data, 1261, more, more ? "a bit too many" : "as many bits as are held");
  }
  mpfr_free_cache();
}

/* Undecided at 128 bits. With e = 2^-52, s = p - q and s^2 = p + q, the product of p factors 1 + e and q factors 1 - e
 * is 1 + s e + 0 e^2 + O(s^3 e^3): the second elementary symmetric function (s^2 - (p + q)) / 2 vanishes. The further
 * factor 3/2 puts 1 + s e, s odd, exactly halfway between two f64, and the product 2^-142 below (s = 37) or above it (s
 * = -37). */
Test(product, decides_what_128_bits_leave_undecided) {
  static double data[1370];
  for (int s = -37; s <= 37; s += 74) {
    int p = (37 * 37 + s) / 2;
    for (int i = 0; i < 1369; i++) data[i] = i < p ? 1 + 0x1p-52 : 1 - 0x1p-52;
    data[1369] = 1.5;
    check_product(FOLD_F64, data, 1370, true, s < 0 ? "just above a tie" : "just below a tie");
  }
  mpfr_free_cache();
}

/* Between two neighbours of a dtype, 2^-200 to either side: the others round both ends alike. */
Test(product, is_decided_when_every_dtype_rounds_both_ends_alike) {
  TRUTH(truth);
  mpfr_set_prec(truth.exact, 300);
  mpfr_set_prec(truth.exact_up, 300);
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++)
    for (int up = 0; up < 2; up++) {
      /* Halfway from 1 to its neighbour above, or a quarter of the way: the wider dtypes have both. */
      mpfr_set_d(truth.exact, 1, MPFR_RNDN);
      mpfr_set_d(truth.exact_up, 0x1p-200, MPFR_RNDN);
      mpfr_t part;
      mpfr_init2(part, 300);
      mpfr_set_ui_2exp(part, 1, -fold_format_of(dtype).precision - up, MPFR_RNDN);
      mpfr_add(part, part, truth.exact, MPFR_RNDN);
      mpfr_sub(truth.exact, part, truth.exact_up, MPFR_RNDN);
      mpfr_add(truth.exact_up, part, truth.exact_up, MPFR_RNDN);
      bool others = false; /* whether a quarter is halfway for a dtype of one bit more */
      for (int to = 0; to < FOLD_FLOATS; to++)
        others |= fold_format_of(to).precision == fold_format_of(dtype).precision + 1;
      cr_expect_eq(fold_product_decided(&truth), up == 1 && !others, "%s, %s", fold_dtype_name(dtype),
                   up ? "a quarter" : "half");
      mpfr_set(truth.exact_up, truth.exact, MPFR_RNDN);
      cr_expect(fold_product_decided(&truth), "%s: both ends are one", fold_dtype_name(dtype));
      mpfr_clear(part);
    }
  mpfr_free_cache();
}

/* 3^k has more bits the longer it gets, 2^k one: k factors of 3 and their inverse scaled by powers of two are held. */
Test(product, holds_long_rows_of_short_factors) {
  static uint64_t data[MOST_TERMS];
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++) {
    for (size_t i = 0; i < MOST_TERMS; i++)
      fold_bits_store(dtype, data, i, fold_bits_from_double(dtype, i & 1 ? -2 : 0.5));
    check_product(dtype, data, MOST_TERMS, false, "powers of two");
    for (size_t i = 0; i < MOST_TERMS; i++)
      fold_bits_store(dtype, data, i, fold_bits_from_double(dtype, i & 1 ? 3 : 0.375));
    check_product(dtype, data, MOST_TERMS, false, "threes");
  }
  mpfr_free_cache();
}

/* Products that lie exactly between two neighbours, of even and odd, normal and subnormal, and at the overflow
 * threshold. */
Test(product, rounds_ties_to_even) {
  static const struct {
    float a, b;
    uint32_t want;
  } ties[] = {
      {0x1.001p0f, 0x1.001p0f, 0x3f801000 | 0x0}, /* 1 + 2^-11 + 2^-24: half, to even */
      {0x1.000002p0f, 0x1.8p0f, 0x3fc00002},      /* 1.5 + 1.5 2^-23: to even, up */
      {0x1p-149f, 0.5f, 0},                       /* half of the smallest subnormal */
      {0x1.8p-148f, 0.5f, 2},                     /* 1.5 subnormals */
      {0x1p-148f, -0.25f, 0x80000000},
      {0x1.fp107f, 1082401, 0x7f800000}, /* 2^103 (2^25 - 1): the overflow threshold */
      {0x1p104f, 16777215, 0x7f7fffff},  /* the largest */
      {0x1.0000010p64f, 0x1p64f, 0x7f800000},
  };
  for (size_t i = 0; i < sizeof ties / sizeof *ties; i++) {
    float terms[] = {ties[i].a, ties[i].b};
    check_product(FOLD_F32, terms, 2, false, "tie");
    TRUTH(truth);
    cr_expect(fold_oracle_exact(FOLD_F32, FOLD_PROD, terms, 2, 1, &truth).code == FOLD_OK);
    cr_expect(truth.rounded[FOLD_F32] == ties[i].want, "tie %zu: got %llx, want %x", i,
              (unsigned long long)truth.rounded[FOLD_F32], ties[i].want);
  }
}

/* The partial products of all subsets are 2^least and more; the largest is no more than what is said, and that by 2^-120 at most. */
Test(product, bounds_the_exponents_of_all_partial_products) {
  uint64_t state = 14, data[10];
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++)
    for (int trial = 0; trial < 30; trial++) {
      for (size_t i = 0; i < 10; i++)
        fold_bits_store(dtype, data, i, trial & 1 ? near_one(dtype, &state) : random_pattern(dtype, true, &state));
      TRUTH(truth);
      cr_expect(fold_oracle_exact(dtype, FOLD_PROD, data, 10, 1, &truth).code == FOLD_OK);
      double low = 0;
      mpfr_t high;
      mpfr_init2(high, 600);
      mpfr_set_ui(high, 1, MPFR_RNDN);
      for (unsigned subset = 0; subset < 1024; subset++) {
        mpfr_t product;
        mpfr_init2(product, 600);
        mpfr_set_ui(product, 1, MPFR_RNDN);
        for (size_t i = 0; i < 10; i++) {
          double term = fold_bits_to_double(dtype, fold_bits_load(dtype, data, i));
          if (subset >> i & 1 && term != 0) mpfr_mul_d(product, product, term, MPFR_RNDN);
        }
        double exponent = (double)mpfr_get_exp(product) - 1; /* floor(log2) */
        low = exponent < low ? exponent : low;
        if (mpfr_cmpabs(product, high) > 0) mpfr_abs(high, product, MPFR_RNDN);
        mpfr_clear(product);
      }
      cr_expect(low == truth.least_exponent && mpfr_greaterequal_p(truth.largest, high), "%s trial %d: 2^%g, want 2^%g",
                fold_dtype_name(dtype), trial, truth.least_exponent, low);
      mpfr_mul_d(high, high, 1 + 0x1p-52, MPFR_RNDU);
      cr_expect(mpfr_lessequal_p(truth.largest, high), "%s trial %d", fold_dtype_name(dtype), trial);
      mpfr_clear(high);
    }
  mpfr_free_cache();
}

/* The text as digits * 10^exponent equals the number as integer * 2^exponent, cross-multiplied in integers. */
static bool reads_back(const char *text, const mpz_t integer, long exponent) {
  char digits[4000];
  size_t used = 0;
  long ten = 0;
  bool fraction = false;
  const char *at = text;
  for (; *at && *at != 'e'; at++) {
    if (*at == '.') {
      fraction = true;
      continue;
    }
    ten -= fraction;
    cr_assert(used + 1 < sizeof digits);
    digits[used++] = *at;
  }
  digits[used] = '\0';
  if (*at == 'e') ten += strtol(at + 1, NULL, 10);
  mpz_t left, right, power;
  mpz_inits(left, right, power, (mpz_ptr)0);
  bool same = mpz_set_str(left, digits, 10) == 0;
  mpz_set(right, integer);
  mpz_ui_pow_ui(power, 10, (unsigned long)labs(ten));
  mpz_mul(ten > 0 ? left : right, ten > 0 ? left : right, power);
  mpz_mul_2exp(exponent < 0 ? left : right, exponent < 0 ? left : right, (mp_bitcnt_t)labs(exponent));
  same = same && mpz_cmp(left, right) == 0;
  mpz_clears(left, right, power, (mpz_ptr)0);
  return same;
}

Test(decimal, reads_back_exactly) {
  uint64_t state = 15;
  mpz_t integer;
  mpfr_t value;
  mpz_init(integer);
  mpfr_init2(value, 53);
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++)
    for (int trial = 0; trial < 500; trial++) {
      uint64_t bits = trial & 1 ? near_one(dtype, &state) : random_pattern(dtype, true, &state);
      integer_of(integer, dtype, bits);
      if (!mpz_sgn(integer)) continue;
      fold_mpfr_set_bits(value, dtype, bits);
      char *text = fold_mpfr_decimal(value);
      cr_assert_not_null(text);
      cr_expect(reads_back(text, integer, unit_exponent(dtype)), "%s %llx: %s", fold_dtype_name(dtype),
                (unsigned long long)bits, text);
      free(text);
    }
  mpz_clear(integer);
  mpfr_clear(value);
}

Test(decimal, writes_as_promised) {
  static const struct {
    double value;
    const char *text;
  } cases[] = {{0.0, "0"},
               {-0.0, "-0"},
               {1, "1"},
               {-1.25, "-1.25"},
               {100, "100"},
               {0.0625, "0.0625"},
               {1e15, "1000000000000000"},
               {-0.5, "-0.5"},
               {0x1p200, "1.606938044258990275541962092341162602522202993782792835301376e+60"},
               {__builtin_inf(), "inf"},
               {-__builtin_inf(), "-inf"},
               {__builtin_nan(""), "nan"}};
  mpfr_t value;
  mpfr_init2(value, 53);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    mpfr_set_d(value, cases[i].value, MPFR_RNDN);
    char *text = fold_mpfr_decimal(value);
    cr_assert_not_null(text);
    cr_expect(strcmp(text, cases[i].text) == 0, "got %s, want %s", text, cases[i].text);
    free(text);
  }
  /* Plain up to 40 digits and 40 places; one digit has no point behind it. */
  static const char *const wide[] = {"1000000000000000000000000000000000000000",
                                     "1e+40",
                                     "-2e+60",
                                     "1.2e+41",
                                     "0.0000000000009094947017729282379150390625",
                                     "4.5474735088646411895751953125e-13",
                                     "-1.13686837721616029739379882812500000000000000000000001e+60",
                                     "1234567890123456789012345678901234567890"};
  mpfr_set_prec(value, 400);
  for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
    mpfr_set_str(value, wide[i], 10, MPFR_RNDN);
    char *text = fold_mpfr_decimal(value);
    cr_assert_not_null(text);
    cr_expect(strcmp(text, wide[i]) == 0, "got %s, want %s", text, wide[i]);
    free(text);
  }
  mpfr_set_ui_2exp(value, 1, 1000000000, MPFR_RNDN);
  cr_expect(fold_mpfr_decimal(value) == NULL, "a hundred million digits are refused");
  mpfr_clear(value);
}
