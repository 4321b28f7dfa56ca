/* test_shuffle.c: the shuffle under mixed data: a permutation for every key, half of it in each half, and as even as chance is.
 *
 * The seeds are fixed, so the results never change. Chance alone would exceed the limits once in some ten thousand
 * times (chi square at 5 standard deviations, frequencies at 5).
 */
#include "fixtures/shuffle.h"
#include "generate_help.h"

static bool in_first_half(struct fold_shuffle s, const uint32_t key[4], uint64_t column) {
  return fold_shuffle_first_half(s, key, fold_shuffle_place(s, key, column));
}

Test(generators_shuffle, each_key_is_a_permutation_with_half_in_each_half) {
  enum { MOST = 70000 };
  static unsigned char seen[MOST];
  size_t lengths[1000], n_lengths = 0;
  int wrong = 0;
  for (size_t n = 1; n <= 700; n++) lengths[n_lengths++] = n;
  for (size_t power = 1024; power <= 65536; power *= 2)
    for (size_t n = power - 1; n <= power + 1; n++) lengths[n_lengths++] = n;
  for (size_t i = 0; i < n_lengths; i++) {
    const size_t n = lengths[i];
    const struct fold_shuffle s = fold_shuffle_of(n);
    cr_assert(s.high << s.low >= n && (s.high << s.low) - n < (uint64_t)1 << s.low, "%zu columns", n);
    for (uint64_t row = 0; row < 12; row++) {
      const philox4x32_ctr_t key = fold_shuffle_key(3, row * n);
      size_t first = 0, twice = 0;
      memset(seen, 0, n);
      for (size_t column = 0; column < n; column++) {
        const uint64_t place = fold_shuffle_place(s, key.v, column);
        cr_assert(place < n, "%zu of %zu goes to %zu", column, n, (size_t)place);
        twice += seen[place]++;
        first += fold_shuffle_first_half(s, key.v, place);
      }
      if (twice) TELL(wrong, "%zu columns, row %zu: %zu places twice", n, (size_t)row, twice);
      if (first != n / 2 && first != n - n / 2) TELL(wrong, "%zu columns: %zu in the first half", n, first);
    }
  }
}

/* Places past 2^32, of which no table can be made: different ones go to different ones, all inside. */
Test(generators_shuffle, long_rows_are_shuffled_too) {
  const uint64_t lengths[] = {((uint64_t)1 << 32) + 1, ((uint64_t)1 << 40) - 7, ((uint64_t)1 << 62) + 12345};
  for (int i = 0; i < 3; i++) {
    const struct fold_shuffle s = fold_shuffle_of(lengths[i]);
    const philox4x32_ctr_t key = fold_shuffle_key(4, 0);
    uint64_t before = 0, all = 0;
    for (uint64_t k = 0; k < 1000; k++) {
      const uint64_t place = fold_shuffle_place(s, key.v, lengths[i] - 1 - k);
      cr_expect(place < lengths[i] && place != before);
      before = place;
      all += fold_shuffle_first_half(s, key.v, place);
    }
    cr_expect(all > 420 && all < 580, "%llu columns: %llu of 1000 in the first half", (unsigned long long)lengths[i],
              (unsigned long long)all);
  }
}

/* Of a short row every choice of columns is as frequent. */
Test(generators_shuffle, every_choice_of_a_short_row_is_as_frequent) {
  enum { TRIALS = 200000 };
  for (unsigned n = 2; n <= 10; n++) {
    const struct fold_shuffle s = fold_shuffle_of(n);
    static unsigned count[1 << 10];
    memset(count, 0, sizeof count);
    for (uint64_t t = 0; t < TRIALS; t++) {
      const philox4x32_ctr_t key = fold_shuffle_key(5, t * n);
      unsigned chosen = 0;
      for (unsigned column = 0; column < n; column++) chosen |= (unsigned)in_first_half(s, key.v, column) << column;
      count[chosen]++;
    }
    double cells = 0, chi = 0;
    for (int round = 0; round < 2; round++) {
      for (unsigned m = 0; m < 1u << n; m++) {
        const unsigned ones = (unsigned)__builtin_popcount(m);
        if (ones != n / 2 && ones != n - n / 2) continue;
        if (round == 0) cells++;
        const double want = TRIALS / cells;
        if (round == 1) chi += (count[m] - want) * (count[m] - want) / want;
      }
    }
    cr_expect(chi <= cells - 1 + 5 * sqrt(2 * (cells - 1)) + 10, "%u columns: chi square %g of %g choices", n, chi,
              cells);
  }
}

/* Neighbours, and what warps, blocks and trees pair: the two fall into different halves as often as in a shuffled deck. */
Test(generators_shuffle, columns_at_any_distance_are_independent) {
  static const unsigned lengths[] = {31, 64, 100, 257, 1000, 1024, 1025, 4096};
  static const unsigned distances[] = {1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 33, 64, 128, 256, 512, 1023, 2048};
  static bool chosen[4096];
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    const unsigned n = lengths[i], rows = 1000000 / n;
    const struct fold_shuffle s = fold_shuffle_of(n);
    double apart[18] = {0}, square[18] = {0};
    for (uint64_t row = 0; row < rows; row++) {
      const philox4x32_ctr_t key = fold_shuffle_key(6, row * n);
      for (unsigned column = 0; column < n; column++) chosen[column] = in_first_half(s, key.v, column);
      for (int d = 0; d < 18 && distances[d] < n; d++) {
        unsigned differ = 0;
        for (unsigned column = distances[d]; column < n; column++)
          differ += chosen[column] != chosen[column - distances[d]];
        apart[d] += differ, square[d] += (double)differ * differ;
      }
    }
    for (int d = 0; d < 18 && distances[d] < n; d++) {
      const double half = n / 2, want = 2 * half * (n - half) / (n * (n - 1.0)) * (n - distances[d]);
      const double mean = apart[d] / rows, variance = square[d] / rows - mean * mean;
      cr_expect(fabs(mean - want) <= 5 * sqrt(variance / rows), "%u columns, %u apart: differ %g times a row, want %g",
                n, distances[d], mean, want);
    }
  }
}
