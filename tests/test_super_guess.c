/* test_super_guess.c: how terms are shared between passes and bins (super_add.c), seen by an extractor that notes what it is asked for.
 *
 * The sums are right for any guess (test_super_split.c); here a bad guess shows, which would only cost time.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "integers.h"
#include "oracles/super_extract.h"

enum { MOST_TERMS = 1 << 20, MOST_PASSES = 4096 };

/* What passes were asked for, in turn. */
static struct {
  const unsigned char *in;
  size_t size, n;
  struct {
    size_t first, n; /* terms */
    int top, levels;
    bool took;
  } pass[MOST_PASSES];
} noted;

static bool note(enum fold_dtype dtype, int levels, const unsigned char *in, size_t n, int top,
                 struct fold_extracted *out) {
  cr_assert(noted.n < MOST_PASSES);
  bool took = fold_extractor_here()->sum[dtype][levels - 1](in, n, top, out);
  noted.pass[noted.n].first = (size_t)(in - noted.in) / noted.size;
  noted.pass[noted.n].n = n, noted.pass[noted.n].took = took;
  noted.pass[noted.n].top = top, noted.pass[noted.n].levels = levels;
  noted.n++;
  return took;
}
#define NOTE(dtype, levels)                                                                                     \
  static bool note_##dtype##_##levels(const unsigned char *in, size_t n, int top, struct fold_extracted *out) { \
    return note(FOLD_##dtype, levels, in, n, top, out);                                                         \
  }
NOTE(F16, 1)
NOTE(BF16, 1)
NOTE(F32, 1)
NOTE(F32, 2)
NOTE(F32, 3)
NOTE(F64, 2)
NOTE(F64, 3)
static const struct fold_extractor noting = {.name = "noting",
                                             .sum = {[FOLD_F16] = {note_F16_1},
                                                     [FOLD_BF16] = {note_BF16_1},
                                                     [FOLD_F32] = {note_F32_1, note_F32_2, note_F32_3},
                                                     [FOLD_F64] = {NULL, note_F64_2, note_F64_3}}};

/* False where this machine has no passes. */
static bool add(enum fold_dtype dtype, const void *in, size_t n) {
  static struct fold_super sum;
  if (!fold_extractor_here()) return false;
  noted.in = in, noted.size = fold_dtype_size(dtype), noted.n = 0;
  fold_super_add_by(&noting, dtype, in, n, &sum, NULL);
  return true;
}

/* How many terms no pass took, from the first one on that comes at `at` or later; *first: where it is. */
static size_t gap_from(size_t at, size_t n, size_t *first) {
  size_t end = 0;
  for (size_t i = 0; i < noted.n; i++) {
    if (!noted.pass[i].took) continue;
    if (noted.pass[i].first > end && end >= at) return *first = end, noted.pass[i].first - end;
    end = noted.pass[i].first + noted.pass[i].n;
  }
  *first = end;
  return n - end;
}

static size_t refusals(void) {
  size_t n = 0;
  for (size_t i = 0; i < noted.n; i++) n += !noted.pass[i].took;
  return n;
}

/* Random fractions and signs, exponents within [least, most]; both ends come soon. */
static double number(int least, int most, size_t i, uint64_t *state) {
  uint64_t word = next_word(state);
  int exponent = i % 7 == 0 ? least : i % 7 == 1 ? most : least + (int)(word % (uint64_t)(most - least + 1));
  return ldexp(1 + (double)(word >> 41 | 1) * 0x1p-23, exponent) * (word >> 40 & 1 ? -1 : 1);
}

static void fill(enum fold_dtype dtype, void *in, size_t first, size_t last, int least, int most) {
  uint64_t state = 3 + first;
  for (size_t i = first; i < last; i++)
    fold_bits_store(dtype, in, i, fold_bits_from_double(dtype, number(least, most, i - first, &state)));
}

static unsigned char *buffer(void) {
  unsigned char *data = malloc(MOST_TERMS * sizeof(double));
  cr_assert_not_null(data);
  return data;
}

