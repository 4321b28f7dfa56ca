/* test_oracle_mutants.c: the checks that judge the exact oracle and the generators let the real ones pass, and no
 * broken one. */
#include <criterion/criterion.h>
#include <math.h>

#include "base/bits.h"
#include "golden_generators.h"
#include "mutant_oracles.h"

enum { MOST = 400 };

/* What a candidate got wrong over the battery, by field. */
struct score {
  size_t cases, rounded, exact, abs_sum;
};

static bool same_number(mpfr_srcptr a, mpfr_srcptr b) {
  if (mpfr_nan_p(a) || mpfr_nan_p(b)) return mpfr_nan_p(a) && mpfr_nan_p(b);
  return mpfr_equal_p(a, b) && mpfr_signbit(a) == mpfr_signbit(b);
}

static void check_one(mutant_oracle *candidate, enum fold_dtype dtype, const void *in, size_t n, struct score *score) {
  struct fold_truth got, want;
  fold_truth_init(&got);
  fold_truth_init(&want);
  fold_status a = candidate(dtype, in, n, &got), b = fold_oracle_mpfr(dtype, FOLD_SUM, in, n, &want);
  cr_assert(a.code == FOLD_OK && b.code == FOLD_OK, "%s%s", a.text, b.text);
  bool rounded = true;
  for (int d = 0; d < FOLD_FLOATS; d++)
    rounded = rounded && fold_bits_same((enum fold_dtype)d, got.rounded[d], want.rounded[d]);
  score->cases++;
  score->rounded += !rounded;
  score->exact += !same_number(got.exact, want.exact);
  score->abs_sum += !same_number(got.abs_sum, want.abs_sum);
  fold_truth_free(&got);
  fold_truth_free(&want);
}

static void check_doubles(mutant_oracle *candidate, const double *x, size_t n, struct score *score) {
  for (int d = 0; d < FOLD_FLOATS; d++) {
    uint64_t in[8];
    for (size_t i = 0; i < n; i++)
      fold_bits_store((enum fold_dtype)d, in, i, fold_bits_from_double((enum fold_dtype)d, x[i]));
    check_one(candidate, (enum fold_dtype)d, in, n, score);
  }
}

/* Special values, ties and the ends of the range; in a narrow dtype they become others, which is as good. */
static void check_specials(mutant_oracle *candidate, struct score *score) {
  static const double specials[][4] = {
      {0, 0, 0, 0},
      {-0.0, -0.0, -0.0, -0.0},
      {-0.0, 0.0, -0.0, -0.0},
      {1, -1, -0.0, -0.0},
      {NAN, 1, INFINITY, -INFINITY},
      {1, NAN, 2, 3},
      {INFINITY, -INFINITY, 1, 2},
      {INFINITY, 1, -1, 0x1p1000},
      {-INFINITY, 1, 2, 3},
      {0x1p-130, 0x1p-150, 0x1p-160, 0},
      {0x1p-20, 0x1p-25, 0x1p-60, 0},
      {0x1p24, 1, 0x1p-149, 0},
      {0x1p24, 1, 0, 0},
      {0x1.000002p24, 1, 0, 0},
      {1, 0x1p-24, 0x1p-100, -0x1p-101},
      {1, 0x1p-11, 0, 0},
      {1, 0x1p-8, 0x1p-70, 0},
      {0x1.fffffep127, 0x1p103, 0, 0},
      {65504, 16, 0, 0},
      {-65504, -65504, 1, 0},
      {0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023, 0, 0},
      {0x1.fffffffffffffp1023, -0x1.fffffffffffffp1023, 0x1p-1074, 0},
      {0x1p-1074, -0x1p-1073, 0x1p-1060, 0},
      {1e8, 1, -1e8, 1e-8},
  };
  for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
    for (size_t n = i ? 1 : 0; n <= 4; n++) check_doubles(candidate, specials[i], n, score);
}

static uint64_t random_bits(uint64_t i) {
  uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  return x ^ x >> 27;
}

/* Any patterns that are finite. */
static void check_random(mutant_oracle *candidate, struct score *score) {
  uint64_t in[MOST];
  for (uint64_t k = 0; k < 60; k++)
    for (int d = 0; d < FOLD_FLOATS; d++) {
      struct fold_format f = fold_format_of((enum fold_dtype)d);
      size_t n = 1 + random_bits(k) % 64;
      for (size_t i = 0; i < n; i++) {
        uint64_t bits = random_bits(k * 1000 + i) >> (64 - f.bits);
        if (fold_bits_class((enum fold_dtype)d, bits) >= FOLD_INFINITE) bits &= f.sign | f.fraction;
        fold_bits_store((enum fold_dtype)d, in, i, bits);
      }
      check_one(candidate, (enum fold_dtype)d, in, n, score);
    }
}

