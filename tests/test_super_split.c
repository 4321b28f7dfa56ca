/* test_super_split.c: sums by each instruction set against those by bins, and these against GMP integers.
 *
 * Arrays of many kinds, above all those at the edges of what a pass takes: the sizes between two levels, the ends of the
 * exponent range, ties, blocks with one term that does not fit.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#if defined __x86_64__
#include <xmmintrin.h>
#endif

#include "integers.h"
#include "oracles/super_bins.h"
#include "oracles/super_extract.h"

enum { MOST_TERMS = 9001, LENGTHS = 70, ARRAYS = 90, LONG_TERMS = (1 << 18) + 12345 };

/* The list begins with the fastest. */
Test(super_split, sums_are_by_the_first_that_runs_here) {
  size_t i = 0;
  while (fold_extractors[i] && !fold_extractors[i]->runs_here()) i++;
  cr_expect_eq(fold_extractor_here(), fold_extractors[i]);
}

/* A finite number of dtype with that exponent field and a fraction that is often extreme. */
static uint64_t number(struct fold_format f, uint64_t field, uint64_t *state) {
  uint64_t word = next_word(state), fraction = next_word(state), most = f.exponent >> (f.precision - 1);
  switch (word % 8) {
    case 0: fraction = 0; break;
    case 1: fraction = f.fraction; break;
    case 2: fraction = 1; break;
    case 3: fraction <<= word >> 32 & 31; break; /* few bits */
    case 4: fraction = ~(uint64_t)0 << (word >> 32) % (unsigned)f.precision; break;
  }
  field = field >= most ? most - 1 : field;
  return (word >> 8 & 1 ? f.sign : 0) | field << (f.precision - 1) | (fraction & f.fraction);
}

enum kind {
  ANY, /* any pattern, NaN and infinities too */
  FINITE,
  LIKE,     /* fields within some width of each other */
  SMALLEST, /* the same at the lowest fields */
  LARGEST,  /* and at the highest */
  EQUAL,    /* one number, or its negative */
  ZEROS,    /* of both signs */
  NEGATIVE_ZEROS,
  STRANGER,  /* LIKE, but one term is anything */
  STRETCHES, /* LIKE, whose place changes */
  PAIRS,     /* x, -x and something small */
  KINDS
};
static const char *const kind_names[KINDS] = {"any",   "finite",         "like",     "smallest",  "largest", "equal",
                                              "zeros", "negative zeros", "stranger", "stretches", "pairs"};

static void fill(enum kind kind, enum fold_dtype dtype, unsigned char *data, size_t n, uint64_t *state) {
  struct fold_format f = fold_format_of(dtype);
  uint64_t most = f.exponent >> (f.precision - 1), width = next_word(state) % (most < 170 ? most : 170) + 1;
  uint64_t first = next_word(state) % most, one = number(f, first, state);
  if (kind == SMALLEST) first = 0;
  if (kind == LARGEST) first = most - 1 - next_word(state) % 4, width = next_word(state) % 4 + 1;
  for (size_t i = 0; i < n; i++) {
    uint64_t bits, word = next_word(state);
    if (kind == STRETCHES && word % 700 == 0) first = next_word(state) % most;
    switch (kind) {
      case ANY: bits = random_pattern(dtype, false, state); break;
      case FINITE: bits = random_pattern(dtype, true, state); break;
      case EQUAL: bits = word & 1 ? one : one ^ f.sign; break;
      case ZEROS: bits = word & 1 ? 0 : f.sign; break;
      case NEGATIVE_ZEROS: bits = f.sign; break;
      case PAIRS: bits = i % 3 == 2 ? number(f, first / 2, state) : i % 3 ? one : one ^ f.sign; break;
      case LIKE:
      case SMALLEST:
      case LARGEST:
      case STRANGER:
      case STRETCHES:
      case KINDS: bits = number(f, first + (word >> 20) % width, state); break;
    }
    if (word >> 40 == 0) bits = f.sign; /* at times */
    fold_bits_store(dtype, data, i, bits);
  }
  if (kind == STRANGER && n) fold_bits_store(dtype, data, next_word(state) % n, random_pattern(dtype, false, state));
}

