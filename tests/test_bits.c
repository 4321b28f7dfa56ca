/* test_bits.c: conversions, neighbours and names (bits.h, fold.h), against MPFR's rounding and against arithmetic on
 * patterns. */
#include <criterion/criterion.h>
#include <math.h>
#include <mpfr.h>

#include "base/bits.h"

#define TELL(wrong, ...)                               \
  do {                                                 \
    if ((wrong)++ < 10) cr_expect(false, __VA_ARGS__); \
  } while (0)

static uint64_t random_bits(uint64_t i) {
  uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/* The nearest pattern by MPFR's own subnormal arithmetic: no code is shared with bits.h but its masks. */
static uint64_t reference(enum fold_dtype dtype, double x) {
  struct fold_format f = fold_format_of(dtype);
  if (isnan(x)) return f.nan;
  mpfr_t value;
  mpfr_init2(value, f.precision);
  /* MPFR's exponents are of 0.1f: one more than of 1.f. */
  mpfr_set_emin(f.emin - f.precision + 2);
  mpfr_set_emax(f.emax + 1);
  int inexact = mpfr_set_d(value, x, MPFR_RNDN);
  inexact = mpfr_check_range(value, inexact, MPFR_RNDN);
  mpfr_subnormalize(value, inexact, MPFR_RNDN);
  double rounded = mpfr_get_d(value, MPFR_RNDN);
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
  mpfr_clear(value);
  uint64_t sign = signbit(x) ? f.sign : 0;
  /* No infinities: what the format would hold there, with all exponents' fractions, is above the largest number. */
  if (isinf(rounded)) return sign | f.beyond;
  if (rounded == 0) return sign;
  int exponent;
  double fraction = frexp(fabs(rounded), &exponent); /* [0.5, 1) */
  if (exponent - 1 < f.emin) return sign | (uint64_t)ldexp(fabs(rounded), f.precision - 1 - f.emin);
  uint64_t kept = (uint64_t)ldexp(fraction, f.precision) & f.fraction;
  const uint64_t pattern = (uint64_t)(exponent - 1 - f.emin + 1) << (f.precision - 1) | kept;
  return sign | (f.infinities || pattern < f.beyond ? pattern : f.beyond);
}

static void expect_rounding(enum fold_dtype dtype, double x, size_t *wrong) {
  uint64_t got = fold_bits_from_double(dtype, x), want = reference(dtype, x);
  bool same = isnan(x) ? fold_bits_class(dtype, got) == FOLD_NAN : got == want;
  if (!same)
    TELL(*wrong, "%a to %s: got 0x%llx, want 0x%llx", x, fold_dtype_name(dtype), (unsigned long long)got,
         (unsigned long long)want);
}

/* Each number of a format of up to 16 bits, the middle between it and the next, and the doubles beside both. */
static void expect_around_each(enum fold_dtype dtype) {
  size_t wrong = 0;
  const uint64_t patterns = (uint64_t)1 << fold_format_of(dtype).bits;
  for (uint64_t bits = 0; bits < patterns; bits++) {
    double x = fold_bits_to_double(dtype, bits), next = fold_bits_to_double(dtype, (bits + 1) & (patterns - 1));
    double middle = isfinite(x) && isfinite(next) ? (x + next) / 2 : x;
    if (isfinite(x) && !isfinite(next)) middle = x + copysign(fold_ulp(dtype, x) / 2, x);
    double at[] = {x, middle, nextafter(middle, INFINITY), nextafter(middle, -INFINITY), nextafter(x, INFINITY)};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) expect_rounding(dtype, at[i], &wrong);
  }
  cr_expect_eq(wrong, 0, "%zu wrong roundings", wrong);
}

Test(bits, f64_to_f16_is_rounded_once_around_every_number) { expect_around_each(FOLD_F16); }
Test(bits, f64_to_bf16_is_rounded_once_around_every_number) { expect_around_each(FOLD_BF16); }
Test(bits, f64_to_e4m3_is_rounded_once_around_every_number) { expect_around_each(FOLD_E4M3); }
Test(bits, f64_to_e5m2_is_rounded_once_around_every_number) { expect_around_each(FOLD_E5M2); }

