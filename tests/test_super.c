/* test_super.c: the superaccumulator's words against GMP integers, and against themselves in other splits. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "integers.h"

#define MOST_TERMS (((size_t)1 << 19) + 5)

/* Around the bounds of the plain path, the bins' lines, blocks and the threads' shares. */
static const size_t long_lengths[] = {511,   512,    513,    1023,   4095,   4096,   4097,   65535,
                                      65537, 131071, 131072, 131073, 262143, 262144, 262145, MOST_TERMS};
#define LONG_LENGTHS (sizeof long_lengths / sizeof *long_lengths)

static unsigned char *buffer(void) {
  unsigned char *data = malloc(MOST_TERMS * 8);
  cr_assert_not_null(data);
  return data;
}

static void fill(enum fold_dtype dtype, void *data, size_t n, bool finite, uint64_t seed) {
  for (size_t i = 0; i < n; i++) fold_bits_store(dtype, data, i, random_pattern(dtype, finite, &seed));
}

static bool same_words(const struct fold_super *a, const struct fold_super *b) { return memcmp(a, b, sizeof *a) == 0; }

static struct fold_super zero(void) {
  struct fold_super state;
  memset(&state, 0, sizeof state);
  return state;
}

/* The counts that a state must hold, by looking at each term. */
static void count_plainly(enum fold_dtype dtype, const void *in, size_t n, struct fold_super *want) {
  for (size_t i = 0; i < n; i++) {
    uint64_t bits = fold_bits_load(dtype, in, i);
    double value = fold_bits_to_double(dtype, bits);
    want->nan += value != value;
    want->positive_infinity += value == __builtin_inf();
    want->negative_infinity += value == -__builtin_inf();
    if (value != 0 || !fold_bits_negative(dtype, bits)) want->other_than_negative_zero = 1;
    want->terms++;
  }
}

static bool canonical(enum fold_dtype dtype, const struct fold_super *state) {
  for (int k = 0; k < fold_super_limbs(dtype) - 1; k++)
    if (state->limb[k] < 0 || state->limb[k] > 0xffffffff) return false;
  return true;
}

static void check_against_integers(enum fold_dtype dtype, const void *in, size_t n, const char *what) {
  struct fold_super sum = zero(), abs = zero(), want = zero();
  fold_super_add(dtype, in, n, &sum, &abs);
  count_plainly(dtype, in, n, &want);
  mpz_t exact, exact_abs, got, got_abs;
  mpz_inits(exact, exact_abs, got, got_abs, (mpz_ptr)0);
  add_integers(exact, dtype, in, n, false);
  add_integers(exact_abs, dtype, in, n, true);
  integer_of_limbs(got, dtype, &sum);
  integer_of_limbs(got_abs, dtype, &abs);
  const char *name = fold_dtype_name(dtype);
  cr_expect(mpz_cmp(exact, got) == 0, "%s %s n=%zu: sum", what, name, n);
  cr_expect(mpz_cmp(exact_abs, got_abs) == 0, "%s %s n=%zu: sum of magnitudes", what, name, n);
  cr_expect(canonical(dtype, &sum) && canonical(dtype, &abs), "%s %s n=%zu: not normalised", what, name, n);
  cr_expect(sum.nan == want.nan && sum.positive_infinity == want.positive_infinity &&
                sum.negative_infinity == want.negative_infinity && sum.terms == want.terms &&
                sum.other_than_negative_zero == want.other_than_negative_zero,
            "%s %s n=%zu: counts", what, name, n);
  cr_expect(abs.nan == want.nan && abs.positive_infinity == want.positive_infinity + want.negative_infinity &&
                abs.negative_infinity == 0 && abs.terms == want.terms && abs.other_than_negative_zero == (n > 0),
            "%s %s n=%zu: counts of magnitudes", what, name, n);
  mpz_clears(exact, exact_abs, got, got_abs, (mpz_ptr)0);
}

Test(super, equals_integers_on_random_patterns) {
  unsigned char *data = buffer();
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++)
    for (int finite = 0; finite < 2; finite++) {
      fill(dtype, data, MOST_TERMS, finite, 1 + (uint64_t)dtype);
      size_t size = fold_dtype_size(dtype);
      for (size_t n = 0; n <= 70; n++) check_against_integers(dtype, data + n * size, n, "random patterns");
      for (size_t i = 0; i < LONG_LENGTHS; i += finite ? 1 : 5)
        check_against_integers(dtype, data, long_lengths[i], "random patterns");
    }
  free(data);
}