static struct fold_super zero(void) {
  struct fold_super state;
  memset(&state, 0, sizeof state);
  return state;
}
static bool same(const struct fold_super *a, const struct fold_super *b) { return memcmp(a, b, sizeof *a) == 0; }

static void check_bins(enum fold_dtype dtype, const void *in, size_t n, const struct fold_super *sum,
                       const struct fold_super *abs, const char *what) {
  mpz_t want, got;
  mpz_inits(want, got, (mpz_ptr)0);
  for (int magnitudes = 0; magnitudes < 2; magnitudes++) {
    mpz_set_ui(want, 0);
    add_integers(want, dtype, in, n, magnitudes);
    integer_of_limbs(got, dtype, magnitudes ? abs : sum);
    cr_expect(mpz_cmp(want, got) == 0, "bins, %s", what);
  }
  mpz_clears(want, got, (mpz_ptr)0);
}

/* How many arrays the checks were made on by an instruction set. */
static size_t check(enum fold_dtype dtype, const void *in, size_t n, bool by_integers, const char *what) {
  struct fold_super want = zero(), want_abs = zero(), alone = zero();
  size_t checks = 0;
  fold_super_add_by(NULL, dtype, in, n, &want, &want_abs);
  fold_super_add_by(NULL, dtype, in, n, &alone, NULL);
  cr_expect(same(&want, &alone), "bins without magnitudes, %s", what);
  if (by_integers) check_bins(dtype, in, n, &want, &want_abs, what);
  for (size_t e = 0; fold_extractors[e]; e++) {
    const struct fold_extractor *extractor = fold_extractors[e];
    struct fold_super sum = zero(), abs = zero();
    if (!extractor->runs_here()) continue;
    fold_super_add_by(extractor, dtype, in, n, &sum, &abs);
    cr_expect(same(&want, &sum), "%s, %s: sum", extractor->name, what);
    cr_expect(same(&want_abs, &abs), "%s, %s: magnitudes", extractor->name, what);
    sum = zero();
    fold_super_add_by(extractor, dtype, in, n, &sum, NULL);
    cr_expect(same(&want, &sum), "%s, %s: sum without magnitudes", extractor->name, what);
    checks++;
  }
  return checks;
}

static void check_arrays(enum fold_dtype dtype) {
  const size_t size = fold_dtype_size(dtype);
  unsigned char *data = malloc((MOST_TERMS + 16) * size);
  cr_assert_not_null(data);
  for (int kind = 0; kind < KINDS; kind++)
    for (size_t i = 0; i < LENGTHS + ARRAYS; i++) {
      uint64_t state = (uint64_t)kind << 32 | (uint64_t)dtype << 24 | i;
      size_t offset = next_word(&state) % 16, n = i < LENGTHS ? i : next_word(&state) % MOST_TERMS;
      char what[120];
      fill(kind, dtype, data + offset * size, n, &state);
      snprintf(what, sizeof what, "%s of %s, n=%zu, array %zu, %zu elements on", kind_names[kind],
               fold_dtype_name(dtype), n, i, offset);
      check(dtype, data + offset * size, n, i % 4 == 0, what);
    }
  free(data);
}

Test(super_split, f16_states_are_the_bins) { check_arrays(FOLD_F16); }
Test(super_split, bf16_states_are_the_bins) { check_arrays(FOLD_BF16); }
Test(super_split, f32_states_are_the_bins) { check_arrays(FOLD_F32); }
Test(super_split, f64_states_are_the_bins) { check_arrays(FOLD_F64); }

/* Bins that fill up, guesses that grow old, and stretches of all lengths that the bins take. */
Test(super_split, long_arrays) {
  unsigned char *data = malloc((size_t)LONG_TERMS * 8);
  cr_assert_not_null(data);
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++)
    for (int kind = 0; kind < KINDS; kind++) {
      uint64_t state = 77 + (uint64_t)kind;
      fill(kind, dtype, data, LONG_TERMS, &state);
      check(dtype, data, LONG_TERMS, kind == ANY, kind_names[kind]);
    }
  free(data);
}

static __attribute__((noinline)) void poison_stack(void) {
  volatile unsigned char memory[sizeof(struct fold_bins) + 4096];
  for (size_t i = 0; i < sizeof memory; i++) memory[i] = 0x5a;
}