Test(bits, random_doubles_are_rounded_once_to_every_dtype) {
  size_t wrong = 0;
  for (uint64_t i = 0; i < 60000; i++) {
    uint64_t bits = random_bits(i);
    double any = fold_bits_f64(bits), near_f16 = ldexp(1 + (double)(bits >> 12) * 0x1p-52, (int)(bits % 48) - 30);
    double tiny = ldexp(near_f16, -130), huge = ldexp(near_f16, 112);
    for (int d = 0; d < FOLD_FLOATS; d++) {
      expect_rounding((enum fold_dtype)d, any, &wrong);
      expect_rounding((enum fold_dtype)d, bits & 1 ? near_f16 : -near_f16, &wrong);
      expect_rounding((enum fold_dtype)d, bits & 1 ? tiny : -tiny, &wrong);
      expect_rounding((enum fold_dtype)d, bits & 1 ? huge : -huge, &wrong);
    }
  }
  cr_expect_eq(wrong, 0, "%zu wrong roundings", wrong);
}

Test(bits, f32_to_16_bits_is_rounded_as_its_double_is) {
  size_t wrong = 0;
  for (uint64_t i = 0; i < 300000; i++) {
    float x = fold_bits_f32((uint32_t)random_bits(i));
    if (isnan(x)) continue;
    if (fold_f32_to_f16(x) != reference(FOLD_F16, (double)x) || fold_f32_to_bf16(x) != reference(FOLD_BF16, (double)x))
      TELL(wrong, "%a: f16 0x%x, bf16 0x%x", (double)x, fold_f32_to_f16(x), fold_f32_to_bf16(x));
  }
  cr_expect_eq(wrong, 0);
}

/* A pattern's value from its fields, by ldexp. */
static double value_of(enum fold_dtype dtype, uint64_t bits) {
  struct fold_format f = fold_format_of(dtype);
  uint64_t field = (bits & f.exponent) >> (f.precision - 1), fraction = bits & f.fraction;
  double magnitude = ldexp((double)(field ? fraction + f.fraction + 1 : fraction),
                           (field ? (int)field - 1 : 0) + f.emin - f.precision + 1);
  return bits & f.sign ? -magnitude : magnitude;
}

Test(bits, every_pattern_of_up_to_16_bits_widens_to_its_value_and_comes_back) {
  size_t wrong = 0;
  for (int d = 0; d < FOLD_FLOATS; d++)
    for (uint64_t bits = 0; fold_dtype_size((enum fold_dtype)d) <= 2 && bits >> fold_format_of(d).bits == 0; bits++) {
      enum fold_dtype dtype = (enum fold_dtype)d;
      double x = fold_bits_to_double(dtype, bits);
      enum fold_class class = fold_bits_class(dtype, bits);
      bool right = class == FOLD_NAN        ? isnan(x)
                   : class == FOLD_INFINITE ? isinf(x) && signbit(x) == fold_bits_negative(dtype, bits)
                                            : fold_f64_bits(x) == fold_f64_bits(value_of(dtype, bits));
      bool back = class == FOLD_NAN ? fold_bits_class(dtype, fold_bits_from_double(dtype, x)) == FOLD_NAN
                                    : fold_bits_from_double(dtype, x) == bits;
      if (!right || !back) TELL(wrong, "%s 0x%04llx: %a", fold_dtype_name(dtype), (unsigned long long)bits, x);
    }
  cr_expect_eq(wrong, 0);
}

