/* super_bins.c: a block of terms into limbs by bins, at about the speed of a loop of additions.
 *
 * A term's pattern is sign, exponent, fraction. Terms that agree in sign and exponent may have their fractions added as
 * integers, so there is a bin for each value of the leading field `pattern >> fraction_bits`, and a term costs one
 * addition to its bin:
 *
 *     bin += pattern + count_unit            count_unit = 2^42 (f64: 2^41 on the upper half)
 *
 * The field f is the same for all terms of a bin, so that c terms whose fractions sum to F leave
 *
 *     bin = c * (count_unit + f * 2^fraction_bits) + F,       F < c * 2^fraction_bits < count_unit,
 *
 * and one division gives c (hence the hidden bits) and F: no mask and no test for zero, subnormal, infinity or NaN is
 * paid for a term. F stays below count_unit for c <= FOLD_BINS_BLOCK = 2^18: 2^18 * 2^23 = 2^41 for f32; nothing
 * overflows: 2^18 * (2^42 + 2^32) < 2^61. Were terms of the field of all ones seen, the block is read again to
 * tell NaN from infinity. Bins are split by sign, so the sum and the sum of magnitudes come from one pass.
 *
 * Equal exponents in neighbouring terms make a chain through memory; SETS interleaved sets of bins break it: more of
 * them for f64 would leave the first cache (measured: one set is 20% faster on mixed exponents, and 45% slower on equal
 * ones).
 */
#include "super_bins.h"

#include <string.h>

#include "bits.h"

#define LINE 64 /* bytes of a cache line */
#define AHEAD 2048

#define SETS 4
#define COUNT_UNIT ((uint64_t)1 << 42)
#define FIELDS 512 /* f32 and bf16; f16 uses the first 64 */

#define SETS64 2
#define COUNT_UNIT64 ((uint64_t)1 << 41)
#define FIELDS64 4096

/* What a bin held: `count` terms of one sign and exponent, whose fractions sum to `fractions`. */
struct bin {
  uint64_t field, count;
  unsigned __int128 fractions;
};

/* What the bins of a block told beside the limbs. */
struct seen {
  bool special, other_than_negative_zero;
};

static void empty_bin(enum fold_dtype dtype, struct bin bin, struct fold_super *sum, struct fold_super *abs,
                      struct seen *seen) {
  struct fold_format format = fold_format_of(dtype);
  int fraction_bits = format.precision - 1;
  uint64_t top = format.exponent >> fraction_bits, exponent = bin.field & top;
  bool negative = bin.field > top;
  if (!negative || exponent || bin.fractions) seen->other_than_negative_zero = true;
  if (exponent == top) {
    seen->special = true;
    return;
  }
  unsigned __int128 magnitude = bin.fractions;
  if (exponent) magnitude += (unsigned __int128)bin.count << fraction_bits;
  unsigned shift = exponent ? (unsigned)exponent - 1 : 0;
  fold_limbs_add(sum->limb, shift, magnitude, negative);
  if (abs) fold_limbs_add(abs->limb, shift, magnitude, false);
}

static inline __attribute__((always_inline)) uint64_t load(const unsigned char *at, size_t size) {
  uint32_t word = 0;
  memcpy(&word, at, size);
  return word;
}

/* Asks for the line that will be needed soon: the hardware's own prefetching stops at each page. */
static inline __attribute__((always_inline)) void ask_ahead(const unsigned char *at) {
  __builtin_prefetch((const void *)((uintptr_t)at + AHEAD));
}

static inline __attribute__((always_inline)) void fill(uint64_t (*bins)[FIELDS], const unsigned char *in, size_t n,
                                                       size_t size, int fraction_bits) {
  const unsigned char *end = in + n * size, *lines_end = in + n * size / LINE * LINE;
  while (in < lines_end) {
    ask_ahead(in);
#pragma GCC unroll 32
    for (size_t i = 0; i < LINE / size; i++, in += size) {
      uint64_t pattern = load(in, size);
      bins[i % SETS][pattern >> fraction_bits] += pattern + COUNT_UNIT;
    }
  }
  for (; in < end; in += size) {
    uint64_t pattern = load(in, size);
    bins[0][pattern >> fraction_bits] += pattern + COUNT_UNIT;
  }
}