Test(super_split, bins_are_empty_at_first_whatever_the_stack_holds) {
  enum { N = 3000 };
  static double in[N];
  uint64_t state = 8;
  fill(FINITE, FOLD_F64, (unsigned char *)in, N, &state);
  struct fold_super sum = zero(), abs = zero();
  poison_stack();
  fold_super_add_by(NULL, FOLD_F64, in, N, &sum, &abs);
  check_bins(FOLD_F64, in, N, &sum, &abs, "on a soiled stack");
}

/* Each exponent alone, in a bin of its own: the first and the last of a limb among them. */
Test(super_split, bins_hold_each_exponent_apart) {
  static struct fold_bins bins;
  for (int dtype = FOLD_F16; dtype <= FOLD_F64; dtype++) {
    const struct fold_format f = fold_format_of(dtype);
    for (uint64_t field = 0; field < f.exponent >> (f.precision - 1); field++)
      for (int sign = 0; sign < 2; sign++) {
        const uint64_t power = field << (f.precision - 1), bits[] = {power | f.fraction, power, power | 1};
        uint64_t in[3];
        struct fold_super sum = zero(), abs = zero();
        for (size_t i = 0; i < 3; i++) fold_bits_store(dtype, in, i, bits[i] | (sign ? f.sign : 0));
        bins.held = 0;
        fold_bins_add(&bins, dtype, in, 3, &sum, &abs);
        fold_bins_empty(&bins, dtype, &sum, &abs);
        check_bins(dtype, in, 3, &sum, &abs, fold_dtype_name(dtype));
      }
  }
}

/* A second set of bins is used where more than 32 of the first 64 terms have sign and exponent of the one before, and then for all
 * that follow until the bins are emptied. */
Test(super_split, alike_doubles_take_a_second_set_of_bins) {
  static const struct { int alike, sets; } rows[] = {{0, 1}, {32, 1}, {33, 2}, {63, 2}, {5, 1}};
  static struct fold_bins bins;
  double in[100];
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    struct fold_super sum = zero();
    for (int i = 0; i < 100; i++) in[i] = i <= rows[r].alike ? 1.5 : i % 2 ? 2 : i % 4 ? -1 : 4;
    bins.held = 0;
    fold_bins_add(&bins, FOLD_F64, in, 100, &sum, NULL);
    cr_expect_eq(bins.sets, rows[r].sets, "%d alike: %d sets", rows[r].alike, bins.sets);
    fold_bins_add(&bins, FOLD_F64, in + 66, 30, &sum, NULL);
    cr_expect_eq(bins.sets, rows[r].sets, "%d alike, then none: %d sets", rows[r].alike, bins.sets);
    fold_bins_empty(&bins, FOLD_F64, &sum, NULL);
    fold_super_normalise(FOLD_F64, &sum);
    struct fold_super want = zero();
    fold_super_add_by(NULL, FOLD_F64, in, 100, &want, NULL);
    fold_super_add_by(NULL, FOLD_F64, in + 66, 30, &want, NULL);
    cr_expect(memcmp(sum.limb, want.limb, sizeof sum.limb) == 0, "%d alike: sum", rows[r].alike);
  }
}

/* A state that terms were added to already, negative zeros last. */
Test(super_split, adds_to_what_is_there) {
  unsigned char data[5000 * 8];
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++)
    for (size_t e = 0; fold_extractors[e]; e++) {
      const char *what = fold_extractors[e]->name, *name = fold_dtype_name(dtype);
      struct fold_super want = zero(), got = zero(), want_abs = zero(), got_abs = zero();
      if (!fold_extractors[e]->runs_here()) continue;
      uint64_t state = 5;
      for (enum kind kind = 0; kind <= KINDS; kind++) {
        size_t n = next_word(&state) % 5000;
        fill(kind < KINDS ? kind : NEGATIVE_ZEROS, dtype, data, n, &state);
        fold_super_add_by(NULL, dtype, data, n, &want, &want_abs);
        fold_super_add_by(fold_extractors[e], dtype, data, n, &got, &got_abs);
        cr_expect(same(&want, &got) && same(&want_abs, &got_abs), "%s, %s", what, name);
        cr_expect(got.other_than_negative_zero == 1, "%s, %s: more than negative zeros", what, name);
      }
    }
}