/* The OCP 8-bit Floating Point Specification 1.0, tables 1 and 2, row by row. */
Test(bits, the_8_bit_formats_are_those_of_the_standard) {
  static const struct {
    enum fold_dtype dtype;
    uint64_t bits;
    double value;
  } rows[] = {
      {FOLD_E4M3, 0x01, 0x1p-9},   {FOLD_E4M3, 0x07, 0x1.cp-7},  {FOLD_E4M3, 0x08, 0x1p-6},
      {FOLD_E4M3, 0x7e, 448},      {FOLD_E4M3, 0x80, -0.0},      {FOLD_E4M3, 0xfe, -448},
      {FOLD_E4M3, 0x7f, NAN},      {FOLD_E4M3, 0xff, NAN},       {FOLD_E4M3, 0x78, 256},
      {FOLD_E4M3, 0x38, 1},        {FOLD_E5M2, 0x01, 0x1p-16},   {FOLD_E5M2, 0x03, 0x1.8p-15},
      {FOLD_E5M2, 0x04, 0x1p-14},  {FOLD_E5M2, 0x7b, 57344},     {FOLD_E5M2, 0xfb, -57344},
      {FOLD_E5M2, 0x7c, INFINITY}, {FOLD_E5M2, 0xfc, -INFINITY}, {FOLD_E5M2, 0x7d, NAN},
      {FOLD_E5M2, 0x7f, NAN},      {FOLD_E5M2, 0x3c, 1},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const double got = fold_bits_to_double(rows[i].dtype, rows[i].bits), want = rows[i].value;
    cr_expect(isnan(want) ? isnan(got) : fold_f64_bits(got) == fold_f64_bits(want), "%s 0x%02llx: %a, want %a",
              fold_dtype_name(rows[i].dtype), (unsigned long long)rows[i].bits, got, want);
  }
  /* Beyond the largest number: ties to even, 448 and 57344 having an even and an odd fraction. */
  static const struct {
    double value;
    uint64_t e4m3, e5m2;
  } above[] = {{464, 0x7e, 0x5f},      {0x1.d000000000001p+8, 0x7f, 0x5f},
               {480, 0x7f, 0x60},      {512, 0x7f, 0x60},
               {61439, 0x7f, 0x7b},    {61440, 0x7f, 0x7c},
               {-464, 0xfe, 0xdf},     {-465, 0xff, 0xdf},
               {INFINITY, 0x7f, 0x7c}, {-INFINITY, 0xff, 0xfc},
               {0x1p-10, 0x00, 0x14},  {0x1.8p-10, 0x01, 0x16},
               {0x1p-17, 0x00, 0x00}};
  for (size_t i = 0; i < sizeof above / sizeof *above; i++) {
    cr_expect_eq(fold_bits_from_double(FOLD_E4M3, above[i].value), above[i].e4m3, "%a to e4m3", above[i].value);
    cr_expect_eq(fold_bits_from_double(FOLD_E5M2, above[i].value), above[i].e5m2, "%a to e5m2", above[i].value);
  }
}

Test(bits, nan_stays_nan_in_every_conversion) {
  static const uint64_t nans[] = {0x7ff0000000000001u, 0x7fffffffffffffffu, 0xfff8000000000000u, 0xfff0000000000001u,
                                  0x7ff0000010000000u};
  for (size_t i = 0; i < sizeof nans / sizeof *nans; i++)
    for (int d = 0; d < FOLD_FLOATS; d++)
      cr_expect_eq(
          fold_bits_class((enum fold_dtype)d, fold_bits_from_double((enum fold_dtype)d, fold_bits_f64(nans[i]))),
          FOLD_NAN, "0x%llx to %s", (unsigned long long)nans[i], fold_dtype_name((enum fold_dtype)d));
}