Test(super_guess, terms_of_like_size_are_split_in_whole_blocks_with_the_fewest_levels) {
  enum { N = 200000 };
  unsigned char *in = buffer();
  static const enum fold_dtype dtypes[] = {FOLD_F16, FOLD_BF16, FOLD_F32, FOLD_F64};
  for (int d = 0; d < 4; d++) {
    const enum fold_dtype dtype = dtypes[d];
    size_t first;
    fill(dtype, in, 0, N, 0, 3);
    if (!add(dtype, in, N)) continue;
    cr_expect_eq(gap_from(0, N, &first), 0, "terms from %zu on are split by none", first);
    cr_expect_eq(refusals(), 0);
    cr_expect_leq(noted.n, N / FOLD_EXTRACT_BLOCK + 5, "%zu passes", noted.n);
    for (size_t i = 0; i < noted.n; i++) cr_expect_eq(noted.pass[i].levels, dtype == FOLD_F64 ? 2 : 1, "pass %zu", i);
  }
  free(in);
}

/* A level has 52 bits, of which f32 takes 24 below its exponent, f64 53; two are left free above the largest. */
Test(super_guess, levels_are_as_few_as_the_exponents_allow) {
  static const struct {
    enum fold_dtype dtype;
    int least, most, levels; /* 0: no pass */
  } rows[] = {
      {FOLD_F32, 0, 26, 1},      {FOLD_F32, 0, 27, 2},      {FOLD_F32, 0, 78, 2},
      {FOLD_F32, 0, 79, 3},      {FOLD_F32, -20, 110, 3},   {FOLD_F32, -20, 111, 0},
      {FOLD_F32, -149, -130, 1}, {FOLD_F32, -149, -100, 1}, {FOLD_F32, -149, -99, 2},
      {FOLD_F32, 101, 127, 1},   {FOLD_F64, 0, 49, 2},      {FOLD_F64, 0, 50, 3},
      {FOLD_F64, 0, 101, 3},     {FOLD_F64, 0, 102, 0},     {FOLD_F64, 1010, 1020, 2},
      {FOLD_F64, 1010, 1021, 0},                            /* a pass has no number above 2^1023 */
      {FOLD_F64, -970, -960, 2}, {FOLD_F64, -971, -960, 0}, /* nor subnormals */
  };
  double in[100];
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    fill(rows[r].dtype, in, 0, 100, rows[r].least, rows[r].most);
    if (rows[r].dtype == FOLD_F64) /* all 53 bits */
      for (size_t i = 0; i < 100; i++) in[i] = nextafter(in[i], 0);
    if (!add(rows[r].dtype, in, 100)) continue;
    const int levels = rows[r].levels;
    cr_expect(noted.n == (levels > 0) && refusals() == 0 && (!levels || noted.pass[0].levels == levels),
              "%s, 2^%d to 2^%d: %zu passes, the first of %d levels", fold_dtype_name(rows[r].dtype), rows[r].least,
              rows[r].most, noted.n, noted.pass[0].levels);
  }
}

Test(super_guess, few_terms_and_terms_that_are_not_finite_are_not_split) {
  static double in[100];
  if (!add(FOLD_F64, in, 3)) return;
  cr_expect_eq(noted.n, 0, "three zeros");
  add(FOLD_F64, in, 100);
  cr_expect(noted.n == 1 && noted.pass[0].took && noted.pass[0].levels == 2, "zeros");
  fold_bits_store(FOLD_F32, in, 50, fold_bits_from_double(FOLD_F32, INFINITY));
  add(FOLD_F32, in, 100);
  cr_expect_eq(noted.n, 0, "one infinity");
}

/* Four times as large as the terms that the guess was made of, and eight times. */
Test(super_guess, later_terms_may_be_larger_by_two_bits) {
  enum { N = 60000 };
  unsigned char *in = buffer();
  for (int bits = 2; bits < 4; bits++) {
    fill(FOLD_F32, in, 0, 30000, 0, 0);
    fill(FOLD_F32, in, 30000, N, bits, bits);
    if (!add(FOLD_F32, in, N)) break;
    size_t first;
    cr_expect((refusals() > 0) == (bits > 2) && gap_from(0, N, &first) == 0, "%d bits: %zu refused", bits, refusals());
  }
  free(in);
}