/* More terms than limbs take between two normalisations: those behind them are twos. */
Test(super_split, adds_all_of_many_terms) {
  const size_t first = (size_t)1 << 24, n = first + 12345;
  uint16_t *data = malloc(n * sizeof *data);
  cr_assert_not_null(data);
  for (size_t i = 0; i < n; i++) data[i] = i < first ? 0x3c00 : 0x4000;
  for (size_t e = 0;; e++) {
    struct fold_super sum = zero(), abs = zero();
    if (fold_extractors[e] && !fold_extractors[e]->runs_here()) continue;
    fold_super_add_by(fold_extractors[e], FOLD_F16, data, n, &sum, &abs);
    uint64_t ones = (uint64_t)sum.limb[0] >> 24 | (uint64_t)sum.limb[1] << 8;
    cr_expect(ones == n + 12345 && (size_t)sum.terms == n && sum.limb[2] == 0, "%zu", e);
    cr_expect(memcmp(sum.limb, abs.limb, sizeof sum.limb) == 0, "%zu: magnitudes", e);
    if (!fold_extractors[e]) break;
  }
  free(data);
}

/* The state of what a pass took. */
static struct fold_super state_of(enum fold_dtype dtype, const __int128 *parts, int levels, int top) {
  struct fold_super state = zero();
  mpz_t sum, part;
  mpz_inits(sum, part, (mpz_ptr)0);
  for (int level = 0; level < levels; level++) {
    unsigned __int128 magnitude = parts[level] < 0 ? -(unsigned __int128)parts[level] : (unsigned __int128)parts[level];
    mpz_import(part, 1, -1, sizeof magnitude, 0, 0, &magnitude);
    mpz_mul_2exp(part, part, (mp_bitcnt_t)(top - FOLD_EXTRACT_BITS * (level + 1) - fold_super_base(dtype)));
    (parts[level] < 0 ? mpz_sub : mpz_add)(sum, sum, part);
  }
  int last = fold_super_limbs(dtype) - 1;
  for (int k = 0; k <= last; k++) {
    mpz_fdiv_r_2exp(part, sum, k < last ? 32 : 62);
    state.limb[k] = (int64_t)mpz_get_ui(part);
    if (k == last && mpz_sgn(sum) < 0) state.limb[k] -= (int64_t)1 << 62;
    mpz_fdiv_q_2exp(sum, sum, 32);
  }
  mpz_clears(sum, part, (mpz_ptr)0);
  return state;
}

/* Finite terms between 2^unit and 2^(top - 1), their multiples of 2^unit, from the ends of that range above all. */
static void fill_window(enum fold_dtype dtype, unsigned char *data, size_t n, int unit, int top, uint64_t *state) {
  struct fold_format f = fold_format_of(dtype);
  const double lowest = ldexp(1, unit), end = ldexp(1, top - 1);
  for (size_t i = 0; i < n; i++) {
    uint64_t word = next_word(state), some = next_word(state) >> 14 >> word % 50;
    uint64_t bits = fold_bits_from_double(dtype, lowest * (double)some);
    if (i % 3 == 0) bits = (top - 1 > f.emax ? f.exponent : fold_bits_from_double(dtype, end)) - 3 - word % 3;
    double x = fold_bits_to_double(dtype, bits);
    bool multiple = x / lowest >= 0x1p53 || x / lowest == trunc(x / lowest);
    fold_bits_store(dtype, data, i, !multiple || x >= end ? f.sign : bits | (word >> 32 & 1 ? f.sign : 0));
  }
}

enum stranger { NONE, TOO_LARGE, TOO_FINE, NEARLY_TOO_LARGE, STRANGERS };

/* Puts one among n terms; false where dtype has none. */
static bool put(enum stranger stranger, enum fold_dtype dtype, unsigned char *data, size_t n, int unit, int top,
                uint64_t *state) {
  double x = ldexp(1, stranger == TOO_FINE ? unit - 1 : top - 1);
  uint64_t bits = fold_bits_from_double(dtype, x), word = next_word(state);
  if (x == 0 || fold_bits_to_double(dtype, bits) != x) return false;
  if (stranger == NEARLY_TOO_LARGE) bits = (bits - 1 - word % 2) | (word & 2 ? fold_format_of(dtype).sign : 0);
  fold_bits_store(dtype, data, word % n, bits);
  return true;
}