/* A bin's fraction sum, its count and a limb at their greatest: one exponent, all fraction bits set, a whole block. */
Test(super, equals_integers_when_one_bin_takes_all) {
  unsigned char *data = buffer();
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++) {
    struct fold_format format = fold_format_of(dtype);
    uint64_t largest = format.exponent - 1, patterns[] = {largest,
                                                          largest | format.sign,
                                                          1,
                                                          format.sign | 1,
                                                          format.fraction,
                                                          format.sign | format.fraction,
                                                          format.sign,
                                                          0,
                                                          format.fraction + 1,
                                                          format.beyond,
                                                          format.sign | format.beyond,
                                                          format.nan};
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
      for (size_t i = 0; i < MOST_TERMS; i++) fold_bits_store(dtype, data, i, patterns[p]);
      check_against_integers(dtype, data, MOST_TERMS, "one pattern");
    }
  }
  free(data);
}

/* -0 among subnormals of its bin, and -0 alone, on both paths. */
Test(super, tells_negative_zeros_from_all_else) {
  unsigned char *data = buffer();
  static const size_t lengths[] = {1, 3, 600, 5000};
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++)
    for (size_t l = 0; l < 4; l++) {
      uint64_t sign = fold_format_of(dtype).sign, others[] = {sign, 0, sign | 1, 1, fold_format_of(dtype).beyond};
      for (size_t o = 0; o < sizeof others / sizeof *others; o++) {
        for (size_t i = 0; i < lengths[l]; i++) fold_bits_store(dtype, data, i, sign);
        fold_bits_store(dtype, data, lengths[l] / 2, others[o]);
        check_against_integers(dtype, data, lengths[l], "negative zeros");
      }
    }
  free(data);
}

/* Short pieces take the term-by-term path, the whole goes through bins. */
Test(super, same_words_for_any_split) {
  unsigned char *data = buffer();
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++) {
    fill(dtype, data, MOST_TERMS, false, 77 + (uint64_t)dtype);
    size_t size = fold_dtype_size(dtype);
    for (size_t l = 0; l < LONG_LENGTHS; l++) {
      size_t n = long_lengths[l];
      struct fold_super whole = zero(), whole_abs = zero(), parts = zero(), parts_abs = zero(), alone = zero();
      fold_super_add(dtype, data, n, &whole, &whole_abs);
      fold_super_add(dtype, data, n, &alone, NULL);
      for (size_t done = 0, piece = 1; done < n; done += piece, piece = piece % 509 + 1) {
        if (piece > n - done) piece = n - done;
        fold_super_add(dtype, data + done * size, piece, &parts, &parts_abs);
      }
      cr_expect(same_words(&whole, &parts), "%s n=%zu: sum in pieces", fold_dtype_name(dtype), n);
      cr_expect(same_words(&whole_abs, &parts_abs), "%s n=%zu: magnitudes in pieces", fold_dtype_name(dtype), n);
      cr_expect(same_words(&whole, &alone), "%s n=%zu: sum without magnitudes", fold_dtype_name(dtype), n);
    }
  }
  free(data);
}

Test(super, same_words_for_any_number_of_threads) {
  unsigned char *data = buffer();
  static const unsigned teams[] = {0, 2, 3, 5};
  static const size_t lengths[] = {0, 1, 65536, 131073, 400001, MOST_TERMS};
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++) {
    fill(dtype, data, MOST_TERMS, dtype % 2, 5 + (uint64_t)dtype);
    for (size_t l = 0; l < 6; l++)
      for (size_t t = 0; t < 4; t++) {
        struct fold_super one = zero(), one_abs = zero(), many = zero(), many_abs = zero();
        fold_super_add_parallel(dtype, data, lengths[l], &one, &one_abs, 1);
        fold_super_add_parallel(dtype, data, lengths[l], &many, &many_abs, teams[t]);
        cr_expect(same_words(&one, &many) && same_words(&one_abs, &many_abs), "%s n=%zu threads=%u",
                  fold_dtype_name(dtype), lengths[l], teams[t]);
      }
  }
  free(data);
}