/* Up and down step over every value once, in order, through one zero. */
Test(bits, up_and_down_walk_through_all_values_in_order) {
  for (int d = 0; d < FOLD_FLOATS; d++) {
    enum fold_dtype dtype = (enum fold_dtype)d;
    struct fold_format f = fold_format_of(dtype);
    uint64_t end = f.infinities ? f.beyond : f.beyond - 1, bits = f.sign | end;
    if (f.bits > 16) continue;
    size_t steps = 0, wrong = 0;
    for (; bits != end && steps < 70000; steps++) {
      uint64_t next = fold_bits_up(dtype, bits);
      if (!(fold_bits_to_double(dtype, next) > fold_bits_to_double(dtype, bits)))
        TELL(wrong, "up 0x%llx", (unsigned long long)bits);
      if (fold_bits_distance(dtype, bits, next) != 1 || fold_bits_distance(dtype, next, bits) != 1)
        TELL(wrong, "distance 0x%llx", (unsigned long long)bits);
      uint64_t back = fold_bits_down(dtype, next);
      if (fold_bits_to_double(dtype, back) != fold_bits_to_double(dtype, bits))
        TELL(wrong, "down 0x%llx", (unsigned long long)next);
      bits = next;
    }
    cr_expect_eq(steps, 2 * end, "%s: %zu steps from end to end", fold_dtype_name(dtype), steps);
    cr_expect_eq(fold_bits_distance(dtype, f.sign | end, end), 2 * end);
  }
}

Test(bits, the_ends_of_the_line_stay) {
  for (int d = 0; d < FOLD_FLOATS; d++) {
    enum fold_dtype dtype = (enum fold_dtype)d;
    struct fold_format f = fold_format_of(dtype);
    uint64_t infinity = f.infinities ? f.beyond : f.beyond - 1, nan = f.nan; /* or the largest number */
    cr_expect_eq(fold_bits_up(dtype, infinity), infinity);
    cr_expect_eq(fold_bits_down(dtype, f.sign | infinity), f.sign | infinity);
    cr_expect_eq(fold_bits_down(dtype, infinity), infinity - 1);
    cr_expect_eq(fold_bits_up(dtype, f.sign | infinity), f.sign | (infinity - 1));
    cr_expect_eq(fold_bits_up(dtype, nan), nan);
    cr_expect_eq(fold_bits_down(dtype, nan), nan);
    cr_expect_eq(fold_bits_up(dtype, f.sign), 1, "up from -0");
    cr_expect_eq(fold_bits_down(dtype, 0), f.sign | 1, "down from +0");
    cr_expect_eq(fold_bits_distance(dtype, 0, f.sign), 0);
    cr_expect_eq(fold_bits_distance(dtype, 1, f.sign | 1), 2);
    cr_expect_eq(fold_bits_distance(dtype, nan, 0), UINT64_MAX);
    cr_expect_eq(fold_bits_distance(dtype, nan, f.sign | nan), 0);
  }
}

Test(bits, same_is_by_bits_but_for_nan) {
  for (int d = 0; d < FOLD_FLOATS; d++) {
    enum fold_dtype dtype = (enum fold_dtype)d;
    struct fold_format f = fold_format_of(dtype);
    cr_expect(fold_bits_same(dtype, f.nan, f.sign | f.exponent | f.fraction), "two NaNs");
    cr_expect_not(fold_bits_same(dtype, f.nan, f.infinities ? f.beyond : f.beyond - 1), "NaN and infinity");
    cr_expect_not(fold_bits_same(dtype, 0, f.sign), "+0 and -0");
    cr_expect_not(fold_bits_same(dtype, 1, 2));
    cr_expect(fold_bits_same(dtype, f.sign, f.sign));
  }
}

Test(bits, ulp_is_the_distance_to_the_next_number_outward) {
  for (int d = 0; d < FOLD_FLOATS; d++) {
    enum fold_dtype dtype = (enum fold_dtype)d;
    struct fold_format f = fold_format_of(dtype);
    size_t wrong = 0;
    for (uint64_t i = 0; i < 20000; i++) {
      uint64_t bits = random_bits(i) & ~f.sign & ((f.sign << 1) - 1);
      if (bits >= f.beyond - 1) continue;
      double x = fold_bits_to_double(dtype, bits), spacing = fold_bits_to_double(dtype, bits + 1) - x;
      if (fold_ulp(dtype, x) != spacing || fold_ulp(dtype, -x) != spacing)
        TELL(wrong, "%s %a: %a, want %a", fold_dtype_name(dtype), x, fold_ulp(dtype, x), spacing);
    }
    double least = ldexp(1, f.emin - f.precision + 1);
    cr_expect_eq(fold_ulp(dtype, 0), least);
    cr_expect_eq(fold_ulp(dtype, INFINITY), ldexp(1, f.emax - f.precision + 1));
    cr_expect_eq(fold_ulp(dtype, fold_bits_to_double(dtype, f.beyond - 1)), ldexp(1, f.emax - f.precision + 1));
  }
}