/* A pass takes what its header says that it takes, and then it is exact. */
static void check_window(const struct fold_extractor *extractor, enum fold_dtype dtype, int levels, int top) {
  enum { N = 700 };
  unsigned char data[N * 8];
  const int unit = top - FOLD_EXTRACT_BITS * levels;
  const size_t limbs = (size_t)fold_super_limbs(dtype) * sizeof(int64_t);
  uint64_t state = (uint64_t)top;
  char what[100];
  for (int stranger = 0; stranger < STRANGERS; stranger++) {
    fill_window(dtype, data, N, unit, top, &state);
    if (stranger && !put(stranger, dtype, data, N, unit, top, &state)) continue;
    struct fold_extracted alone, parts;
    bool took = extractor->both[dtype][levels - 1](data, N, top, &parts);
    bool took_alone = extractor->sum[dtype][levels - 1](data, N, top, &alone);
    snprintf(what, sizeof what, "%s, %s, %d levels below 2^%d, stranger %d", extractor->name, fold_dtype_name(dtype),
             levels, top - 1, stranger);
    if (stranger != NEARLY_TOO_LARGE)
      cr_expect(took == !stranger && took_alone == !stranger, "%s: taken %d %d", what, took, took_alone);
    struct fold_super sum = zero(), abs = zero(), got;
    fold_super_add_by(NULL, dtype, data, N, &sum, &abs);
    if (took) {
      got = state_of(dtype, parts.sum, levels, top);
      cr_expect(memcmp(sum.limb, got.limb, limbs) == 0, "%s: sum", what);
      got = state_of(dtype, parts.abs, levels, top);
      cr_expect(memcmp(abs.limb, got.limb, limbs) == 0, "%s: magnitudes", what);
    }
    got = took_alone ? state_of(dtype, alone.sum, levels, top) : sum;
    cr_expect(memcmp(sum.limb, got.limb, limbs) == 0, "%s: sum alone", what);
  }
}

Test(super_split, a_pass_takes_what_it_can_split_and_no_more) {
  for (size_t e = 0; fold_extractors[e]; e++)
    for (int dtype = 0; dtype < FOLD_FLOATS && fold_extractors[e]->runs_here(); dtype++)
      for (int levels = 1; levels <= FOLD_EXTRACT_LEVELS; levels++)
        for (int top = fold_super_base(dtype) + FOLD_EXTRACT_BITS * levels; top <= 1023; top++)
          if (fold_extractors[e]->both[dtype][levels - 1]) check_window(fold_extractors[e], dtype, levels, top);
}

#if defined __x86_64__
/* Splitting would not be exact, or would raise a signal. */
Test(super_split, bins_alone_where_arithmetic_is_not_the_usual) {
  static const unsigned others[] = {0x2000, 0x4000, 0x6000, 0x8000,
                                    0x40}; /* rounding, flush to zero, denormals are zero */
  unsigned usual = _mm_getcsr();
  double data[1000], *x = data;
  uint64_t state = 3;
  struct fold_super want = zero(), got;
  for (size_t i = 0; i < 1000; i++) x[i] = fold_bits_f64(number(fold_format_of(FOLD_F64), i % 9, &state));
  fold_super_add_by(NULL, FOLD_F64, x, 1000, &want, NULL);
  for (size_t i = 0; i < 5 + 6; i++) {
    got = zero();
    _mm_setcsr(i < 5 ? usual | others[i] : usual & ~(0x80u << (i - 5)));
    const struct fold_extractor *extractor = fold_extractor_here();
    if (!extractor) fold_super_add(FOLD_F64, x, 1000, &got, NULL);
    _mm_setcsr(usual);
    cr_expect(extractor == NULL, "environment %zu: %s", i, extractor ? extractor->name : "");
    cr_expect(same(&want, &got), "environment %zu: sum", i);
  }
  bool any = false;
  for (size_t e = 0; fold_extractors[e]; e++) any = any || fold_extractors[e]->runs_here();
  cr_expect((fold_extractor_here() != NULL) == any, "the usual environment");
}
#endif