Test(super, same_words_for_any_permutation) {
  unsigned char *data = buffer();
  size_t n = 20000;
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++) {
    fill(dtype, data, n, false, 9 + (uint64_t)dtype);
    struct fold_super before = zero(), after = zero();
    fold_super_add(dtype, data, n, &before, NULL);
    uint64_t state = 3;
    for (size_t i = n - 1; i > 0; i--) {
      size_t j = next_word(&state) % (i + 1);
      uint64_t a = fold_bits_load(dtype, data, i), b = fold_bits_load(dtype, data, j);
      fold_bits_store(dtype, data, i, b);
      fold_bits_store(dtype, data, j, a);
    }
    fold_super_add(dtype, data, n, &after, NULL);
    cr_expect(same_words(&before, &after), "%s shuffled", fold_dtype_name(dtype));
  }
  free(data);
}

#define PARTS 16
Test(super, same_words_for_any_order_of_merging) {
  unsigned char *data = buffer();
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++) {
    size_t each = 700, size = fold_dtype_size(dtype);
    fill(dtype, data, PARTS * each, false, 21 + (uint64_t)dtype);
    struct fold_super whole = zero(), falling = zero(), tree[PARTS];
    fold_super_add(dtype, data, PARTS * each, &whole, NULL);
    for (size_t p = 0; p < PARTS; p++) {
      tree[p] = zero();
      fold_super_add(dtype, data + p * each * size, each, &tree[p], NULL);
    }
    for (size_t p = PARTS; p-- > 0;) fold_super_merge(dtype, &falling, &tree[p]);
    for (size_t stride = 1; stride < PARTS; stride *= 2)
      for (size_t p = 0; p < PARTS; p += 2 * stride) fold_super_merge(dtype, &tree[p], &tree[p + stride]);
    cr_expect(same_words(&whole, &falling), "%s merged in falling order", fold_dtype_name(dtype));
    cr_expect(same_words(&whole, &tree[0]), "%s merged by a tree", fold_dtype_name(dtype));
  }
  free(data);
}

/* 2^31 equal states added word by word are one state's words times 2^31. */
Test(super, holds_two_to_the_31_states_added_without_carries) {
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++)
    for (int negative = 0; negative < 2; negative++) {
      struct fold_super state = zero();
      int last = fold_super_limbs(dtype) - 1;
      for (int k = 0; k < last; k++) state.limb[k] = (int64_t)0xffffffff << 31;
      state.limb[last] = negative ? -((int64_t)1 << 31) : 0;
      mpz_t want, got;
      mpz_inits(want, got, (mpz_ptr)0);
      integer_of_limbs(want, dtype, &state);
      fold_super_normalise(dtype, &state);
      integer_of_limbs(got, dtype, &state);
      cr_expect(mpz_cmp(want, got) == 0 && canonical(dtype, &state), "%s negative=%d", fold_dtype_name(dtype),
                negative);
      struct fold_super again = state;
      fold_super_normalise(dtype, &again);
      cr_expect(same_words(&state, &again), "%s: normalising twice", fold_dtype_name(dtype));
      mpz_clears(want, got, (mpz_ptr)0);
    }
}

/* Packed words hold all of a state: added word by word and unpacked, they are the merged state. */
Test(super, packed_states_added_word_by_word_are_the_merged_state) {
  unsigned char *data = buffer();
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++) {
    size_t each = 900, size = fold_dtype_size(dtype), n_words = (size_t)fold_super_words(dtype);
    fill(dtype, data, PARTS * each, false, 31 + (uint64_t)dtype);
    struct fold_super whole = zero(), back = zero(), sum = zero();
    fold_super_add(dtype, data, PARTS * each, &whole, NULL);
    int64_t words[FOLD_SUPER_WORDS + 1], all[FOLD_SUPER_WORDS + 1] = {0};
    for (size_t p = 0; p < PARTS; p++) {
      struct fold_super part = zero();
      fold_super_add(dtype, data + p * each * size, each, &part, NULL);
      memset(words, 0x5a, sizeof words);
      fold_super_pack(dtype, &part, words);
      memset(&back, 0x5a, sizeof back);
      fold_super_unpack(dtype, words, &back);
      cr_expect(same_words(&part, &back), "%s part %zu: packed and unpacked", fold_dtype_name(dtype), p);
      cr_expect(words[n_words] == 0x5a5a5a5a5a5a5a5a, "%s: more than %zu words", fold_dtype_name(dtype), n_words);
      for (size_t w = 0; w < n_words; w++) all[w] += words[w];
    }
    fold_super_unpack(dtype, all, &sum);
    fold_super_normalise(dtype, &sum);
    cr_expect(same_words(&whole, &sum), "%s: %d packed states", fold_dtype_name(dtype), PARTS);
  }
  free(data);
}