Test(bits, a_pattern_is_printed_at_its_width_with_its_value) {
  char text[80];
  cr_expect_str_eq(fold_bits_print(FOLD_F32, 0x3f800000, text), "0x3f800000 (0x1p+0, 1)");
  cr_expect_str_eq(fold_bits_print(FOLD_F16, 0x8000, text), "0x8000 (-0x0p+0, -0)");
  cr_expect_str_eq(fold_bits_print(FOLD_BF16, 0x7f80, text), "0x7f80 (inf, inf)");
  cr_expect_str_eq(fold_bits_print(FOLD_F64, 1, text),
                   "0x0000000000000001 (0x0.0000000000001p-1022, 4.9406564584124654e-324)");
}

Test(bits, loads_and_stores_are_of_the_dtypes_width) {
  uint64_t room[4];
  for (int d = 0; d < FOLD_FLOATS; d++) {
    enum fold_dtype dtype = (enum fold_dtype)d;
    memset(room, 0xee, sizeof room);
    fold_bits_store(dtype, room, 1, 0);
    size_t size = fold_dtype_size(dtype), changed = 0;
    for (size_t i = 0; i < sizeof room; i++) changed += ((unsigned char *)room)[i] != 0xee;
    cr_expect_eq(changed, size);
    cr_expect_eq(fold_bits_load(dtype, room, 1), 0);
    cr_expect_neq(fold_bits_load(dtype, room, 0), 0);
    cr_expect_neq(fold_bits_load(dtype, room, 2), 0);
  }
}

Test(bits, names_and_their_parsers_agree) {
  for (int d = 0; d < FOLD_FLOATS; d++) cr_expect_eq(fold_dtype_parse(fold_dtype_name((enum fold_dtype)d)), d);
  for (int o = 0; o < FOLD_OPS; o++) cr_expect_eq(fold_op_parse(fold_op_name((enum fold_op)o)), o);
  for (int e = 0; e < FOLD_ENGINES; e++) cr_expect_eq(fold_engine_parse(fold_engine_name((enum fold_engine)e)), e);
  cr_expect_eq(fold_dtype_parse("f3"), -1);
  cr_expect_eq(fold_dtype_parse(""), -1);
  cr_expect_eq(fold_op_parse("SUM"), -1);
  cr_expect_eq(fold_engine_parse("gpu"), -1);
}

Test(bits, a_status_keeps_its_code_and_gains_its_context) {
  fold_status inner = fold_error(FOLD_BAD_INPUT, "line %d", 7), outer = fold_within(inner, "%s", "a.ini");
  cr_expect_eq(outer.code, FOLD_BAD_INPUT);
  cr_expect_str_eq(outer.text, "a.ini: line 7");
  cr_expect_eq(fold_within(fold_ok(), "context").code, FOLD_OK);
  cr_expect_str_eq(fold_within(fold_ok(), "context").text, "");
  char longest[sizeof inner.text + 100];
  memset(longest, 'x', sizeof longest - 1);
  longest[sizeof longest - 1] = '\0';
  fold_status cut = fold_within(fold_error(FOLD_NO_MEMORY, "%s", longest), "%s", longest);
  cr_expect_eq(strlen(cut.text), sizeof cut.text - 1);
  cr_expect_eq(fold_exit_code(FOLD_OK), 0);
  cr_expect_eq(fold_exit_code(FOLD_BAD_INPUT), 2);
  cr_expect_eq(fold_exit_code(FOLD_NO_MEMORY), 2);
  cr_expect_eq(fold_exit_code(FOLD_UNSUPPORTED), 77);
  cr_expect_eq(fold_exit_code(FOLD_ENVIRONMENT), 99);
}