/* The first terms need two levels, the others one. */
Test(super_guess, fewer_levels_are_tried_again) {
  enum { N = 400000 };
  unsigned char *in = buffer();
  size_t levels[FOLD_EXTRACT_LEVELS + 1] = {0};
  fill(FOLD_F32, in, 0, 100, 0, 40);
  fill(FOLD_F32, in, 100, N, 38, 40);
  if (add(FOLD_F32, in, N)) {
    for (size_t i = 0; i < noted.n; i++) levels[noted.pass[i].levels]++;
    cr_expect(levels[2] > 5 && levels[2] < 30 && levels[3] == 0 && noted.pass[noted.n - 1].levels == 1,
              "%zu passes of two levels of %zu", levels[2], noted.n);
    cr_expect_eq(refusals(), 0);
  }
  free(in);
}

/* Whichever exponent: more than passes take. */
static void fill_wild(void *in, size_t first, size_t last) { fill(FOLD_F32, in, first, last, -120, 120); }

/* The bins take four times as many the next time, up to what they hold, and as many as at first after a whole block was split. */
Test(super_guess, bins_take_over_for_longer_each_time) {
  unsigned char *in = buffer();
  fill(FOLD_F32, in, 0, MOST_TERMS, 0, 3);
  fill_wild(in, 0, 1);
  fill_wild(in, 1, 100);
  size_t first, least;
  if (!add(FOLD_F32, in, MOST_TERMS)) {
    free(in);
    return;
  }
  least = gap_from(0, MOST_TERMS, &first);
  cr_expect(first == 0 && least >= 1024 && least <= 16384, "%zu terms from %zu on", least, first);
  /* Where the bins end another wild stretch begins: they go on. */
  size_t want = least;
  for (int k = 0; k < 5; k++) {
    add(FOLD_F32, in, MOST_TERMS);
    cr_expect(gap_from(0, MOST_TERMS, &first) == want && first == 0, "%d times: %zu terms, want %zu", k + 1,
              gap_from(0, MOST_TERMS, &first), want);
    fill_wild(in, want, want + 100);
    want += least << (2 * (k + 1)) < ((size_t)1 << 18) ? least << (2 * (k + 1)) : (size_t)1 << 18;
  }
  fill(FOLD_F32, in, 0, MOST_TERMS, 0, 3);
  for (size_t at = 0; at < 300000; at += 100000) fill_wild(in, at, at + 10);
  add(FOLD_F32, in, MOST_TERMS);
  for (size_t at = 0; at < 300000; at += 90000) {
    size_t gap = gap_from(at, MOST_TERMS, &first);
    cr_expect(at > 200000 ? gap == 0 : gap == least, "%zu terms from %zu on", gap, first);
  }
  free(in);
}

/* Among wild terms one pass is refused, and none tried any more. */
Test(super_guess, where_no_pass_fits_none_is_tried) {
  enum { N = 400000 };
  unsigned char *in = buffer();
  fill(FOLD_F32, in, 0, 20000, 0, 3);
  fill_wild(in, 20000, N);
  size_t first;
  if (add(FOLD_F32, in, N)) cr_expect(refusals() == 1 && gap_from(0, N, &first) > N - 20001, "%zu refused", refusals());
  free(in);
}

/* Time and again terms are eight times as large as those before: any guess is soon refused, and a pass that is refused costs twice.
 * What is smaller than a block does not make up for it, and after bins one refusal is enough. */
Test(super_guess, after_some_refusals_bins_take_over) {
  enum { STEPS = 80, TAME = 400000 };
  static const size_t each[] = {700, 2000};
  unsigned char *in = buffer();
  for (int e = 0; e < 2; e++) {
    const size_t wild = STEPS * each[e], n = wild + TAME;
    for (size_t k = 0; k < STEPS; k++)
      fill(FOLD_F32, in, k * each[e], (k + 1) * each[e], 3 * (int)k - 120, 3 * (int)k - 120);
    fill(FOLD_F32, in, wild, n, 0, 3);
    if (!add(FOLD_F32, in, n)) break;
    size_t first, gap = gap_from(0, n, &first);
    cr_expect(gap > 0 && first > 2 * each[e] && first < 20 * each[e], "%zu terms from %zu on", gap, first);
    cr_expect(gap_from(n - TAME / 2, n, &first) == 0, "split again, but for those from %zu on", first);
    cr_expect(refusals() > 2 && refusals() < 10, "%zu refused", refusals());
  }
  free(in);
}