static void check_generated(mutant_oracle *candidate, struct score *score) {
  size_t n_generators;
  const struct fold_generator *generators = fold_generators(&n_generators);
  uint64_t in[MOST];
  for (size_t g = 0; g < n_generators; g++)
    for (int d = 0; d < FOLD_FLOATS; d++)
      for (size_t n = 7; n <= 300; n += 293) {
        double condition = !generators[g].takes_condition ? 0 : d == FOLD_F64 ? 1e8 : 100;
        struct fold_source source = {&generators[g], (enum fold_dtype)d, 1, n, condition};
        if (!(generators[g].dtypes >> d & 1) || fold_source_check(&source).code != FOLD_OK) continue;
        fold_generate(&source, 0, n, in);
        check_one(candidate, (enum fold_dtype)d, in, n, score);
      }
}

static struct score check_oracle(mutant_oracle *candidate) {
  struct score score = {0};
  check_specials(candidate, &score);
  check_random(candidate, &score);
  check_generated(candidate, &score);
  return score;
}

static fold_status real(enum fold_dtype dtype, const void *in, size_t n, struct fold_truth *truth) {
  return fold_oracle_exact(dtype, FOLD_SUM, in, n, 1, truth);
}

Test(oracle_mutants, the_real_oracle_passes) {
  struct score score = check_oracle(real);
  cr_expect(score.cases >= 700, "only %zu cases", score.cases);
  cr_expect_eq(score.rounded + score.exact + score.abs_sum, 0,
               "of %zu cases wrong: rounded %zu, exact %zu, abs_sum %zu", score.cases, score.rounded, score.exact,
               score.abs_sum);
}

/* Each is also right somewhere: what fails everywhere would prove nothing of the battery. */
Test(oracle_mutants, every_broken_oracle_fails) {
  size_t n;
  const struct fold_mutant_oracle *mutants = fold_mutant_oracles(&n);
  cr_expect_geq(n, 12);
  for (size_t i = 0; i < n; i++) {
    struct score s = check_oracle(mutants[i].run);
    cr_expect(s.rounded + s.exact + s.abs_sum > 0, "%s passes all %zu cases", mutants[i].name, s.cases);
    cr_expect(s.rounded < s.cases && s.exact < s.cases, "%s is wrong in every case", mutants[i].name);
    bool by_magnitude = strcmp(mutants[i].name, "magnitudes_signed") == 0;
    cr_expect(by_magnitude ? s.abs_sum > 0 : s.rounded > 0, "%s: its own field is never wrong", mutants[i].name);
  }
}

/* A generator's promises, for one source: whole and part, any length, another seed, and the bits that are pinned. */
static size_t check_generator(mutant_generator *candidate, const char *name, enum fold_dtype dtype) {
  struct fold_source source = {fold_generator_find(name), dtype, GOLDEN_SEED, GOLDEN_COLS, 0}, other = source;
  uint64_t whole[256], part[256];
  size_t wrong = 0, size = fold_dtype_size(dtype);
  other.seed++;
  candidate(&source, 0, 256, whole);
  for (size_t first = 0; first < 40; first++)
    for (size_t n = 1; n < 12; n++) {
      candidate(&source, first, n, part);
      wrong += memcmp(part, (char *)whole + first * size, n * size) != 0;
    }
  candidate(&other, 0, 256, part);
  wrong += memcmp(part, whole, 256 * size) == 0;
  for (size_t i = 0; i < sizeof golden / sizeof *golden; i++)
    wrong +=
        strcmp(golden[i].name, name) == 0 && golden_hash(candidate, source.generator, dtype) != golden[i].hash[dtype];
  return wrong;
}

Test(generator_mutants, the_real_generator_passes_and_every_broken_one_fails) {
  static const char *const names[] = {"normal", "uniform", "mixed"};
  size_t n;
  const struct fold_mutant_generator *mutants = fold_mutant_generators(&n);
  for (size_t k = 0; k < 3; k++)
    for (int d = FOLD_F32; d <= FOLD_F64; d++) {
      cr_expect_eq(check_generator(fold_generate, names[k], (enum fold_dtype)d), 0, "%s", names[k]);
      for (size_t i = 0; i < n; i++)
        cr_expect_gt(check_generator(mutants[i].run, names[k], (enum fold_dtype)d), 0, "%s of %s passes",
                     mutants[i].name, names[k]);
    }
}