/* f16, bf16, f32. */
static void add_narrow(enum fold_dtype dtype, const void *in, size_t n, struct fold_super *sum, struct fold_super *abs,
                       struct seen *seen) {
  uint64_t bins[SETS][FIELDS];
  memset(bins, 0, sizeof bins);
  int fraction_bits = fold_format_of(dtype).precision - 1;
  switch (dtype) {
    case FOLD_F16: fill(bins, in, n, 2, 10); break;
    case FOLD_BF16: fill(bins, in, n, 2, 7); break;
    default: fill(bins, in, n, 4, 23); break;
  }
  for (uint64_t field = 0; field < FIELDS; field++) {
    uint64_t word = 0, unit = COUNT_UNIT + (field << fraction_bits);
    for (int set = 0; set < SETS; set++) word += bins[set][field];
    if (word) empty_bin(dtype, (struct bin){field, word / unit, word % unit}, sum, abs, seen);
  }
}

/* A bin of f64: the sums of the lower and of the upper 32 bits of the patterns, with the count in the upper sum. Bins
 * are 16 bytes, so the top 16 bits of a pattern without their last four are the byte offset of its bin. */
typedef uint64_t halves __attribute__((vector_size(16)));
typedef uint32_t quarters __attribute__((vector_size(16)));
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && sizeof(halves) == 16, "a bin's halves and offset");

static inline __attribute__((always_inline)) void add_pattern(halves *bins, const unsigned char *at) {
  uint64_t pattern;
  memcpy(&pattern, at, sizeof pattern);
  quarters split = (quarters)(halves){pattern, 0}, unit = {0, (uint32_t)(COUNT_UNIT64 >> 32), 0, 0};
  uint16_t top;
  memcpy(&top, at + 6, sizeof top);
  halves *bin = (halves *)((unsigned char *)bins + (top & 0xfff0));
  *bin += (halves)__builtin_shufflevector(split, unit, 0, 4, 1, 5);
}

static void add_wide(const unsigned char *in, size_t n, struct fold_super *sum, struct fold_super *abs,
                     struct seen *seen) {
  halves bins[SETS64][FIELDS64];
  memset(bins, 0, sizeof bins);
  const unsigned char *end = in + n * 8, *lines_end = in + n * 8 / LINE * LINE;
  while (in < lines_end) {
    ask_ahead(in);
#pragma GCC unroll 8
    for (size_t i = 0; i < LINE / 8; i++, in += 8) add_pattern(bins[i % SETS64], in);
  }
  for (; in < end; in += 8) add_pattern(bins[0], in);
  for (uint64_t field = 0; field < FIELDS64; field++) {
    halves word = bins[0][field];
    for (int set = 1; set < SETS64; set++) word += bins[set][field];
    if (!word[1]) continue;
    uint64_t unit = COUNT_UNIT64 + (field << 20);
    unsigned __int128 fractions = ((unsigned __int128)(word[1] % unit) << 32) + word[0];
    empty_bin(FOLD_F64, (struct bin){field, word[1] / unit, fractions}, sum, abs, seen);
  }
}

void fold_super_count_specials(enum fold_dtype dtype, const void *in, size_t n, struct fold_super *sum,
                               struct fold_super *abs) {
  int64_t nan = 0, positive = 0, negative = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t bits = fold_bits_load(dtype, in, i);
    enum fold_class class = fold_bits_class(dtype, bits);
    nan += class == FOLD_NAN;
    positive += class == FOLD_INFINITE && !fold_bits_negative(dtype, bits);
    negative += class == FOLD_INFINITE && fold_bits_negative(dtype, bits);
  }
  sum->nan += nan;
  sum->positive_infinity += positive;
  sum->negative_infinity += negative;
  if (!abs) return;
  abs->nan += nan;
  abs->positive_infinity += positive + negative;
}

void fold_bins_add(enum fold_dtype dtype, const void *in, size_t n, struct fold_super *sum, struct fold_super *abs) {
  struct seen seen = {false, false};
  if (dtype == FOLD_F64)
    add_wide(in, n, sum, abs, &seen);
  else
    add_narrow(dtype, in, n, sum, abs, &seen);
  sum->other_than_negative_zero += seen.other_than_negative_zero;
  if (seen.special) fold_super_count_specials(dtype, in, n, sum, abs);
}
